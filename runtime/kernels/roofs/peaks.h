/* Peak rates of every element type, from registers alone: as many multiply-adds as the processor starts, with
 * the widest instruction it has for the type. No memory, no packing: what a matrix product could reach at
 * most. */
#ifndef RUNTIME_KERNELS_ROOFS_PEAKS_H
#define RUNTIME_KERNELS_ROOFS_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

/* One instruction for one type. */
struct pdnn_peak {
    const char *dtype;       /* "f32", "bf16", "f16", "int8" */
    const char *instruction; /* "vdpbf16ps": what the roof is called in tables */
    bool (*usable)(void);    /* the processor has it, and the kernel lets this process use it */
    /* So many iterations in the calling thread; what it returns depends on all of them. */
    float (*run)(uint64_t iterations);
    uint64_t flop; /* of one iteration: 2 for a multiply-add, in int8 too */
};

/* All that this build knows, widest first within a type; the last row has no dtype. f32's is fma.h. */
extern const struct pdnn_peak pdnn_peaks[];

/* The same on each of the threads. Returns the FLOP of all of them. */
uint64_t pdnn_peak_run(const struct pdnn_peak *peak, int64_t threads, uint64_t iterations, float *result);

#endif
