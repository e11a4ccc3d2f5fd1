/* Instruction sets of this processor, against which the run setting `isa` is held. */
#ifndef RUNTIME_CORE_ISA_H
#define RUNTIME_CORE_ISA_H

#include "models/isa.h"
#include "runtime/core/host.h"

#include <stdbool.h>

/* Whether the processor has all of it. Of PDNN_ISA_DEFAULT: true. */
bool pdnn_isa_is_here(const struct pdnn_host *host, enum pdnn_isa isa);

/* The last one that the processor has; PDNN_ISA_DEFAULT where it has none of them. */
enum pdnn_isa pdnn_isa_widest(const struct pdnn_host *host);

/* Once, before anything runs: our own kernels that choose when they run (tiles of products) use no more than
 * that. Not those that the loader has chosen before (runtime/kernels/simd/clones.h), nor the loops that
 * measure the roofs. */
void pdnn_isa_limit_kernels(enum pdnn_isa isa);

#endif
