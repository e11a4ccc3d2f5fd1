/* Layouts as the library describes them: structures in 2.x (v2.c), handles in 3.x (v3.c). Private to this
 * directory. A function that returns dnnl_status_t sets its last parameter only on success. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_DESC_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_DESC_H

#include "runtime/backends/onednn/library/layout.h"

#include <dnnl.h>

struct pdnn_onednn_layout {
    dnnl_memory_desc_t desc; /* 2.x: a structure; 3.x: a handle owned by the layout */
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
/* Accepts a zeroed layout. */
void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout);

/* The index-th layout of this kind that the primitive has; empty (0 bytes) if it has none. */
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

#endif
