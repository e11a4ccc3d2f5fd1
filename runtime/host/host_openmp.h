/* What the variables in the user's environment that libraries read (OMP_*, GOMP_*, KMP_*, ONEDNN_*,
 * OPENBLAS_*, some of HWLOC_*) mean to paradnn. The driver does not link the libraries; workers do, and get
 * their environment from this module. Each variable has a row, which says whether it is
 *
 *   counted    OMP_NUM_THREADS caps `threads: all`, but not an explicit number; OMP_THREAD_LIMIT caps any
 *   passed on  how threads wait, stack sizes, what a library computes or how fast
 *   matched    obeyed if it asks for what happens anyway: one thread a core, as many as requested
 *   dropped    workers do not see it: what would slow them down, or what a run setting says
 *   granted    what a scheduler gave a job (SLURM_CPUS_PER_TASK, NSLOTS), and may not bind it to: caps
 *              `threads: all` too, and stays in every environment
 *
 * The affinity mask (taskset, numactl, the batch system) selects the cores, not these variables. */
#ifndef RUNTIME_HOST_HOST_OPENMP_H
#define RUNTIME_HOST_HOST_OPENMP_H

#include "base/str.h"

#include <stdbool.h>

/* The least of OMP_NUM_THREADS and what a scheduler granted, and OMP_THREAD_LIMIT; 0 if not set. variables:
 * like environ. */
void pdnn_openmp_counts(char *const *variables, int64_t *num_threads, int64_t *thread_limit);

/* Whether "NAME=value" is a variable that a library reads. */
bool pdnn_openmp_is_variable(const char *variable);

/* Whether a worker gets the user's "NAME=value", such a variable, unchanged. */
bool pdnn_openmp_is_passed(const char *variable);

/* Whether it is passed on and changes what is computed or how fast. */
bool pdnn_openmp_is_setting(const char *variable);

/* Appends "NAME=value NAME=value" of the variables that are obeyed, and likewise of those
 * that are overridden; grants are among them. */
void pdnn_openmp_sort(char *const *variables, struct pdnn_str *obeyed, struct pdnn_str *overridden);

/* Appends the same for people: "obeyed NAME=value; overridden NAME=value, since ...", or nothing. */
void pdnn_openmp_tell(char *const *variables, struct pdnn_str *out);

#endif
