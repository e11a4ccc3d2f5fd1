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
    bool has_gates; /* recurrent weights: their plain array has the gates first */
};

/* Rank and dimensions; the array belongs to the layout. */
const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank);
dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout);

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout);
dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout);
/* The first `dim` of each dimension. */
dnnl_status_t pdnn_onednn_desc_part(const struct pdnn_onednn_layout *layout, const int64_t *dim,
                                    struct pdnn_onednn_layout *part);
dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout, struct pdnn_onednn_layout *copy);
uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout); /* padding included */
/* Accepts a zeroed layout. */
void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout);

/* The index-th layout of this kind that the primitive has; unchanged if it has none. */
dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout);

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

/* Sets the zero point of SRC. In 3.x the number itself is an argument of the primitive. */
dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point);
extern const bool pdnn_onednn_zero_point_is_argument;
/* The destination times the factor is added. */
dnnl_status_t pdnn_onednn_append_sum(dnnl_post_ops_t post_ops, float factor);
dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, const struct pdnn_onednn_post_op *post);
/* A primitive descriptor to make: the request's own, or that of the forward pass it belongs to. */
struct pdnn_onednn_description {
    dnnl_engine_t engine;
    const struct pdnn_onednn_request *request;
    enum pdnn_pass pass;
    const_dnnl_primitive_attr_t attributes;
    const_dnnl_primitive_desc_t hint; /* descriptor of the forward pass, for a backward one */
    dnnl_primitive_desc_t made;
#if DNNL_VERSION_MAJOR == 2
    dnnl_primitive_desc_iterator_t iterator;
    union {
        dnnl_inner_product_desc_t inner_product;
        dnnl_convolution_desc_t convolution;
        dnnl_matmul_desc_t matmul;
        dnnl_rnn_desc_t rnn;
    } operation;
#endif
};

/* PDNN_DNNL_FORWARD(d, name, ...) and PDNN_DNNL_BACKWARD make the first descriptor of an operation. It has
 * the name and the parameters that it has in 3.x, less those that all operations have. */
#if DNNL_VERSION_MAJOR == 2
typedef const dnnl_memory_desc_t *pdnn_onednn_desc;
#define PDNN_DNNL_DESC(layout) (&(layout)->desc)
#define PDNN_DNNL_FORWARD(d, name, ...)                                                                      \
    pdnn_onednn_describe_first(d, dnnl_##name##_desc_init((void *)&(d)->operation, __VA_ARGS__))
#define PDNN_DNNL_BACKWARD                          PDNN_DNNL_FORWARD
#define dnnl_convolution_forward_desc_init          dnnl_dilated_convolution_forward_desc_init
#define dnnl_convolution_backward_data_desc_init    dnnl_dilated_convolution_backward_data_desc_init
#define dnnl_convolution_backward_weights_desc_init dnnl_dilated_convolution_backward_weights_desc_init
#define dnnl_lstm_forward_desc_init                 dnnl_lstm_forward_desc_init_v3
#define dnnl_lstm_backward_desc_init                dnnl_lstm_backward_desc_init_v3
/* Goes on from the status of filling in the operation. */
dnnl_status_t pdnn_onednn_describe_first(struct pdnn_onednn_description *d, dnnl_status_t status);
#else
typedef const_dnnl_memory_desc_t pdnn_onednn_desc;
#define PDNN_DNNL_DESC(layout) ((layout)->desc)
#define PDNN_DNNL_FORWARD(d, name, ...)                                                                      \
    dnnl_##name##_primitive_desc_create(&(d)->made, (d)->engine, __VA_ARGS__, (d)->attributes)
#define PDNN_DNNL_BACKWARD(d, name, ...)                                                                     \
    dnnl_##name##_primitive_desc_create(&(d)->made, (d)->engine, __VA_ARGS__, (d)->hint, (d)->attributes)
#endif

/* Replaces the descriptor by that of the library's next implementation; dnnl_unimplemented after the last. */
dnnl_status_t pdnn_onednn_describe_next(struct pdnn_onednn_description *d);
void pdnn_onednn_describe_finish(struct pdnn_onednn_description *d);

#endif
