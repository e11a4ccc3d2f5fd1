/* The machine's roofs, measured: compute per dtype, bandwidth per cache level and DRAM, the cost of calling
 * an op at all, and the probes' reference speeds. Plain rows; runtime/core/roofs.h measures them. */
#ifndef RUNTIME_FACTS_CEILINGS_H
#define RUNTIME_FACTS_CEILINGS_H

#include <stddef.h>
#include <stdint.h>

/* Room for this many thread counts, with at most 224 rows each, most of them the ladder. */
enum { PDNN_CEILINGS_THREADS_MAX = 64, PDNN_CEILINGS_MAX = PDNN_CEILINGS_THREADS_MAX * 224 };

enum { PDNN_CEILING_TEXT = 24 };

/* One row of ceilings.csv. */
struct pdnn_ceiling {
    char kind[PDNN_CEILING_TEXT];    /* compute | bandwidth | ladder | overhead | probe */
    char pattern[PDNN_CEILING_TEXT]; /* compute: fma, avx512_vnni, gemm-onednn, ...; bandwidth: read, copy,
                                        triad; ladder: the same, and copy-streaming, triad-streaming;
                                        overhead: op; probe: fma, read */
    char dtype[PDNN_CEILING_TEXT];   /* compute: f32, bf16, f16, int8; else "" */
    char level[PDNN_CEILING_TEXT];   /* bandwidth, ladder: L1, L2, L3, DRAM; else "" */
    int64_t threads;
    /* bandwidth: what the level was found to hold for these threads together, 0 for DRAM; ladder: the working
     * set of these threads together. */
    uint64_t capacity_bytes;
    double value;     /* median: GFLOP/s, GB/s, or ns for overhead */
    double low, high; /* least and greatest of the repetitions */
    int64_t repetitions;
    double median;
    uint64_t reported_bytes; /* bandwidth: what the host says the level holds for these threads; 0: nothing */
};

struct pdnn_ceilings {
    size_t count;
    struct pdnn_ceiling row[PDNN_CEILINGS_MAX];
};

/* What the last of the caches was found to hold for this many threads together; 0: no row says so. */
uint64_t pdnn_ceilings_cache_bytes(const struct pdnn_ceilings *ceilings, int64_t threads);

#endif
