/* What the run setting `isa` means for our own kernels. */
#ifndef RUNTIME_CORE_LIMIT_H
#define RUNTIME_CORE_LIMIT_H

#include "models/isa.h"

/* Once, before anything runs: our own kernels use no wider vectors than that from now on. The loops that
 * measure the roofs are the machine's and know no limit. */
void pdnn_isa_limit_kernels(enum pdnn_isa isa);

#endif
