/* Instruction sets of this processor, against which the run setting `isa` is held. */
#ifndef RUNTIME_FACTS_ISA_H
#define RUNTIME_FACTS_ISA_H

#include "models/isa.h"
#include "runtime/facts/host.h"

#include <stdbool.h>

/* Whether the processor has all of it. Of PDNN_ISA_DEFAULT: true. */
bool pdnn_isa_is_here(const struct pdnn_host *host, enum pdnn_isa isa);

/* The last one that the processor has; PDNN_ISA_DEFAULT where it has none of them. */
enum pdnn_isa pdnn_isa_widest(const struct pdnn_host *host);

/* Floats in the widest vector that a kernel of ours may use. Of PDNN_ISA_DEFAULT: 16. */
int pdnn_isa_lanes(enum pdnn_isa isa);

#endif
