/* version.h for oneDNN 2.x, whose operation and memory descriptors are structures. */
#include "runtime/backends/onednn/library/version.h"

#include "runtime/backends/onednn/library/implementation.h"

#include <string.h>

const struct pdnn_onednn_isa pdnn_onednn_isas[] = {
    {dnnl_cpu_isa_all, "all"},
#if defined(__aarch64__)
    /* Arm's have no names in the header; the library counts them with the values of x86's. */
    {dnnl_cpu_isa_sse41, "asimd"},
    {dnnl_cpu_isa_avx, "sve_128"},
    {dnnl_cpu_isa_avx2, "sve_256"},
    {dnnl_cpu_isa_avx512_mic, "sve_384"},
    {dnnl_cpu_isa_avx512_mic_4ops, "sve_512"},
#else
    {dnnl_cpu_isa_sse41, "sse41"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx512_mic, "avx512_mic"},
    {dnnl_cpu_isa_avx512_mic_4ops, "avx512_mic_4ops"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
#endif
    {0, NULL},
};

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_init_by_tag(&layout->desc, rank, dim, type, tag);
}

dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_init_by_strides(&layout->desc, rank, dim, type, stride);
}

dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout,
                                    struct pdnn_onednn_layout *copy) {
    copy->desc = layout->desc;
    return dnnl_success;
}

dnnl_status_t pdnn_onednn_desc_transpose(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout *transposed) {
    return dnnl_memory_desc_permute_axes(&transposed->desc, &layout->desc, (int[]){1, 0});
}

void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout) {
    (void)layout;
}

bool pdnn_onednn_desc_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b) {
    return dnnl_memory_desc_equal(&a->desc, &b->desc);
}

uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_get_size(&layout->desc);
}

dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout) {
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(descriptor, what, index);
    if (desc)
        layout->desc = *desc;
    return dnnl_success;
}

dnnl_status_t pdnn_onednn_desc_memory(const struct pdnn_onednn_layout *layout, dnnl_engine_t engine,
                                      dnnl_memory_t *memory) {
    return dnnl_memory_create(memory, &layout->desc, engine, DNNL_MEMORY_NONE);
}

bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking) {
    const dnnl_blocking_desc_t *described = &layout->desc.format_desc.blocking;
    if (layout->desc.format_kind != dnnl_blocked)
        return false;
    *blocking = (struct pdnn_onednn_blocking){
        .rank = layout->desc.ndims,
        .n_blocks = described->inner_nblks,
        .strides = described->strides,
        .block_dims = described->inner_idxs,
        .block_sizes = described->inner_blks,
    };
    return true;
}

const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank) {
    *rank = layout->desc.ndims;
    return layout->desc.dims;
}

dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout) {
    return layout->desc.data_type;
}

dnnl_status_t pdnn_onednn_append_scale(dnnl_post_ops_t post_ops, const struct pdnn_onednn_layout *layout) {
    return dnnl_post_ops_append_binary(post_ops, dnnl_binary_mul, &layout->desc);
}

const bool pdnn_onednn_zero_point_is_argument = false;

dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point) {
    return dnnl_primitive_attr_set_zero_points(attributes, DNNL_ARG_SRC, 1, 0, &zero_point);
}

dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, enum pdnn_onednn_post_op post) {
    if (post == PDNN_ONEDNN_SUM)
        return dnnl_post_ops_append_sum(post_ops, 1);
    return dnnl_post_ops_append_eltwise(post_ops, 1, pdnn_onednn_functions[post], 0, 0);
}

union operation {
    dnnl_inner_product_desc_t inner_product;
    dnnl_convolution_desc_t convolution;
    dnnl_matmul_desc_t matmul;
    dnnl_rnn_desc_t rnn;
};

static const dnnl_memory_desc_t *desc_of(const struct pdnn_onednn_request *request,
                                         enum pdnn_onednn_arg arg) {
    return request->layout[arg] ? &request->layout[arg]->desc : NULL;
}

