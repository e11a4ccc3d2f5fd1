/* version.h for oneDNN 3.x: memory descriptors are handles with queries, and one call makes a primitive
 * descriptor from them and the attributes. */
#include "runtime/backends/onednn/library/version.h"

#include "runtime/backends/onednn/library/implementation.h"

#include <string.h>

const struct pdnn_onednn_isa pdnn_onednn_isas[] = {
    {dnnl_cpu_isa_default, "default"},
#if defined(__aarch64__)
    /* Arm's have no names in the header; the library counts them with the values of x86's. */
    {dnnl_cpu_isa_sse41, "asimd"},
    {dnnl_cpu_isa_avx, "sve_128"},
    {dnnl_cpu_isa_avx2, "sve_256"},
    {dnnl_cpu_isa_avx2_vnni, "sve_384"},
    {dnnl_cpu_isa_avx512_core, "sve_512"},
#else
    {dnnl_cpu_isa_sse41, "sse41"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx2_vnni_2, "avx2_vnni_2"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_fp16, "avx512_core_fp16"},
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
    {dnnl_cpu_isa_avx512_core_amx_fp16, "avx512_core_amx_fp16"},
#endif
    {0, NULL},
};

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_create_with_tag(&layout->desc, rank, dim, type, tag);
}

dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_create_with_strides(&layout->desc, rank, dim, type, stride);
}

dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout,
                                    struct pdnn_onednn_layout *copy) {
    return dnnl_memory_desc_clone(&copy->desc, layout->desc);
}

dnnl_status_t pdnn_onednn_desc_transpose(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout *transposed) {
    return dnnl_memory_desc_permute_axes(&transposed->desc, layout->desc, (int[]){1, 0});
}

void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout) {
    if (layout->desc)
        dnnl_memory_desc_destroy(layout->desc);
}

bool pdnn_onednn_desc_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b) {
    return dnnl_memory_desc_equal(a->desc, b->desc);
}

uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout) {
    return layout->desc ? dnnl_memory_desc_get_size(layout->desc) : 0;
}

dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout) {
    const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(descriptor, what, index);
    return desc ? dnnl_memory_desc_clone(&layout->desc, desc) : dnnl_success;
}

dnnl_status_t pdnn_onednn_desc_memory(const struct pdnn_onednn_layout *layout, dnnl_engine_t engine,
                                      dnnl_memory_t *memory) {
    return dnnl_memory_create(memory, layout->desc, engine, DNNL_MEMORY_NONE);
}

static const dnnl_dim_t *query_dims(const struct pdnn_onednn_layout *layout, dnnl_query_t what) {
    const dnnl_dims_t *dims;
    return dnnl_memory_desc_query(layout->desc, what, &dims) == dnnl_success ? *dims : NULL;
}

bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking) {
    dnnl_format_kind_t kind;
    if (dnnl_memory_desc_query(layout->desc, dnnl_query_format_kind, &kind) != dnnl_success ||
        kind != dnnl_blocked ||
        dnnl_memory_desc_query(layout->desc, dnnl_query_ndims_s32, &blocking->rank) != dnnl_success ||
        dnnl_memory_desc_query(layout->desc, dnnl_query_inner_nblks_s32, &blocking->n_blocks) != dnnl_success)
        return false;
    blocking->strides = query_dims(layout, dnnl_query_strides);
    blocking->block_dims = query_dims(layout, dnnl_query_inner_idxs);
    blocking->block_sizes = query_dims(layout, dnnl_query_inner_blks);
    return blocking->strides && blocking->block_dims && blocking->block_sizes;
}

const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank) {
    *rank = 0;
    dnnl_memory_desc_query(layout->desc, dnnl_query_ndims_s32, rank);
    return query_dims(layout, dnnl_query_dims);
}

dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout) {
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_memory_desc_query(layout->desc, dnnl_query_data_type, &type);
    return type;
}

