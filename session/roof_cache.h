/* Roofs kept between sweeps, one file of the user's cache directory per thread count (base/paths/kept.h). All
 * measurements of a day that depend on the same are one set, which a new one joins: a row has the median of
 * its values and what they range over, once for each state of the threads' distance (pdnn_distances_differ).
 * The set is used as it is if the probes of this moment are in a state that it has, and there within what
 * they were. Measures nothing itself. */
#ifndef SESSION_ROOF_CACHE_H
#define SESSION_ROOF_CACHE_H

#include "base/err.h"
#include "base/paths/kept.h"
#include "base/str.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/host/environment_key.h"
#include "runtime/protocol/software.h"

#include <stdbool.h>

struct pdnn_roofs_job {
    const char *directory;               /* of what is kept; "": nothing is */
    struct pdnn_environment_key context; /* its library is not used */
    const struct pdnn_software *software;
    double seconds;    /* that measuring takes; what was measured in less is not used */
    bool must_measure; /* whatever is kept */
    int64_t now_unix_ms;
    /* Appends rows for the job's thread count; in 0 seconds, those of the probes alone. */
    enum pdnn_status (*measure)(void *user, double seconds, struct pdnn_roof_rows *roof_rows,
                                struct pdnn_err *err);
    void *user;
};

/* Appends the context of roofs, one line: all they depend on but the libraries, whose versions are with each
 * entry. */
void pdnn_roof_cache_context(const struct pdnn_roofs_job *job, struct pdnn_str *out);

/* Appends the rows for the job's thread count, with what is kept: confirmed, with checked_utc, or joined by
 * what is measured now. Levels and capacities are those of the measurement that took longest. Appends to
 * note, if anything was kept, what became of it, and whether there was no time for bandwidths, without which
 * nothing is kept: a line without a break. */
enum pdnn_status pdnn_roof_cache_get(const struct pdnn_roofs_job *job, struct pdnn_roof_rows *roof_rows,
                                     struct pdnn_str *note, struct pdnn_err *err);

/* Appends what is kept for the job's context and thread count, of whatever libraries, and asks nobody whether
 * it still holds: for estimates. Nothing if it is more than a day old. Of the job, only the directory, the
 * context and the time are used. */
void pdnn_roof_cache_recall(const struct pdnn_roofs_job *job, struct pdnn_roof_rows *ceilings);

#endif
