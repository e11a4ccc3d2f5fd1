/* Applies the run setting `isa` to our own kernels. */
#ifndef RUNTIME_BACKEND_LIMIT_H
#define RUNTIME_BACKEND_LIMIT_H

#include "models/isa.h"

/* Call once, before anything runs. From then on our kernels use vectors no wider than the isa allows. The
 * loops that measure roofs ignore the limit: they describe the machine. */
void pdnn_isa_limit_kernels(enum pdnn_isa isa);

#endif
