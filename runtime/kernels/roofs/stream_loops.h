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

/* The sum of all elements, of all passes. */
float pdnn_stream_read(const float *a, size_t count, uint64_t passes);

/* All passes of a copy or a triad. */
void pdnn_stream_write(const struct pdnn_stream_job *job, const struct pdnn_stream_arrays *arrays);

#endif
