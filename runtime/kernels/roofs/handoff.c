#define _POSIX_C_SOURCE 200809L
#include "runtime/kernels/roofs/handoff.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { RUNS = 3, TRIPS = 100, APART_BYTES = 128 }; /* two lines: processors fetch them in pairs */

/* What a pair passes to and fro: even, its first thread's turn; odd, its second one's. */
struct ball {
    atomic_uint turn;
    char apart[APART_BYTES - sizeof(atomic_uint)];
};

/* Threads that have to share a core would otherwise take a whole time slice for each turn. */
static void wait_for(const atomic_uint *turn, unsigned wanted) {
    enum { SPINS = 1 << 12 };
    for (int spins = 0; atomic_load_explicit(turn, memory_order_acquire) != wanted; spins++)
        if (spins >= SPINS)
            sched_yield();
}

/* The first thread's side: ns of one trip. */
static double serve(struct ball *ball) {
    double ns[RUNS];
    unsigned turn = 0;
    for (int run = 0; run < RUNS; run++) {
        const uint64_t start_ns = pdnn_clock_ns();
        for (int trip = 0; trip < TRIPS; trip++, turn += 2) {
            atomic_store_explicit(&ball->turn, turn + 1, memory_order_release);
            wait_for(&ball->turn, turn + 2);
        }
        ns[run] = (double)(pdnn_clock_ns() - start_ns) / TRIPS;
    }
    return pdnn_median(ns, RUNS);
}

static void give_back(struct ball *ball) {
    for (unsigned turn = 0; turn < 2 * RUNS * TRIPS; turn += 2) {
        wait_for(&ball->turn, turn + 1);
        atomic_store_explicit(&ball->turn, turn + 2, memory_order_release);
    }
}

double pdnn_handoff_ns(int64_t threads) {
    double farthest_ns = 0;
    if (threads < 2)
        return 0;
    struct ball *balls = pdnn_alloc((size_t)threads, sizeof *balls);
#pragma omp parallel num_threads((int)threads)
    {
        const int thread = omp_get_thread_num(), team = omp_get_num_threads();
        for (int first = 0; first < 2; first++) { /* the first of all pairs */
            const int pair = (thread - first) / 2 * 2 + first;
            const bool has_pair = thread >= first && pair + 1 < team;
            if (thread == pair && has_pair)
                atomic_init(&balls[pair].turn, 0);
#pragma omp barrier
            const double ns = has_pair && thread == pair ? serve(&balls[pair]) : 0;
            if (has_pair && thread != pair)
                give_back(&balls[pair]);
#pragma omp critical
            farthest_ns = ns > farthest_ns ? ns : farthest_ns;
        }
    }
    free(balls);
    return farthest_ns;
}
