/* The environment that a worker starts with. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_ENVIRONMENT_H
#define RUNTIME_DRIVER_WORKER_WORKER_ENVIRONMENT_H

#include "base/arena.h"
#include "runtime/host/host.h"

/* Our own environment, with OpenMP variables as runtime/host/host_openmp.h has them, and with the
 * lines "NAME=value" of `more` replacing variables of the same name. NULL-terminated, in the arena. */
char **pdnn_worker_environment(struct pdnn_arena *arena, const struct pdnn_host *host, const char *more);

#endif