dnnl_status_t pdnn_onednn_append_scale(dnnl_post_ops_t post_ops, const struct pdnn_onednn_layout *layout) {
    return dnnl_post_ops_append_binary(post_ops, dnnl_binary_mul, layout->desc);
}

const bool pdnn_onednn_zero_point_is_argument = true;

dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point) {
    (void)zero_point;
    return dnnl_primitive_attr_set_zero_points_mask(attributes, DNNL_ARG_SRC, 0);
}

dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, enum pdnn_onednn_post_op post) {
    if (post == PDNN_ONEDNN_SUM)
        return dnnl_post_ops_append_sum(post_ops, 1, 0, dnnl_data_type_undef);
    return dnnl_post_ops_append_eltwise(post_ops, pdnn_onednn_functions[post], 0, 0);
}

/* A primitive descriptor to make: the request's own, or that of the forward pass it belongs to. */
struct description {
    dnnl_engine_t engine;
    const struct pdnn_onednn_request *request;
    enum pdnn_pass pass;
    const_dnnl_primitive_attr_t attributes;
    const_dnnl_primitive_desc_t hint; /* descriptor of the forward pass, for a backward one */
};

static const_dnnl_memory_desc_t desc_of(const struct description *d, enum pdnn_onednn_arg arg) {
    return d->request->layout[arg] ? d->request->layout[arg]->desc : NULL;
}

