/* What differs between major versions of oneDNN: v2.c is for 2.x, which describes memory and operations by
 * structures, v3.c for 3.x, which does so by handles. The build takes one of them. For this directory only. A
 * function that returns dnnl_status_t sets its last parameter only on success. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

struct pdnn_onednn_layout {
    dnnl_memory_desc_t desc; /* 2.x: a structure; 3.x: a handle that the layout owns */
};

/* The names of the instruction sets, to a row without a name. */
struct pdnn_onednn_isa {
    dnnl_cpu_isa_t isa;
    const char *name;
};
extern const struct pdnn_onednn_isa pdnn_onednn_isas[];

/* Rank and dimensions; the array is the layout's. */
const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank);
dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout);

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout);
dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout);
dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout, struct pdnn_onednn_layout *copy);
dnnl_status_t pdnn_onednn_desc_transpose(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout *transposed);
/* Takes zeroed ones. */
void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout);

/* The index-th layout of what the primitive has; empty (0 bytes) when it has none. */
dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout);
/* Without an address. */
dnnl_status_t pdnn_onednn_desc_memory(const struct pdnn_onednn_layout *layout, dnnl_engine_t engine,
                                      dnnl_memory_t *memory);

/* Where the elements of a layout lie: strides of the outer dimensions, then the inner blocks from the
 * outermost one. The arrays are the layout's. */
struct pdnn_onednn_blocking {
    int rank, n_blocks;
    const dnnl_dim_t *strides;
    const dnnl_dim_t *block_dims, *block_sizes;
};
/* False: the library keeps it to itself. */
bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking);

/* Multiplication with a tensor of the layout. */
dnnl_status_t pdnn_onednn_append_scale(dnnl_post_ops_t post_ops, const struct pdnn_onednn_layout *layout);
/* SRC's zero point. In 3.x the number itself is an argument of the primitive. */
dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point);
extern const bool pdnn_onednn_zero_point_is_argument;
dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, enum pdnn_onednn_post_op post);
/* The first implementation that the request wants. The descriptor is the caller's. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor);

#endif
