/* Peak rates per element type, from registers alone: as many multiply-adds as the processor can issue with
 * its widest instruction for the type. No memory, no packing: an upper bound for any matrix product. */
#ifndef RUNTIME_KERNELS_ROOFS_PEAKS_H
#define RUNTIME_KERNELS_ROOFS_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

/* One instruction for one type. */
struct pdnn_peak {
    const char *dtype;       /* "f32", "bf16", "f16", "int8" */
    const char *instruction; /* "vdpbf16ps": the roof's name in tables */
    bool (*usable)(void);    /* supported by the processor and enabled for this process by the kernel */
    /* Runs `iterations` iterations in the calling thread. The return value depends on all of them. */
    float (*run)(uint64_t iterations);
    uint64_t flop; /* per iteration: 2 per multiply-add, for int8 too */
    /* Where the vectors' length is the processor's affair: its multiple of what flop counts. NULL: 1. */
    uint64_t (*units)(void);
};

/* All peaks this build knows, widest first within a type, terminated by a row without a dtype. The
 * f32 peak of fixed vectors is in fma.h. */
extern const struct pdnn_peak pdnn_peaks[];

/* Runs the peak on each of the threads. Returns their total FLOP. */
uint64_t pdnn_peak_run(const struct pdnn_peak *peak, int64_t threads, uint64_t iterations, float *result);

#endif
