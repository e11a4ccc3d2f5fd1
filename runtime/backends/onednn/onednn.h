/* The backend `onednn`: dense and convolution passes, products of heads and recurrent layers run
 * as oneDNN primitives with fused post-ops if that is fastest; what oneDNN lacks or does slower
 * runs on our own kernels. */
#ifndef RUNTIME_BACKENDS_ONEDNN_ONEDNN_H
#define RUNTIME_BACKENDS_ONEDNN_ONEDNN_H

#include "runtime/backend/backend.h"

extern const struct pdnn_backend_def pdnn_backend_onednn;

#endif
