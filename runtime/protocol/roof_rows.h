/* The machine's measured roofs: compute per dtype, bandwidth per cache level and DRAM, the overhead of
 * calling an op, the probes' reference speeds, and all-reduce between ranks. Plain rows;
 * runtime/roofs/roofs.h measures them, and runtime/distributed/allreduce_bench.h those between ranks. */
#ifndef RUNTIME_PROTOCOL_ROOF_ROWS_H
#define RUNTIME_PROTOCOL_ROOF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for at most 288 rows per thread count and state, most of them the ladder's. */
enum { PDNN_ROOF_ROWS_THREADS_MAX = 64, PDNN_ROOF_ROWS_MAX = PDNN_ROOF_ROWS_THREADS_MAX * 2 * 288 };

enum { PDNN_ROOF_ROW_TEXT = 24, PDNN_ROOF_ROW_HOST_TEXT = 128 };

/* One row of ceilings.csv. */
struct pdnn_roof_row {
    char kind[PDNN_ROOF_ROW_TEXT]; /* compute | bandwidth | ladder | overhead | probe | link */
    /* compute: fma, avx512_vnni, gemm-onednn, ...; bandwidth: read, copy, triad, update; ladder: the
     * same, and copy-streaming, triad-streaming; overhead: op; probe: fma, read, clock, handoff; link:
     * allreduce */
    char pattern[PDNN_ROOF_ROW_TEXT];
    char dtype[PDNN_ROOF_ROW_TEXT]; /* compute: f32, bf16, f16, int8; else "" */
    char level[PDNN_ROOF_ROW_TEXT]; /* bandwidth, ladder: L1, L2, L3, DRAM; else "" */
    int64_t threads;                /* link: 0 */
    /* bandwidth: measured capacity of the level for all these threads together, 0 for DRAM; ladder: working
     * set of all these threads together; link: of a message */
    uint64_t capacity_bytes;
    /* second best repetition: GFLOP/s, GB/s (link: of the bus), GHz for the clock, or ns for overhead and
     * handoff; where measurements were joined, the median of theirs */
    double value;
    double low, high; /* smallest and largest repetition; where measurements were joined, value of them */
    int64_t repetitions;
    double median; /* of the repetitions; where measurements were joined, of their medians */
    /* bandwidth: the capacity that the host reports for these threads; 0, and absent in files: unknown */
    uint64_t reported_bytes;
    char host[PDNN_ROOF_ROW_HOST_TEXT]; /* "": the only host there is */
    int64_t measured_unix_ms;           /* 0: not known */
    /* when probes confirmed a row that an earlier sweep had measured; 0: the sweep measured it itself */
    int64_t checked_unix_ms;
    int64_t ranks;        /* link: how many; else 0 */
    int64_t measurements; /* that were joined; 0: not known, so one */
    /* of the threads' distance when it was measured: PDNN_ROOF_ROW_NEAR or PDNN_ROOF_ROW_FAR where both were
     * seen; "": one was, or there is one thread */
    char state[PDNN_ROOF_ROW_TEXT];
};

#define PDNN_ROOF_ROW_NEAR "near"
#define PDNN_ROOF_ROW_FAR  "far"

struct pdnn_roof_rows {
    size_t count;
    struct pdnn_roof_row row[PDNN_ROOF_ROWS_MAX];
};

/* Measured capacity of the last-level cache for this many threads together; 0 if no row has it. */
uint64_t pdnn_roof_rows_cache_bytes(const struct pdnn_roof_rows *roof_rows, int64_t threads);

/* Bytes that each of the ranks sends when a ring of them sums messages of this size: 2 (p - 1) / p of it. */
double pdnn_ring_bytes(int64_t ranks, double bytes);
bool pdnn_roof_rows_have_link(const struct pdnn_roof_rows *roof_rows, int64_t ranks);
/* The least time to sum a message of this size over so many ranks: between the sizes that were measured on a
 * line, below them as long as the smallest, above them as fast as the largest. 0 if no row has these ranks.
 */
double pdnn_roof_rows_link_ns(const struct pdnn_roof_rows *roof_rows, int64_t ranks, uint64_t bytes);

#endif
