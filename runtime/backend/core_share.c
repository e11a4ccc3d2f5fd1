#define _POSIX_C_SOURCE 200809L
#include "runtime/backend/core_share.h"

#include "base/clock.h"
#include "runtime/protocol/visit.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

/* Stopped: less than a tenth of one core for at least a tenth of a second. Neighbours leave more. */
enum { STOPPED_PART = 10, STOPPED_NS = 100 * 1000 * 1000 };

void pdnn_core_share_begin(struct pdnn_core_share *share) {
    share->cpu_begin = share->team ? pdnn_threads_cpu_ns(share->team) : 0;
    share->wall_begin = pdnn_clock_ns();
}

/* Threads that ended meanwhile took their clocks with them. */
void pdnn_core_share_end(struct pdnn_core_share *share) {
    const uint64_t wall_ns = pdnn_clock_ns() - share->wall_begin;
    const uint64_t cpu = share->cpu_begin ? pdnn_threads_cpu_ns(share->team) : 0;
    if (cpu <= share->cpu_begin)
        return;
    share->cpu_ns += cpu - share->cpu_begin;
    share->wall_ns += wall_ns;
}

double pdnn_core_share_of(const struct pdnn_core_share *share, int64_t threads) {
    return share->wall_ns && threads > 0 ? (double)share->cpu_ns / (double)share->wall_ns / (double)threads
                                         : 0;
}

bool pdnn_core_share_is_low(double share) {
    return share > 0 && share * 100 < PDNN_LOW_SHARE_PCT;
}

int64_t pdnn_core_share_threads(int64_t threads) {
    const char *policy = getenv("OMP_WAIT_POLICY");
    return policy && strcasecmp(policy, "passive") == 0 ? 0 : threads;
}

static uint64_t process_cpu_ns(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec
               : 0;
}

void pdnn_stops_begin(struct pdnn_stops *stops) {
    stops->cpu_begin = process_cpu_ns();
    stops->wall_begin = pdnn_clock_ns();
}

bool pdnn_stops_end(struct pdnn_stops *stops, uint64_t waited_ns) {
    const uint64_t wall_ns = pdnn_clock_ns() - stops->wall_begin;
    return pdnn_stops_add(stops, process_cpu_ns() - stops->cpu_begin,
                          wall_ns > waited_ns ? wall_ns - waited_ns : 0);
}

bool pdnn_stops_add(struct pdnn_stops *stops, uint64_t cpu_ns, uint64_t wall_ns) {
    const bool is_stop = wall_ns >= STOPPED_NS && cpu_ns < wall_ns / STOPPED_PART;
    stops->lost_ns += is_stop ? wall_ns : 0;
    return is_stop;
}
