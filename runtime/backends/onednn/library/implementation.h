/* The library's algorithms and implementations: what they are called, and which of them a request takes. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_IMPLEMENTATION_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_IMPLEMENTATION_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

/* The library's name of each post-op that is a function, and of each way to convolve. */
extern const dnnl_alg_kind_t pdnn_onednn_functions[PDNN_ONEDNN_POST_OP_COUNT];
extern const dnnl_alg_kind_t pdnn_onednn_algorithms[PDNN_ALGORITHM_COUNT];

/* What forward is asked for: in training it leaves what backward passes need. */
dnnl_prop_kind_t pdnn_onednn_forward_prop(const struct pdnn_onednn_request *request);

/* "x64:gemm:jit", or "" where it has no name; the descriptor's. */
const char *pdnn_onednn_implementation_name(const_dnnl_primitive_desc_t descriptor);

/* Whether the implementation is of the kind that the request's algorithm means, and reliable. */
bool pdnn_onednn_is_wanted(const struct pdnn_onednn_request *request, const_dnnl_primitive_desc_t descriptor);

#endif