static dnnl_status_t describe_inner_product(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const_dnnl_memory_desc_t src = desc_of(d, PDNN_ONEDNN_SRC), dst = desc_of(d, PDNN_ONEDNN_DST);
    const_dnnl_memory_desc_t weights = desc_of(d, PDNN_ONEDNN_WEIGHTS), bias = desc_of(d, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = d->request->pass == PDNN_FORWARD ? dnnl_forward_inference : dnnl_forward_training;
    if (d->pass == PDNN_BACKWARD_DATA)
        return dnnl_inner_product_backward_data_primitive_desc_create(descriptor, d->engine, src, weights,
                                                                      dst, d->hint, d->attributes);
    if (d->pass == PDNN_BACKWARD_WEIGHTS)
        return dnnl_inner_product_backward_weights_primitive_desc_create(descriptor, d->engine, src, weights,
                                                                         bias, dst, d->hint, d->attributes);
    return dnnl_inner_product_forward_primitive_desc_create(descriptor, d->engine, prop, src, weights, bias,
                                                            dst, d->attributes);
}

static dnnl_status_t describe_convolution(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const_dnnl_memory_desc_t src = desc_of(d, PDNN_ONEDNN_SRC), dst = desc_of(d, PDNN_ONEDNN_DST);
    const_dnnl_memory_desc_t weights = desc_of(d, PDNN_ONEDNN_WEIGHTS), bias = desc_of(d, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = pdnn_onednn_forward_prop(d->request);
    dnnl_alg_kind_t algorithm = pdnn_onednn_algorithms[d->request->algorithm];
    const dnnl_dims_t stride = {d->request->stride[0], d->request->stride[1]};
    const dnnl_dims_t padding = {d->request->padding[0], d->request->padding[1]};
    if (d->pass == PDNN_BACKWARD_DATA)
        return dnnl_convolution_backward_data_primitive_desc_create(descriptor, d->engine, algorithm, src,
                                                                    weights, dst, stride, NULL, padding,
                                                                    padding, d->hint, d->attributes);
    if (d->pass == PDNN_BACKWARD_WEIGHTS)
        return dnnl_convolution_backward_weights_primitive_desc_create(
            descriptor, d->engine, algorithm, src, weights, bias, dst, stride, NULL, padding, padding,
            d->hint, d->attributes);
    return dnnl_convolution_forward_primitive_desc_create(descriptor, d->engine, prop, algorithm, src,
                                                          weights, bias, dst, stride, NULL, padding, padding,
                                                          d->attributes);
}

static dnnl_status_t describe_matmul(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    return dnnl_matmul_primitive_desc_create(descriptor, d->engine, desc_of(d, PDNN_ONEDNN_SRC),
                                             desc_of(d, PDNN_ONEDNN_WEIGHTS), desc_of(d, PDNN_ONEDNN_BIAS),
                                             desc_of(d, PDNN_ONEDNN_DST), d->attributes);
}

static dnnl_status_t describe_reorder(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    return dnnl_reorder_primitive_desc_create(descriptor, desc_of(d, PDNN_ONEDNN_SRC), d->engine,
                                              desc_of(d, PDNN_ONEDNN_DST), d->engine, d->attributes);
}

/* One layer in one direction. */
struct recurrent {
    dnnl_prop_kind_t prop;
    dnnl_rnn_direction_t direction;
    const_dnnl_memory_desc_t x, w, u, b, y;
    const_dnnl_memory_desc_t dx, dw, du, db, dy;
    const_dnnl_memory_desc_t h, c, dh, dc; /* state before the first step */
};

static struct recurrent recurrent_of(const struct description *d) {
    return (struct recurrent){
        .prop = d->pass == PDNN_FORWARD ? pdnn_onednn_forward_prop(d->request) : dnnl_backward,
        .direction = d->request->is_reverse ? dnnl_unidirectional_right2left : dnnl_unidirectional_left2right,
        .x = desc_of(d, PDNN_ONEDNN_SRC),
        .w = desc_of(d, PDNN_ONEDNN_WEIGHTS),
        .u = desc_of(d, PDNN_ONEDNN_RECURRENT),
        .b = desc_of(d, PDNN_ONEDNN_BIAS),
        .y = desc_of(d, PDNN_ONEDNN_DST),
        .dx = desc_of(d, PDNN_ONEDNN_DIFF_SRC),
        .dw = desc_of(d, PDNN_ONEDNN_DIFF_WEIGHTS),
        .du = desc_of(d, PDNN_ONEDNN_DIFF_RECURRENT),
        .db = desc_of(d, PDNN_ONEDNN_DIFF_BIAS),
        .dy = desc_of(d, PDNN_ONEDNN_DIFF_DST),
        .h = desc_of(d, PDNN_ONEDNN_STATE),
        .c = desc_of(d, PDNN_ONEDNN_STATE_C),
        .dh = desc_of(d, PDNN_ONEDNN_DIFF_STATE),
        .dc = desc_of(d, PDNN_ONEDNN_DIFF_STATE_C),
    };
}

static dnnl_status_t describe_rnn(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return dnnl_vanilla_rnn_backward_primitive_desc_create(
            descriptor, d->engine, r.prop, dnnl_eltwise_tanh, r.direction, r.x, r.h, r.w, r.u, r.b, r.y, NULL,
            r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0, 0, 0, d->hint, d->attributes);
    return dnnl_vanilla_rnn_forward_primitive_desc_create(descriptor, d->engine, r.prop, dnnl_eltwise_tanh,
                                                          r.direction, r.x, r.h, r.w, r.u, r.b, r.y, NULL, 0,
                                                          0, 0, d->attributes);
}

static dnnl_status_t describe_lstm(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return dnnl_lstm_backward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x, r.h,
                                                        r.c, r.w, r.u, NULL, NULL, r.b, r.y, NULL, NULL, r.dx,
                                                        r.dh, r.dc, r.dw, r.du, NULL, NULL, r.db, r.dy, NULL,
                                                        NULL, 0, d->hint, d->attributes);
    return dnnl_lstm_forward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x, r.h, r.c,
                                                   r.w, r.u, NULL, NULL, r.b, r.y, NULL, NULL, 0,
                                                   d->attributes);
}

