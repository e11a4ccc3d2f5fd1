#include "runtime/kernels/roofs/peaks.h"

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
const struct pdnn_peak pdnn_peaks[] = {{NULL, NULL, NULL, NULL, 0, NULL}};
#endif

uint64_t pdnn_peak_run(const struct pdnn_peak *peak, int64_t threads, uint64_t iterations, float *result) {
    uint64_t flop = 0, per_iteration = peak->flop * (peak->units ? peak->units() : 1);
    float sum = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : flop, sum)
    {
        sum += peak->run(iterations);
        flop += per_iteration * iterations;
    }
    *result = sum;
    return flop;
}
