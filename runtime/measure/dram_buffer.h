/* Memory well beyond the caches, which the probe reads from and the evictor reads through. A process keeps
 * one such buffer, because touching its pages again would cost more than a probe, and its size follows from
 * the caches and from the limit on memory alone: every visit of a sweep has the same one. */
#ifndef RUNTIME_MEASURE_DRAM_BUFFER_H
#define RUNTIME_MEASURE_DRAM_BUFFER_H

#include "runtime/host/host.h"
#include "runtime/kernels/roofs/stream.h"

/* The buffer, and what the probe found out about it. {0} has none yet; its owner destroys the stream. */
struct pdnn_far_memory {
    struct pdnn_stream stream;
    struct pdnn_probe_state {
        int64_t threads; /* that iterations and bytes were calibrated for */
        size_t slice_bytes;
        uint64_t iterations;
        size_t bytes, offset;
        uint64_t clock_cost_ns; /* of one clock read */
        float result;           /* of the last run; its kernel cannot know that nobody reads it */
    } probe;
};

/* Who reads, what it may take, and where. */
struct pdnn_dram_buffer {
    int64_t threads;
    uint64_t cache_bytes; /* of the last-level caches that the threads reach; 0: not known */
    uint64_t limit_bytes; /* of everything in this process; 0: none */
    struct pdnn_far_memory *memory;
};

/* How large the buffer is for all threads together: four times the caches and at least 64 MiB per thread, but
 * at most a quarter of the limit, or twice the caches if that is more. 0: not even twice the caches fit into
 * half of the limit. */
uint64_t pdnn_dram_buffer_bytes(const struct pdnn_dram_buffer *far);

/* Makes the buffer at least that large and lends it until the next call. A larger one from an earlier call
 * stays if it takes at most a quarter of the limit. PDNN_TOO_BIG when it does not fit the limit;
 * PDNN_NO_MEMORY. */
enum pdnn_status pdnn_dram_buffer_get(const struct pdnn_dram_buffer *far, const struct pdnn_stream **stream,
                                      struct pdnn_err *err);

/* What the buffer takes now. */
uint64_t pdnn_far_memory_bytes(const struct pdnn_far_memory *memory);

#endif
