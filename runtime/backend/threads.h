/* The OpenMP pool of this process, shared by the libraries and our kernels. */
#ifndef RUNTIME_BACKEND_THREADS_H
#define RUNTIME_BACKEND_THREADS_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/host/host.h"

#include <stdbool.h>

/* The threads of the pool, by number. {0} has none. */
struct pdnn_thread_team {
    int64_t count;
    uint64_t made; /* which team it is: another number where other threads have taken their places */
    struct pdnn_team_thread {
        int64_t id; /* the kernel's */
        int clock;  /* its CPU time, a clockid_t */
        int unit;   /* the processing unit that it is bound to */
    } * thread;     /* heap */
};
void pdnn_thread_team_finish(struct pdnn_thread_team *team);

/* CPU time of all of them together, about 0.4 us each; 0: one of them has ended. */
uint64_t pdnn_threads_cpu_ns(const struct pdnn_thread_team *team);

/* Sizes the pool, binds thread i to the host's core i regardless of OpenMP's own affinity settings, enables
 * flush-to-zero, and notes who is in the team. PDNN_INVALID when OpenMP gives fewer threads, PDNN_IO when one
 * cannot be bound. */
enum pdnn_status pdnn_threads_set(const struct pdnn_host *host, int64_t threads,
                                  struct pdnn_thread_team *team, struct pdnn_err *err);

/* Lets the calling thread run on these processing units only. False where that cannot be done, as when one
 * has gone offline: it stays where it was. */
bool pdnn_threads_bind(const int *units, int64_t count);

/* Appends the affinity mask of each thread of the pool as the kernel reports it: "{0},{2}", or "{0,1}" for a
 * thread that may run on two processing units. */
void pdnn_threads_places(struct pdnn_str *places);

/* Ends all threads but the first; idle ones would keep spinning. */
void pdnn_threads_rest(void);

#endif
