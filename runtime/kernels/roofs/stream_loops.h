/* The loops of stream.c, at the processor's widest level whatever the limit. */
#ifndef RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H
#define RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_stream_pattern {
    PDNN_STREAM_READ,   /* sum += a[i]: 4 bytes per element */
    PDNN_STREAM_COPY,   /* b[i] = a[i]: 8 */
    PDNN_STREAM_TRIAD,  /* c[i] = a[i] + 0.5 b[i]: 12 */
    PDNN_STREAM_UPDATE, /* b[i] = 0.5 (a[i] + b[i]), in place: 12 */
    PDNN_STREAM_PATTERN_COUNT
};

/* What each thread does with its slice. */
struct pdnn_stream_job {
    enum pdnn_stream_pattern pattern;
    int64_t threads; /* use only the first ones */
    uint64_t passes;
    bool bypass;        /* streaming stores: for working sets larger than the caches */
    size_t slice_bytes; /* bytes of each slice to use; 0: all */
    /* If parts is not 0: only part number `part` of `parts` equal parts of each array. */
    uint64_t part, parts;
};

/* Arrays are multiples of this; the widest loop takes 128 floats per iteration. */
enum { PDNN_STREAM_UNIT_FLOATS = 256 };

/* Arrays of `count` floats, `step` floats apart. */
struct pdnn_stream_arrays {
    float *first;
    size_t count, step;
};

/* Runs all passes of one thread. Returns the sum of what a READ has read. */
float pdnn_stream_passes(const struct pdnn_stream_job *job, const struct pdnn_stream_arrays *arrays);

#endif
