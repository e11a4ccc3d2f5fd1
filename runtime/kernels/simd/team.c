#include "runtime/kernels/simd/team.h"

#include <omp.h>

void pdnn_team_run(int64_t threads, int64_t elements, void (*work)(void *job, int64_t index, int64_t parts),
                   void *job) {
    if (threads <= 1 || elements < PDNN_TEAM_MIN_ELEMENTS) {
        work(job, 0, 1);
        return;
    }
    /* Covers every part, even if OpenMP gives a smaller team. */
#pragma omp parallel num_threads((int)threads)
    for (int64_t index = omp_get_thread_num(); index < threads; index += omp_get_num_threads())
        work(job, index, threads);
}
