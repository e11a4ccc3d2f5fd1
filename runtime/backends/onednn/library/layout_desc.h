/* Layouts as the library describes them: in 2.x by structures (v2.c), in 3.x by handles (v3.c). For this
 * directory only. A function that returns dnnl_status_t sets its last parameter only on success. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_DESC_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_DESC_H

#include "runtime/backends/onednn/library/layout.h"

#include <dnnl.h>

struct pdnn_onednn_layout {
    dnnl_memory_desc_t desc; /* 2.x: a structure; 3.x: a handle that the layout owns */
};

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

#endif
