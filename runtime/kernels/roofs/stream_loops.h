/* The loops of stream.c, at the processor's widest level whatever the limit. */
#ifndef RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H
#define RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H

#include "runtime/kernels/roofs/stream.h"

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
