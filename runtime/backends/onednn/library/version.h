/* What differs between major versions of oneDNN: v2.c is for 2.x, which describes memory and operations with
 * structures, v3.c for 3.x, which uses handles. The build takes one of them. Private to this directory. A
 * function that returns dnnl_status_t sets its last parameter only on success. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_VERSION_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

/* A layout as the library describes it, and the one that its pool got before it. */
struct pdnn_onednn_layout {
    dnnl_memory_desc_t desc; /* 2.x: a structure; 3.x: a handle owned by the layout */
    struct pdnn_onednn_layout *before;
};

/* Rank and dimensions; the array belongs to the layout. */
const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank);
dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout);

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout);
dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout);
dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout, struct pdnn_onednn_layout *copy);
dnnl_status_t pdnn_onednn_desc_transpose(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout *transposed);
bool pdnn_onednn_desc_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b);
uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout); /* padding included */
/* Accepts a zeroed layout. */
void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout);

/* The index-th layout of this kind that the primitive has; unchanged if it has none. */
dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout);
/* Creates a memory object without an address. */
dnnl_status_t pdnn_onednn_desc_memory(const struct pdnn_onednn_layout *layout, dnnl_engine_t engine,
                                      dnnl_memory_t *memory);

/* Where the elements of a layout lie: strides of the outer dimensions, then the inner blocks, outermost
 * first. The arrays belong to the layout. */
struct pdnn_onednn_blocking {
    int rank, n_blocks;
    const dnnl_dim_t *strides;
    const dnnl_dim_t *block_dims, *block_sizes;
};
/* False if the layout is opaque. */
bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking);

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
