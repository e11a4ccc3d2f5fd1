/* How much of its cores' time this process had while samples ran: CPU time over wall time and threads. On a
 * quiet machine it is 0.93 to 1.03, beside one other busy program on two cores 0.70 to 0.76, beside two 0.45
 * to 0.56. Counting context switches cannot tell these apart: the kernel's own threads cause some on a quiet
 * machine too. */
#ifndef RUNTIME_BACKEND_CORE_SHARE_H
#define RUNTIME_BACKEND_CORE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_core_share {
    uint64_t cpu_ns, wall_ns;       /* so far */
    uint64_t cpu_begin, wall_begin; /* of what runs now */
    uint64_t lost_ns;               /* wall time in which the process hardly ran */
};

void pdnn_core_share_begin(struct pdnn_core_share *share);

/* Adds what passed since the beginning, less the time that its threads slept, waiting for data. False, with
 * the time added to lost_ns alone, if the process hardly ran: it was stopped, and what was timed is no
 * sample.
 */
bool pdnn_core_share_end(struct pdnn_core_share *share, uint64_t waited_ns);

/* The same from known times. */
bool pdnn_core_share_add(struct pdnn_core_share *share, uint64_t cpu_ns, uint64_t wall_ns);

/* Whether other programs had a part of the cores. threads: that a step keeps busy; 0: not known, and then
 * nothing can be told. */
bool pdnn_core_share_is_low(const struct pdnn_core_share *share, int64_t threads);

/* The number of threads for that: 0 if idle threads sleep (OMP_WAIT_POLICY=passive). */
int64_t pdnn_core_share_threads(int64_t threads);

#endif
