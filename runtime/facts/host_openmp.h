/* What OpenMP variables (OMP_*, GOMP_*, KMP_*) in the user's environment mean to paradnn. The driver does not
 * link an OpenMP runtime; workers do, and get their environment from this module:
 *
 *   OMP_NUM_THREADS    caps `threads: all`, but not an explicit number of threads
 *   OMP_THREAD_LIMIT   caps any number of threads
 *   OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME, stack sizes, display settings: passed on
 *   OMP_PLACES, OMP_PROC_BIND, OMP_DYNAMIC, OMP_NESTED, OMP_MAX_ACTIVE_LEVELS: obeyed if they ask for what
 *                      happens anyway: one thread per core, exactly the requested number of threads
 *   all others         overridden (GOMP_CPU_AFFINITY, KMP_AFFINITY, ...): workers do not see them
 *
 * The affinity mask (taskset, numactl, the batch system) selects the cores, not these variables. */
#ifndef RUNTIME_FACTS_HOST_OPENMP_H
#define RUNTIME_FACTS_HOST_OPENMP_H

#include "base/str.h"
#include "runtime/facts/host.h"

#include <stdbool.h>

/* The values of OMP_NUM_THREADS and OMP_THREAD_LIMIT; 0 if not set. variables: like environ. */
void pdnn_openmp_counts(char *const *variables, int64_t *num_threads, int64_t *thread_limit);

/* Whether "NAME=value" is an OpenMP variable. */
bool pdnn_openmp_is_variable(const char *variable);

/* Whether a worker gets the user's "NAME=value", an OpenMP variable, unchanged. */
bool pdnn_openmp_is_passed(const char *variable);

/* Appends the index-th "NAME=value" that paradnn itself sets for a worker. Past the last one it returns false
 * and appends nothing. */
bool pdnn_openmp_setting(size_t index, const struct pdnn_host *host, char *const *variables,
                         struct pdnn_str *out);

/* Appends "NAME=value NAME=value" of the variables that are obeyed, and likewise of those
 * that are overridden. */
void pdnn_openmp_sort(char *const *variables, struct pdnn_str *obeyed, struct pdnn_str *overridden);

#endif
