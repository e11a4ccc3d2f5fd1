/* Which of OpenBLAS's kernels suit a processor. When it is loaded, the library picks them by the name of a
 * processor, its core; one that is newer than the library gets the oldest. */
#ifndef RUNTIME_BACKENDS_OPENBLAS_CORE_H
#define RUNTIME_BACKENDS_OPENBLAS_CORE_H

#include "models/isa.h"
#include "runtime/host/host.h"

#include <stdbool.h>

/* Whether the kernels of the core stay within the isa; those of an unknown core might not. */
bool pdnn_openblas_core_is_within(const char *core, enum pdnn_isa isa);

/* The core to ask for where the library picked `core`: with an isa other than default, one that stays within
 * it; else a better one if `core` is known and older than the processor. NULL: `core` will do. */
const char *pdnn_openblas_core_for(const char *core, const struct pdnn_host *host, enum pdnn_isa isa);

#endif
