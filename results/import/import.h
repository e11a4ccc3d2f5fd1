/* Other people's files as result directories. A format is a mapping: which column of the file says what. */
#ifndef RESULTS_IMPORT_IMPORT_H
#define RESULTS_IMPORT_IMPORT_H

#include "base/err.h"
#include "results/table/table.h"
#include "runtime/protocol/visit.h"

struct pdnn_import_request {
    const char *path;   /* the file */
    const char *output; /* the new directory */
    /* "KEY=COLUMN" or "KEY=COLUMN:UNIT"; none: those of ParaDnn's files. KEY is a hyper-parameter or run
     * setting, or one of pdnn_import_roles. A second `label` or `model` begins another group of columns,
     * whose rows come after those of the first. */
    const char *const *map;
    size_t n_map;
    const char *model; /* a family, a preset or an id, where no column says it; NULL: one does */
    /* "KEY=VALUE": hyper-parameters and run settings that no column says. */
    const char *const *set;
    size_t n_set;
    int64_t shards;   /* FLOP and rates are those of one of this many shards; at least 1 */
    const char *host; /* the platform's name; NULL: the file's, or the file's name without its extension */
    const char *software; /* what ran the models, with its version; NULL: not said */
    const char *version;  /* this program's */
    /* Roofs: a ceilings.csv; or the peak in GFLOP/s and the bandwidth in GB/s. NULL, 0: none. */
    const char *ceilings;
    double peak_gflops, bandwidth_gbs;
};

extern const char *const pdnn_import_roles[]; /* NULL-terminated: what KEY is, besides parameters */

enum { PDNN_IMPORT_REASONS = 3 };

struct pdnn_import_result {
    size_t left_out;         /* instances that could not be mapped */
    struct pdnn_str reasons; /* a line for each of the first PDNN_IMPORT_REASONS; the caller finishes it */
    size_t counts[PDNN_OUTCOME_COUNT];
    size_t elsewhere; /* rows of other platforms than the one that was asked for */
    /* Medians of what the file says over what the instance has; NaN if it says it of none that ran. */
    double params_ratio, flop_ratio;
    size_t mislabeled; /* instances that ran whose parameters differ by more than 5 %; they have the flag */
};

/* Writes results.csv, an ops.csv without rows, environment.yaml, imported.csv and, with roofs, ceilings.csv,
 * or nothing; the same request gives the same bytes. Rows that cannot be mapped are left out. PDNN_INVALID if
 * the output exists, the file is not as described, or no row is left. */
enum pdnn_status pdnn_import(const struct pdnn_import_request *request, struct pdnn_import_result *result,
                             struct pdnn_err *err);

#endif
