/* The environment that a worker starts with. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_ENVIRONMENT_H
#define RUNTIME_DRIVER_WORKER_ENVIRONMENT_H

#include "base/arena.h"
#include "runtime/facts/host.h"

/* Our own, with what runtime/facts/host_openmp.h says of OpenMP's variables, and with the lines "NAME=value"
 * of `more` in the place of what there is of those names. NULL-terminated, in the arena; NULL: out of memory.
 */
char **pdnn_worker_environment(struct pdnn_arena *arena, const struct pdnn_host *host, const char *more);

#endif
