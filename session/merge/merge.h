/* Journals of shards, of joined workers and of earlier runs made into one result directory. Sources are only
 * read. The new directory is complete or not there: it is built under another name and renamed.
 *
 * A visit is known by its host and by its row, all but the visit's number: two rows that begin in the same
 * millisecond and agree in every measured digit are one visit that was copied. An instance has the visits of
 * one host only; if several measured it, those of the host with most ok visits are kept, of equal ones those
 * of the first by name. Visits are in order of their start and numbered again, instances in the order of the
 * spec, so the result does not depend on the order of the sources.
 *
 * Time grows with the rows; memory with the instances and by 80 bytes a visit. */
#ifndef SESSION_MERGE_MERGE_H
#define SESSION_MERGE_MERGE_H

#include "base/err.h"
#include "session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_merge_request {
    const char *const
        *sources; /* result directories, and directories with parts/ that stand for their parts */
    size_t n_sources;
    bool is_union; /* sources of different specs are merged, too: the new spec is all of theirs */
    /* a path where nothing or an empty directory is, or a source with parts/: its tables are then written
     * beside parts/ */
    const char *output;
    const struct pdnn_session_hooks *hooks; /* for warnings, and for the end that the user wants; borrowed */
};

struct pdnn_merge_result {
    size_t directories, hosts;
    size_t visits;           /* in the merged journal */
    size_t copies, left_out; /* visits seen before; visits of hosts not kept */
    size_t conflicts;        /* instances that several hosts measured */
    struct pdnn_tally tally;
};

/* PDNN_INVALID, with a message that names the file, for what cannot be merged: damaged or foreign journals,
 * two specs, one host with two setups, an output that exists. PDNN_IO if the result cannot be written. */
enum pdnn_status pdnn_merge(const struct pdnn_merge_request *request, struct pdnn_merge_result *result,
                            struct pdnn_err *err);

#endif