static dnnl_status_t describe_inner_product(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                            union operation *operation) {
    const dnnl_memory_desc_t *src = desc_of(request, PDNN_ONEDNN_SRC),
                             *dst = desc_of(request, PDNN_ONEDNN_DST);
    const dnnl_memory_desc_t *weights = desc_of(request, PDNN_ONEDNN_WEIGHTS);
    const dnnl_memory_desc_t *bias = desc_of(request, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = request->pass == PDNN_FORWARD ? dnnl_forward_inference : dnnl_forward_training;
    if (pass == PDNN_BACKWARD_DATA)
        return dnnl_inner_product_backward_data_desc_init(&operation->inner_product, src, weights, dst);
    if (pass == PDNN_BACKWARD_WEIGHTS)
        return dnnl_inner_product_backward_weights_desc_init(&operation->inner_product, src, weights, bias,
                                                             dst);
    return dnnl_inner_product_forward_desc_init(&operation->inner_product, prop, src, weights, bias, dst);
}

static dnnl_status_t describe_convolution(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                          union operation *operation) {
    const dnnl_memory_desc_t *src = desc_of(request, PDNN_ONEDNN_SRC),
                             *dst = desc_of(request, PDNN_ONEDNN_DST);
    const dnnl_memory_desc_t *weights = desc_of(request, PDNN_ONEDNN_WEIGHTS);
    const dnnl_memory_desc_t *bias = desc_of(request, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = pdnn_onednn_forward_prop(request);
    dnnl_alg_kind_t algorithm = pdnn_onednn_algorithms[request->algorithm];
    const dnnl_dims_t stride = {request->stride[0], request->stride[1]};
    const dnnl_dims_t padding = {request->padding[0], request->padding[1]};
    if (pass == PDNN_BACKWARD_DATA)
        return dnnl_convolution_backward_data_desc_init(&operation->convolution, algorithm, src, weights, dst,
                                                        stride, padding, padding);
    if (pass == PDNN_BACKWARD_WEIGHTS)
        return dnnl_convolution_backward_weights_desc_init(&operation->convolution, algorithm, src, weights,
                                                           bias, dst, stride, padding, padding);
    return dnnl_convolution_forward_desc_init(&operation->convolution, prop, algorithm, src, weights, bias,
                                              dst, stride, padding, padding);
}

static dnnl_status_t describe_matmul(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                     union operation *operation) {
    (void)pass;
    return dnnl_matmul_desc_init(&operation->matmul, desc_of(request, PDNN_ONEDNN_SRC),
                                 desc_of(request, PDNN_ONEDNN_WEIGHTS), desc_of(request, PDNN_ONEDNN_BIAS),
                                 desc_of(request, PDNN_ONEDNN_DST));
}

/* One layer in one direction. */
struct recurrent {
    dnnl_prop_kind_t prop;
    dnnl_rnn_direction_t direction;
    const dnnl_memory_desc_t *x, *w, *u, *b, *y;
    const dnnl_memory_desc_t *dx, *dw, *du, *db, *dy;
    const dnnl_memory_desc_t *h, *c, *dh, *dc; /* state before the first step */
};

static struct recurrent recurrent_of(const struct pdnn_onednn_request *request, enum pdnn_pass pass) {
    return (struct recurrent){
        .prop = pass == PDNN_FORWARD ? pdnn_onednn_forward_prop(request) : dnnl_backward,
        .direction = request->is_reverse ? dnnl_unidirectional_right2left : dnnl_unidirectional_left2right,
        .x = desc_of(request, PDNN_ONEDNN_SRC),
        .w = desc_of(request, PDNN_ONEDNN_WEIGHTS),
        .u = desc_of(request, PDNN_ONEDNN_RECURRENT),
        .b = desc_of(request, PDNN_ONEDNN_BIAS),
        .y = desc_of(request, PDNN_ONEDNN_DST),
        .dx = desc_of(request, PDNN_ONEDNN_DIFF_SRC),
        .dw = desc_of(request, PDNN_ONEDNN_DIFF_WEIGHTS),
        .du = desc_of(request, PDNN_ONEDNN_DIFF_RECURRENT),
        .db = desc_of(request, PDNN_ONEDNN_DIFF_BIAS),
        .dy = desc_of(request, PDNN_ONEDNN_DIFF_DST),
        .h = desc_of(request, PDNN_ONEDNN_STATE),
        .c = desc_of(request, PDNN_ONEDNN_STATE_C),
        .dh = desc_of(request, PDNN_ONEDNN_DIFF_STATE),
        .dc = desc_of(request, PDNN_ONEDNN_DIFF_STATE_C),
    };
}

static dnnl_status_t describe_rnn(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                  union operation *operation) {
    const struct recurrent r = recurrent_of(request, pass);
    if (pass != PDNN_FORWARD)
        return dnnl_vanilla_rnn_backward_desc_init(&operation->rnn, r.prop, dnnl_eltwise_tanh, r.direction,
                                                   r.x, r.h, r.w, r.u, r.b, r.y, NULL, r.dx, r.dh, r.dw, r.du,
                                                   r.db, r.dy, NULL, 0, 0, 0);
    return dnnl_vanilla_rnn_forward_desc_init(&operation->rnn, r.prop, dnnl_eltwise_tanh, r.direction, r.x,
                                              r.h, r.w, r.u, r.b, r.y, NULL, 0, 0, 0);
}

static dnnl_status_t describe_lstm(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                   union operation *operation) {
    const struct recurrent r = recurrent_of(request, pass);
    if (pass != PDNN_FORWARD)
        return dnnl_lstm_backward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.c, r.w, r.u,
                                            r.b, r.y, NULL, NULL, r.dx, r.dh, r.dc, r.dw, r.du, r.db, r.dy,
                                            NULL, NULL, 0);
    return dnnl_lstm_forward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.c, r.w, r.u, r.b,
                                       r.y, NULL, NULL, 0);
}

