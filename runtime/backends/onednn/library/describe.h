/* Describes a request's operation in the library's terms. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_DESCRIBE_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_DESCRIBE_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

/* The first implementation that the request accepts. The caller owns the descriptor. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor);

#endif
