#define _POSIX_C_SOURCE 200809L
#include "runtime/backend/core_share.h"

#include "base/clock.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

static const double low_share = 0.85;

/* Stopped: less than a tenth of one core for at least a tenth of a second. Neighbours leave more. */
enum { STOPPED_PART = 10, STOPPED_NS = 100 * 1000 * 1000 };

static uint64_t cpu_now(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec
               : 0;
}

void pdnn_core_share_begin(struct pdnn_core_share *share) {
    share->cpu_begin = cpu_now();
    share->wall_begin = pdnn_clock_ns();
}

bool pdnn_core_share_end(struct pdnn_core_share *share, uint64_t waited_ns) {
    uint64_t wall_ns = pdnn_clock_ns() - share->wall_begin;
    return pdnn_core_share_add(share, cpu_now() - share->cpu_begin,
                               wall_ns > waited_ns ? wall_ns - waited_ns : 0);
}

bool pdnn_core_share_add(struct pdnn_core_share *share, uint64_t cpu_ns, uint64_t wall_ns) {
    if (wall_ns >= STOPPED_NS && cpu_ns < wall_ns / STOPPED_PART) {
        share->lost_ns += wall_ns;
        return false;
    }
    share->cpu_ns += cpu_ns;
    share->wall_ns += wall_ns;
    return true;
}

bool pdnn_core_share_is_low(const struct pdnn_core_share *share, int64_t threads) {
    return threads > 0 && (double)share->cpu_ns < low_share * (double)share->wall_ns * (double)threads;
}

int64_t pdnn_core_share_threads(int64_t threads) {
    const char *policy = getenv("OMP_WAIT_POLICY");
    return policy && strcasecmp(policy, "passive") == 0 ? 0 : threads;
}
