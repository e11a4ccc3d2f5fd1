/* What is to be merged, and what came of it. */
#ifndef SESSION_MERGE_REQUEST_H
#define SESSION_MERGE_REQUEST_H

#include "session/tally.h"

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
    void (*note)(void *user, const char *text); /* a line for the user: lower case, no full stop */
    void *user;
    const volatile int *stop; /* nonzero: end, leaving nothing; NULL: never */
};

struct pdnn_merge_result {
    size_t directories, hosts;
    size_t visits, rows;     /* in the merged journal; rows: with those of ops */
    size_t copies, left_out; /* visits seen before; visits of hosts not kept */
    size_t conflicts;        /* instances that several hosts measured */
    struct pdnn_tally tally;
    uint64_t journal_ns, tables_ns; /* time it took to write them */
};

#endif
