#define _GNU_SOURCE /* sched_setaffinity */
#include "runtime/backend/threads.h"

#include "runtime/kernels/simd/denormals.h"

#include <inttypes.h>
#include <omp.h>
#include <sched.h>

/* More than any Linux kernel supports. */
enum { UNITS_MAX = 8192 };
static const size_t mask_bytes = CPU_ALLOC_SIZE(UNITS_MAX);

/* The calling thread's mask; the caller frees. NULL where it cannot be read. */
static cpu_set_t *read_mask(void) {
    cpu_set_t *mask = CPU_ALLOC(UNITS_MAX);
    if (mask && sched_getaffinity(0, mask_bytes, mask) != 0) {
        CPU_FREE(mask);
        mask = NULL;
    }
    return mask;
}

/* Changes nothing that is so already: pools are bound again for every instance. */
bool pdnn_threads_bind(const int *units, int64_t count) {
    bool is_bound = false;
    cpu_set_t *mask = read_mask(), *wanted = CPU_ALLOC(UNITS_MAX);
    if (mask && wanted) {
        CPU_ZERO_S(mask_bytes, wanted);
        for (int64_t i = 0; i < count; i++)
            CPU_SET_S((size_t)units[i], mask_bytes, wanted);
        is_bound = CPU_EQUAL_S(mask_bytes, mask, wanted) || sched_setaffinity(0, mask_bytes, wanted) == 0;
    }
    CPU_FREE(wanted);
    CPU_FREE(mask);
    return is_bound;
}

/* A larger pool left over from an earlier request would keep spinning beside a smaller one, so it is
 * shut down first. */
enum pdnn_status pdnn_threads_set(const struct pdnn_host *host, int64_t threads, struct pdnn_err *err) {
    int team = 0, bound = 0;
    if (omp_get_max_threads() != (int)threads)
        omp_pause_resource_all(omp_pause_hard);
    omp_set_num_threads((int)threads);
#pragma omp parallel num_threads((int)threads) reduction(+ : team, bound)
    {
        team += 1;
        bound += pdnn_threads_bind(&host->core_pu[omp_get_thread_num()], 1);
    }
    if (team != (int)threads)
        return pdnn_fail(err, PDNN_INVALID, "asks for %" PRId64 " threads, OpenMP gives %d", threads, team);
    if (bound != team)
        return pdnn_fail(err, PDNN_IO, "only %d of %d threads can be bound to their cores", bound, team);
    pdnn_flush_denormals(threads);
    return PDNN_OK;
}

static void format_mask(struct pdnn_str *places) {
    cpu_set_t *mask = read_mask();
    const char *separator = "{";
    for (size_t unit = 0; mask && unit < UNITS_MAX; unit++) {
        if (!CPU_ISSET_S(unit, mask_bytes, mask))
            continue;
        pdnn_str_printf(places, "%s%zu", separator, unit);
        separator = ",";
    }
    pdnn_str_printf(places, mask ? "}" : "{?}");
    CPU_FREE(mask);
}

void pdnn_threads_places(struct pdnn_str *places) {
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < omp_get_max_threads(); i++) {
#pragma omp ordered
        {
            pdnn_str_printf(places, "%s", i ? "," : "");
            format_mask(places);
        }
    }
}

void pdnn_threads_rest(void) {
    omp_pause_resource_all(omp_pause_hard);
}