static dnnl_status_t describe_gru(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return dnnl_gru_backward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x, r.h,
                                                       r.w, r.u, r.b, r.y, NULL, r.dx, r.dh, r.dw, r.du, r.db,
                                                       r.dy, NULL, 0, d->hint, d->attributes);
    return dnnl_gru_forward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x, r.h, r.w,
                                                  r.u, r.b, r.y, NULL, 0, d->attributes);
}

static dnnl_status_t describe_lbr_gru(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return dnnl_lbr_gru_backward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x,
                                                           r.h, r.w, r.u, r.b, r.y, NULL, r.dx, r.dh, r.dw,
                                                           r.du, r.db, r.dy, NULL, 0, d->hint, d->attributes);
    return dnnl_lbr_gru_forward_primitive_desc_create(descriptor, d->engine, r.prop, r.direction, r.x, r.h,
                                                      r.w, r.u, r.b, r.y, NULL, 0, d->attributes);
}

static dnnl_status_t describe_recurrent(const struct description *d, dnnl_primitive_desc_t *descriptor) {
    static dnnl_status_t (*const cells[PDNN_CELL_COUNT])(const struct description *d,
                                                         dnnl_primitive_desc_t *descriptor) = {
        [PDNN_CELL_RNN] = describe_rnn,
        [PDNN_CELL_LSTM] = describe_lstm,
        [PDNN_CELL_GRU] = describe_gru,
        [PDNN_CELL_LBR_GRU] = describe_lbr_gru};
    return cells[d->request->cell](d, descriptor);
}

static dnnl_status_t (*const describe[PDNN_ONEDNN_KIND_COUNT])(const struct description *d,
                                                               dnnl_primitive_desc_t *descriptor) = {
    [PDNN_ONEDNN_INNER_PRODUCT] = describe_inner_product,
    [PDNN_ONEDNN_CONVOLUTION] = describe_convolution,
    [PDNN_ONEDNN_MATMUL] = describe_matmul,
    [PDNN_ONEDNN_REORDER] = describe_reorder,
    [PDNN_ONEDNN_RNN] = describe_recurrent,
};

/* oneDNN 3.7's AVX-512 code gives wrong results for batched products of a single row if
 * operands have strides. */
static bool is_wrong_matmul(const struct pdnn_onednn_request *request, const_dnnl_primitive_desc_t found) {
    int rank;
    if (request->kind != PDNN_ONEDNN_MATMUL ||
        !strstr(pdnn_onednn_implementation_name(found), "brg_matmul:avx512"))
        return false;
    const dnnl_dim_t *dim = pdnn_onednn_desc_dims(request->layout[PDNN_ONEDNN_DST], &rank);
    return rank > 2 && dim[rank - 2] == 1;
}

/* Advances the descriptor to the first implementation that the request accepts, or destroys it. */
static dnnl_status_t find_implementation(const struct pdnn_onednn_request *request,
                                         dnnl_primitive_desc_t *descriptor) {
    dnnl_status_t status = dnnl_success;
    while (status == dnnl_success &&
           (!pdnn_onednn_is_wanted(request, *descriptor) || is_wrong_matmul(request, *descriptor)))
        status = dnnl_primitive_desc_next_impl(*descriptor);
    if (status == dnnl_success)
        return status;
    dnnl_primitive_desc_destroy(*descriptor);
    *descriptor = NULL;
    return status == dnnl_last_impl_reached ? dnnl_unimplemented : status;
}

/* A backward primitive needs the description of the forward one it belongs to. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor) {
    struct description forward = {.engine = engine, .request = request, .pass = PDNN_FORWARD};
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t status = dnnl_success;
    if (request->pass != PDNN_FORWARD)
        status = describe[request->kind](&forward, &hint);
    if (status == dnnl_success) {
        const struct description d = {engine, request, request->pass, attributes, hint};
        status = describe[request->kind](&d, descriptor);
        if (status == dnnl_success)
            status = find_implementation(request, descriptor);
    }
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}
