#include "runtime/kernels/team.h"

#include <omp.h>

void pdnn_team_run(int64_t threads, int64_t elements, void (*work)(void *job, int64_t index, int64_t parts),
                   void *job) {
    if (threads <= 1 || elements < PDNN_TEAM_MIN_ELEMENTS) {
        work(job, 0, 1);
        return;
    }
#pragma omp parallel num_threads((int)threads)
    work(job, omp_get_thread_num(), omp_get_num_threads());
}
