/* Roofs of hardware that is not there: those that were measured, times factors, or another machine's. */
#ifndef RESULTS_WHATIF_HARDWARE_H
#define RESULTS_WHATIF_HARDWARE_H

#include "base/str.h"
#include "results/rows/roofline.h"

/* Options as typed; NULL or 0: not given. */
struct pdnn_hardware_request {
    const char *compute;          /* "2", or "2,bf16=4": peaks, by dtype */
    const char *bandwidth;        /* "1.5", or "1.5,L3=2": of the last level, by level */
    const char *cache, *overhead; /* capacity of all caches; cost of calling an op */
    const char *onto;             /* a ceilings.csv, or a directory with one */
    int64_t threads;              /* take the roofs for this many threads; 0: for those of the row */
};

enum pdnn_hardware_part {
    PDNN_HARDWARE_COMPUTE,
    PDNN_HARDWARE_BANDWIDTH,
    PDNN_HARDWARE_CACHE,
    PDNN_HARDWARE_OVERHEAD,
    PDNN_HARDWARE_PARTS
};

enum { PDNN_HARDWARE_CHANGES = 16 };

/* {0} changes nothing. Of several changes of one roof, one that names it goes first, wherever it stands, then
 * the last one. */
struct pdnn_hardware {
    struct pdnn_hardware_change {
        enum pdnn_hardware_part part;
        char name[PDNN_LEVEL_TEXT]; /* of a dtype or a level; "": all dtypes, the last level */
        double factor;
    } change[PDNN_HARDWARE_CHANGES];
    size_t n_changes;
    struct pdnn_roof_rows *onto; /* in the arena; NULL: the measured ones */
    int64_t threads;             /* 0: those of the row */
};

/* PDNN_INVALID names the option and what it expects; also if nothing would change. */
enum pdnn_status pdnn_hardware_parse(struct pdnn_hardware *hardware,
                                     const struct pdnn_hardware_request *request, struct pdnn_arena *arena,
                                     struct pdnn_err *err);

/* The roofs of rows that ran on this many threads. A level is never slower than the next one out.
 * PDNN_INVALID: the roofs have none, or no such level; err may be NULL. */
enum pdnn_status pdnn_hardware_roofs(const struct pdnn_hardware *hardware,
                                     const struct pdnn_roof_rows *roof_rows, int64_t threads,
                                     struct pdnn_roofs *roofs, struct pdnn_err *err);

/* On the heap: the rows of the one without bandwidths of patterns that the other lacks, since a machine of
 * which more patterns were measured would seem faster. Ladders and streaming stores count as the levels. */
struct pdnn_roof_rows *pdnn_roof_rows_alike(const struct pdnn_roof_rows *of,
                                            const struct pdnn_roof_rows *with);

/* Appends "compute x 2, DRAM bandwidth x 1.5". */
void pdnn_hardware_text(const struct pdnn_hardware *hardware, struct pdnn_str *out);

#endif
