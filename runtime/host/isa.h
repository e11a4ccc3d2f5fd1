/* Which instruction sets this processor has, to check the run setting `isa` against. */
#ifndef RUNTIME_HOST_ISA_H
#define RUNTIME_HOST_ISA_H

#include "models/isa.h"
#include "runtime/host/host.h"

#include <stdbool.h>

/* Whether the processor has all of it. Always true for PDNN_ISA_DEFAULT. */
bool pdnn_isa_is_here(const struct pdnn_host *host, enum pdnn_isa isa);

/* The last isa in the enum that the processor has; PDNN_ISA_DEFAULT if it has none. */
enum pdnn_isa pdnn_isa_widest(const struct pdnn_host *host);

/* Floats in the widest vector that our kernels may use. 16 for PDNN_ISA_DEFAULT. */
int pdnn_isa_lanes(enum pdnn_isa isa);

#endif
