/* The library's algorithms and implementations: their names, and which of them a request accepts. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_IMPLEMENTATION_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_IMPLEMENTATION_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

/* The library's names for convolution algorithms. */
extern const dnnl_alg_kind_t pdnn_onednn_algorithms[PDNN_ALGORITHM_COUNT];

/* The propagation kind for forward: in training it also saves what the backward passes need. */
dnnl_prop_kind_t pdnn_onednn_forward_prop(const struct pdnn_onednn_request *request);

/* "x64:gemm:jit", or "" if it has no name. The text belongs to the descriptor. */
const char *pdnn_onednn_implementation_name(const_dnnl_primitive_desc_t descriptor);

/* Whether the implementation uses the algorithm that the request asks for and is reliable. */
bool pdnn_onednn_is_wanted(const struct pdnn_onednn_request *request, const_dnnl_primitive_desc_t descriptor);

#endif
