/* What the run setting `isa` means for our own kernels. */
#ifndef RUNTIME_CORE_LIMIT_H
#define RUNTIME_CORE_LIMIT_H

#include "models/isa.h"

/* Once, before anything runs: our own kernels that choose when they run (tiles of products) use no more than
 * that. Not those that the loader has chosen before (runtime/kernels/simd/clones.h), nor the loops that
 * measure the roofs. */
void pdnn_isa_limit_kernels(enum pdnn_isa isa);

#endif
