#define _GNU_SOURCE /* sched_setaffinity, gettid */
#include "runtime/backend/threads.h"

#include "base/memory.h"
#include "runtime/kernels/simd/denormals.h"

#include <inttypes.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

void pdnn_thread_team_finish(struct pdnn_thread_team *team) {
    free(team->thread);
    *team = (struct pdnn_thread_team){0};
}

uint64_t pdnn_threads_cpu_ns(const struct pdnn_thread_team *team) {
    uint64_t ns = 0;
    for (int64_t i = 0; i < team->count; i++) {
        struct timespec spent;
        if (clock_gettime(team->thread[i].clock, &spent) != 0)
            return 0;
        ns += (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
    }
    return ns;
}

/* In a region of the whole pool: the calling thread's row. Returns whether it was another one's. */
static bool join(struct pdnn_team_thread *own, int unit) {
    const int64_t before = own->id;
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    pthread_getcpuclockid(pthread_self(), &clock);
    *own = (struct pdnn_team_thread){gettid(), clock, unit};
    return own->id != before;
}

/* A larger pool left over from an earlier request would keep spinning beside a smaller one, so it is
 * shut down first. */
enum pdnn_status pdnn_threads_set(const struct pdnn_host *host, int64_t threads,
                                  struct pdnn_thread_team *team, struct pdnn_err *err) {
    int count = 0, bound = 0, changed = team->count != threads;
    if (omp_get_max_threads() != (int)threads)
        omp_pause_resource_all(omp_pause_hard);
    omp_set_num_threads((int)threads);
    if (changed) {
        free(team->thread);
        team->thread = pdnn_alloc((size_t)threads, sizeof *team->thread);
        team->count = threads;
    }
#pragma omp parallel num_threads((int)threads) reduction(+ : count, bound, changed)
    {
        const int number = omp_get_thread_num();
        count += 1;
        bound += pdnn_threads_bind(&host->core_pu[number], 1);
        changed += join(&team->thread[number], host->core_pu[number]);
    }
    team->made += changed > 0;
    if (count != (int)threads)
        return pdnn_fail(err, PDNN_INVALID, "asks for %" PRId64 " threads, OpenMP gives %d", threads, count);
    if (bound != count)
        return pdnn_fail(err, PDNN_IO, "only %d of %d threads can be bound to their cores", bound, count);
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
