/* The machine's roofs, measured: compute per dtype, bandwidth per cache level and DRAM, the cost of calling
 * an op at all, and the probes' reference speeds. Plain rows; runtime/core/roofs.h measures them. */
#ifndef RUNTIME_FACTS_CEILINGS_H
#define RUNTIME_FACTS_CEILINGS_H

#include <stddef.h>
#include <stdint.h>

/* Room for so many thread counts, with at most 32 rows each. */
enum { PDNN_CEILINGS_THREADS_MAX = 64, PDNN_CEILINGS_MAX = PDNN_CEILINGS_THREADS_MAX * 32 };

enum { PDNN_CEILING_TEXT = 24 };

/* One row of ceilings.csv. */
struct pdnn_ceiling {
    char kind[PDNN_CEILING_TEXT];    /* compute | bandwidth | overhead | probe */
    char pattern[PDNN_CEILING_TEXT]; /* compute: fma, gemm-onednn, ...; bandwidth: read, copy, triad;
                                        overhead: op; probe: fma, read */
    char dtype[PDNN_CEILING_TEXT];   /* compute: f32, bf16, f16, int8; else "" */
    char level[PDNN_CEILING_TEXT];   /* bandwidth: L1, L2, L3, DRAM; else "" */
    int64_t threads;
    uint64_t capacity_bytes; /* bandwidth: what the level holds for these threads together; 0 for DRAM */
    double value;            /* median: GFLOP/s, GB/s, or ns for overhead */
    double low, high;        /* least and greatest of the repetitions */
    int64_t repetitions;
};

struct pdnn_ceilings {
    size_t count;
    struct pdnn_ceiling row[PDNN_CEILINGS_MAX];
};

#endif
