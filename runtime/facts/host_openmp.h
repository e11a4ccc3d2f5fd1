/* What the variables of OpenMP runtimes (OMP_*, GOMP_*, KMP_*) in the user's environment mean here. The
 * driver links no such runtime; workers do, and are told what this module says:
 *
 *   OMP_NUM_THREADS    what `threads: all` is at most; an explicit number of threads is not bound by it
 *   OMP_THREAD_LIMIT   what any number of threads is at most
 *   OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME, stack sizes, what displays settings: passed on
 *   OMP_PLACES, OMP_PROC_BIND, OMP_DYNAMIC, OMP_NESTED, OMP_MAX_ACTIVE_LEVELS: obeyed where they ask for what
 *                      happens anyway: every thread on a core of its own, as many as asked for
 *   all others (GOMP_CPU_AFFINITY, KMP_AFFINITY, ...) overridden: workers do not see them
 *
 * Cores are chosen by the affinity mask (taskset, numactl, the batch system), not by these variables. */
#ifndef RUNTIME_FACTS_HOST_OPENMP_H
#define RUNTIME_FACTS_HOST_OPENMP_H

#include "base/str.h"
#include "runtime/facts/host.h"

#include <stdbool.h>

/* The two counts; 0 where there is none. variables: as environ. */
void pdnn_openmp_counts(char *const *variables, int64_t *num_threads, int64_t *thread_limit);

/* Whether "NAME=value" is one of theirs. */
bool pdnn_openmp_is_variable(const char *variable);

/* Whether a worker gets the user's "NAME=value", which is one of theirs, as it is. */
bool pdnn_openmp_is_passed(const char *variable);

/* Appends the index-th "NAME=value" that a worker is told by us; false, and nothing, after the last. */
bool pdnn_openmp_setting(size_t index, const struct pdnn_host *host, char *const *variables,
                         struct pdnn_str *out);

/* Appends those of the variables that are obeyed, and those that are not: "NAME=value NAME=value". */
void pdnn_openmp_sort(char *const *variables, struct pdnn_str *obeyed, struct pdnn_str *overridden);

#endif
