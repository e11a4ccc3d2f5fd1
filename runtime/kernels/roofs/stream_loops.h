/* The loops of stream.c, of the widest level that the processor has, whatever the limit. */
#ifndef RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H
#define RUNTIME_KERNELS_ROOFS_STREAM_LOOPS_H

#include "runtime/kernels/roofs/stream.h"

/* Arrays are whole numbers of these; the widest loop takes 128 a turn. */
enum { PDNN_STREAM_UNIT_FLOATS = 256 };

/* Arrays of count floats each, `step` floats from one to the next. */
struct pdnn_stream_arrays {
    float *first;
    size_t count, step;
};

/* All passes of a thread. Returns the sum of what a READ read. */
float pdnn_stream_passes(const struct pdnn_stream_job *job, const struct pdnn_stream_arrays *arrays);

#endif
