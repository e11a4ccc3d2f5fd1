/* Where a row of results.csv or ops.csv stands against the machine's roofs. results/rows/roofline computes
 * it. Not available: NaN, or "". */
#ifndef RESULTS_STORE_PLACEMENT_H
#define RESULTS_STORE_PLACEMENT_H

#include "base/word.h"

#include <stdint.h>

/* A count that is not available. */
#define PDNN_ABSENT UINT64_MAX

/* Above this, pct_of_roof sets the flag above_roof. More than 100, because roofs and rows repeat only within
 * a few per cent. */
#define PDNN_ABOVE_ROOF_PCT 105.0

/* What limits a row: see results/rows/roofline.h. */
enum pdnn_bound {
    PDNN_BOUND_UNKNOWN,
    PDNN_BOUND_COMPUTE,
    PDNN_BOUND_MEMORY,
    PDNN_BOUND_OVERHEAD,
    PDNN_BOUND_COUNT
};

/* The rows from PDNN_BOUND_COMPUTE on, the last one empty. */
extern const struct pdnn_word pdnn_bound_words[];

/* "" for none, "compute", "memory", "overhead". */
const char *pdnn_bound_name(enum pdnn_bound bound);

enum { PDNN_LEVEL_TEXT = 24 };

/* Where a row stands against the machine's roofs; the definitions are in results/rows/roofline.h. */
struct pdnn_placement {
    double gflops, bw_gbs, intensity_flop_per_byte;
    double attainable_gflops, pct_of_roof, pct_of_peak;
    double roof_ns; /* the least time that the roofs, scaled to the machine's speed, allow */
    enum pdnn_bound bound;
    char roof_level[PDNN_LEVEL_TEXT]; /* L1, L2, L3, DRAM: where most of the memory time goes */
};

/* Sets everything to not available. */
void pdnn_placement_init(struct pdnn_placement *place);

#endif
