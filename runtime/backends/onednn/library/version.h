/* What differs between major versions of oneDNN: v2.c is for 2.x, which describes memory and operations with
 * structures, v3.c for 3.x, which uses handles. The build takes one of them. Private to this directory. A
 * function that returns dnnl_status_t sets its last parameter only on success. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H

#include "runtime/backends/onednn/library/layout_desc.h"
#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

/* Names of the instruction sets; the last row has no name. */
struct pdnn_onednn_isa {
    dnnl_cpu_isa_t isa;
    const char *name;
};
extern const struct pdnn_onednn_isa pdnn_onednn_isas[];

/* Appends a multiplication by a tensor with this layout. */
dnnl_status_t pdnn_onednn_append_scale(dnnl_post_ops_t post_ops, const struct pdnn_onednn_layout *layout);
/* Sets the zero point of SRC. In 3.x the number itself is an argument of the primitive. */
dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point);
extern const bool pdnn_onednn_zero_point_is_argument;
dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, enum pdnn_onednn_post_op post);
/* The first implementation that the request accepts. The caller owns the descriptor. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor);

#endif
