#include "runtime/kernels/roofs/peaks.h"

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