static dnnl_status_t describe_gru(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                  union operation *operation) {
    const struct recurrent r = recurrent_of(request, pass);
    if (pass != PDNN_FORWARD)
        return dnnl_gru_backward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y,
                                           NULL, r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0);
    return dnnl_gru_forward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y,
                                      NULL, 0);
}

static dnnl_status_t describe_lbr_gru(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                      union operation *operation) {
    const struct recurrent r = recurrent_of(request, pass);
    if (pass != PDNN_FORWARD)
        return dnnl_lbr_gru_backward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b,
                                               r.y, NULL, r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0);
    return dnnl_lbr_gru_forward_desc_init(&operation->rnn, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y,
                                          NULL, 0);
}

static dnnl_status_t describe_recurrent(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                        union operation *operation) {
    static dnnl_status_t (*const cells[PDNN_CELL_COUNT])(const struct pdnn_onednn_request *request,
                                                         enum pdnn_pass pass, union operation *operation) = {
        [PDNN_CELL_RNN] = describe_rnn,
        [PDNN_CELL_LSTM] = describe_lstm,
        [PDNN_CELL_GRU] = describe_gru,
        [PDNN_CELL_LBR_GRU] = describe_lbr_gru};
    return cells[request->cell](request, pass, operation);
}

static dnnl_status_t (*const describe[PDNN_ONEDNN_KIND_COUNT])(const struct pdnn_onednn_request *request,
                                                               enum pdnn_pass pass,
                                                               union operation *operation) = {
    [PDNN_ONEDNN_INNER_PRODUCT] = describe_inner_product,
    [PDNN_ONEDNN_CONVOLUTION] = describe_convolution,
    [PDNN_ONEDNN_MATMUL] = describe_matmul,
    [PDNN_ONEDNN_RNN] = describe_recurrent,
};

/* The library's first implementation of the operation that the request accepts. */
static dnnl_status_t find_implementation(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                         const union operation *operation,
                                         const_dnnl_primitive_attr_t attributes,
                                         const_dnnl_primitive_desc_t hint,
                                         dnnl_primitive_desc_t *descriptor) {
    dnnl_primitive_desc_iterator_t iterator = NULL;
    dnnl_status_t status =
        dnnl_primitive_desc_iterator_create(&iterator, operation, attributes, engine, hint);
    while (status == dnnl_success) {
        dnnl_primitive_desc_t found = dnnl_primitive_desc_iterator_fetch(iterator);
        if (!found)
            status = dnnl_out_of_memory;
        else if (pdnn_onednn_is_wanted(request, found)) {
            *descriptor = found;
            break;
        } else {
            dnnl_primitive_desc_destroy(found);
            status = dnnl_primitive_desc_iterator_next(iterator);
        }
    }
    if (iterator)
        dnnl_primitive_desc_iterator_destroy(iterator);
    return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
}

/* A backward primitive needs the description of the forward one it belongs to. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor) {
    union operation operation;
    dnnl_primitive_desc_t hint = NULL;
    if (request->kind == PDNN_ONEDNN_REORDER)
        return dnnl_reorder_primitive_desc_create(descriptor, desc_of(request, PDNN_ONEDNN_SRC), engine,
                                                  desc_of(request, PDNN_ONEDNN_DST), engine, attributes);
    dnnl_status_t status = dnnl_success;
    if (request->pass != PDNN_FORWARD) {
        status = describe[request->kind](request, PDNN_FORWARD, &operation);
        if (status == dnnl_success)
            status = dnnl_primitive_desc_create(&hint, &operation, NULL, engine, NULL);
    }
    if (status == dnnl_success)
        status = describe[request->kind](request, request->pass, &operation);
    if (status == dnnl_success)
        status = find_implementation(engine, request, &operation, attributes, hint, descriptor);
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}
