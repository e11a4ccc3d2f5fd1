/* How much of their cores' time this process's threads had: the threads' own clocks over wall time and
 * threads. The process's clock cannot tell it: the kernel brings the other threads' parts of that up to date
 * at its ticks only, every few ms. On a quiet machine the share is 0.9 to 1, beside one other busy program on
 * two cores 0.70 to 0.76, beside two 0.45 to 0.56. Counting context switches cannot tell these apart: the
 * kernel's own threads cause some on a quiet machine too.
 *
 * Beside it, whether the process was stopped meanwhile, which its own clock tells well enough. */
#ifndef RUNTIME_BACKEND_CORE_SHARE_H
#define RUNTIME_BACKEND_CORE_SHARE_H

#include "runtime/backend/threads.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_core_share {
    const struct pdnn_thread_team *team; /* whose clocks are read; NULL: they are added by the caller */
    uint64_t cpu_ns, wall_ns;            /* so far, where the clocks could be read */
    uint64_t cpu_begin, wall_begin;      /* of what runs now */
};

void pdnn_core_share_begin(struct pdnn_core_share *share);

/* Adds what passed since the beginning. */
void pdnn_core_share_end(struct pdnn_core_share *share);

/* The share of so many threads; 0: not known, as it is without time, or for 0 threads. */
double pdnn_core_share_of(const struct pdnn_core_share *share, int64_t threads);

/* Whether a share is known, and so low that other programs had a part of the cores. */
bool pdnn_core_share_is_low(double share);

/* The number of threads for that: 0 if idle threads sleep (OMP_WAIT_POLICY=passive). */
int64_t pdnn_core_share_threads(int64_t threads);

/* {0} is at its beginning. */
struct pdnn_stops {
    uint64_t cpu_begin, wall_begin; /* of what runs now */
    uint64_t lost_ns;               /* wall time in which the process hardly ran */
};

void pdnn_stops_begin(struct pdnn_stops *stops);

/* Whether the process hardly ran since the beginning, less the time that its threads slept, waiting for data:
 * it was stopped (Ctrl-Z, a gang scheduler), and what was timed is no sample. That time is then lost. */
bool pdnn_stops_end(struct pdnn_stops *stops, uint64_t waited_ns);

/* The same from known times. */
bool pdnn_stops_add(struct pdnn_stops *stops, uint64_t cpu_ns, uint64_t wall_ns);

#endif
