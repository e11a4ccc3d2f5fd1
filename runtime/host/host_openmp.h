/* What the variables in the user's environment that libraries read (OMP_*, GOMP_*, KMP_*, ONEDNN_*,
 * OPENBLAS_*, some of HWLOC_*), or that decide which code is loaded and how memory is allocated (LD_PRELOAD,
 * LD_LIBRARY_PATH, GLIBC_TUNABLES, MALLOC_*), mean to paradnn. The driver does not link the libraries;
 * workers do, and get their environment from this module. Each variable has a row, which says whether it is
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

/* The index-th of these in our spelling, without those that pdnn_host_setting has, and its value; "" if it is
 * not set, or if a library ignores it. ignored: lines "NAME=value", which a worker knows. */
bool pdnn_openmp_setting(size_t index, char *const *variables, const char *ignored, const char **name,
                         const char **value);

/* The backend whose library alone reads the variable; NULL: it concerns all. */
const char *pdnn_openmp_library(const char *variable);

/* Appends "NAME=value NAME=value" of the variables that are obeyed, and likewise of those
 * that are overridden or ignored; grants are among them. */
void pdnn_openmp_sort(char *const *variables, const char *ignored, struct pdnn_str *obeyed,
                      struct pdnn_str *overridden);

/* Appends the same for people: "obeyed NAME=value; overridden NAME=value, since ...", or nothing. Variables
 * of libraries whose backends are not among these are left out. NULL: none is. */
void pdnn_openmp_tell(char *const *variables, const char *ignored, const char *const *backends,
                      struct pdnn_str *out);

#endif
