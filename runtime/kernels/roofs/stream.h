/* The bandwidth roofs: read, copy and triad over private slices of floats, one per thread, first
 * touched by the thread that uses it. Bytes are what the program reads and writes, without the traffic
 * that caches add. */
#ifndef RUNTIME_KERNELS_ROOFS_STREAM_H
#define RUNTIME_KERNELS_ROOFS_STREAM_H

#include "base/err.h"
#include "runtime/kernels/roofs/stream_loops.h"

/* "read", "copy", "triad". */
const char *pdnn_stream_pattern_name(enum pdnn_stream_pattern pattern);

/* {0} is empty. */
struct pdnn_stream {
    int64_t threads;
    size_t slice_bytes; /* working set of one thread: all arrays of a pattern together */
    float **slice;      /* one per thread */
};

/* Rounds slice_bytes down to a multiple of PDNN_STREAM_GRAIN, but at least one. PDNN_NO_MEMORY. */
enum { PDNN_STREAM_GRAIN = 3072 };
enum pdnn_status pdnn_stream_create(struct pdnn_stream *stream, int64_t threads, uint64_t slice_bytes,
                                    struct pdnn_err *err);
void pdnn_stream_destroy(struct pdnn_stream *stream);

/* Returns the bytes read and written by all threads. *result depends on everything a READ has read. */
uint64_t pdnn_stream_run(const struct pdnn_stream *stream, const struct pdnn_stream_job *job, float *result);

/* Each of the first `threads` threads reads `bytes` bytes of its slice from `offset` (multiples of the
 * grain), wrapping around at the end. Returns the total bytes read. For probes, whose data must not still be
 * in a cache from the last one. */
uint64_t pdnn_stream_read_part(const struct pdnn_stream *stream, int64_t threads, size_t offset, size_t bytes,
                               float *result);

#endif
