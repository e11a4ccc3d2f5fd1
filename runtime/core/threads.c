#include "runtime/core/threads.h"

#include "runtime/kernels/simd/denormals.h"

#include <inttypes.h>
#include <omp.h>

/* A larger pool of an earlier request would go on spinning beside a smaller one: it is ended, not only left
 * aside. The user's OpenMP settings may allow fewer threads than there are cores. */
enum pdnn_status pdnn_threads_set(int64_t threads, struct pdnn_err *err) {
    int team = 0;
    if (omp_get_max_threads() != (int)threads)
        omp_pause_resource_all(omp_pause_hard);
    omp_set_num_threads((int)threads);
#pragma omp parallel num_threads((int)threads) reduction(+ : team)
    team += 1;
    if (team != (int)threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "asks for %" PRId64
                         " threads, the OpenMP environment (OMP_THREAD_LIMIT, OMP_DYNAMIC) gives %d",
                         threads, team);
    pdnn_flush_denormals(threads);
    return PDNN_OK;
}

void pdnn_threads_rest(void) {
    omp_pause_resource_all(omp_pause_hard);
}
