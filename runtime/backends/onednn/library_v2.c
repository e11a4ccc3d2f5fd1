/* library.h for oneDNN 2.x, whose operation and memory descriptors are structures. */
#include "runtime/backends/onednn/library.h"

#include <assert.h>
#include <dnnl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_onednn_library {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

struct pdnn_onednn_layout {
    dnnl_memory_desc_t desc;
};

struct pdnn_onednn_primitive {
    dnnl_stream_t stream; /* the library's */
    dnnl_primitive_t primitive;
    const char *name;                               /* lives in the primitive */
    dnnl_memory_desc_t desc[PDNN_ONEDNN_ARG_COUNT]; /* as the implementation has them */
    int index[PDNN_ONEDNN_ARG_COUNT];               /* into args, or -1 */
    int n_args;
    dnnl_exec_arg_t args[PDNN_ONEDNN_ARG_COUNT];
};

union operation {
    dnnl_inner_product_desc_t inner_product;
    dnnl_matmul_desc_t matmul;
    dnnl_eltwise_desc_t eltwise;
    dnnl_binary_desc_t binary;
};

static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
} isas[] = {
    {dnnl_cpu_isa_all, "all"},
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
};

const char *pdnn_onednn_version(void) {
    static char text[64];
    const dnnl_version_t *version = dnnl_version();
    const char *isa = "unknown";
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (isas[i].isa == dnnl_get_effective_cpu_isa())
            isa = isas[i].name;
    }
    snprintf(text, sizeof text, "oneDNN %d.%d.%d (%s)", version->major, version->minor, version->patch, isa);
    return text;
}

static const char *const status_names[] = {
    [dnnl_success] = "success",
    [dnnl_out_of_memory] = "out of memory",
    [dnnl_invalid_arguments] = "invalid arguments",
    [dnnl_unimplemented] = "unimplemented",
    [dnnl_iterator_ends] = "iterator ends",
    [dnnl_runtime_error] = "runtime error",
    [dnnl_not_required] = "not required",
};

static enum pdnn_status fail(struct pdnn_err *err, dnnl_status_t status, const char *what) {
    const dnnl_version_t *version = dnnl_version();
    enum pdnn_status kind = status == dnnl_unimplemented || status == dnnl_invalid_arguments
                                ? PDNN_UNSUPPORTED
                            : status == dnnl_out_of_memory ? PDNN_NO_MEMORY
                                                           : PDNN_INTERNAL;
    return pdnn_fail(err, kind, "oneDNN %d.%d.%d answers \"%s\" to %s", version->major, version->minor,
                     version->patch, status_names[status], what);
}

enum pdnn_status pdnn_onednn_library_create(struct pdnn_onednn_library **library, struct pdnn_err *err) {
    struct pdnn_onednn_library *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a backend");
    dnnl_status_t status = dnnl_engine_create(&made->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&made->stream, made->engine, dnnl_stream_in_order);
    if (status != dnnl_success) {
        pdnn_onednn_library_destroy(made);
        return fail(err, status, "an engine");
    }
    *library = made;
    return PDNN_OK;
}

void pdnn_onednn_library_destroy(struct pdnn_onednn_library *library) {
    if (!library)
        return;
    if (library->stream)
        dnnl_stream_destroy(library->stream);
    if (library->engine)
        dnnl_engine_destroy(library->engine);
    free(library);
}

static const dnnl_data_type_t dtypes[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = dnnl_f32, [PDNN_BF16] = dnnl_bf16, [PDNN_F16] = dnnl_f16,
    [PDNN_INT8] = dnnl_s8, [PDNN_S32] = dnnl_s32,
};

static dnnl_format_tag_t tag_of(int rank, enum pdnn_onednn_order order) {
    static const dnnl_format_tag_t row_major[] = {dnnl_a,    dnnl_ab,    dnnl_abc,
                                                  dnnl_abcd, dnnl_abcde, dnnl_abcdef};
    if (order == PDNN_ONEDNN_ANY)
        return dnnl_format_tag_any;
    return order == PDNN_ONEDNN_COLUMN_MAJOR ? dnnl_ba : row_major[rank - 1];
}

static enum pdnn_status new_layout(const dnnl_memory_desc_t *desc, struct pdnn_onednn_layout **layout,
                                   struct pdnn_err *err) {
    struct pdnn_onednn_layout *made = malloc(sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a layout");
    made->desc = *desc;
    *layout = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_layout_create(enum pdnn_dtype dtype, int rank, const int64_t *dim,
                                           enum pdnn_onednn_order order, struct pdnn_onednn_layout **layout,
                                           struct pdnn_err *err) {
    assert(rank >= 1 && rank <= PDNN_RANK_MAX && (order != PDNN_ONEDNN_COLUMN_MAJOR || rank == 2));
    dnnl_memory_desc_t desc;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&desc, rank, dim, dtypes[dtype], tag_of(rank, order));
    return status == dnnl_success ? new_layout(&desc, layout, err) : fail(err, status, "a layout");
}

enum pdnn_status pdnn_onednn_layout_copy(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout **copy, struct pdnn_err *err) {
    return new_layout(&layout->desc, copy, err);
}

enum pdnn_status pdnn_onednn_layout_transpose(struct pdnn_onednn_layout *layout, struct pdnn_err *err) {
    dnnl_memory_desc_t desc;
    dnnl_status_t status = dnnl_memory_desc_permute_axes(&desc, &layout->desc, (int[]){1, 0});
    if (status != dnnl_success)
        return fail(err, status, "a transposed layout");
    layout->desc = desc;
    return PDNN_OK;
}

void pdnn_onednn_layout_destroy(struct pdnn_onednn_layout *layout) {
    free(layout);
}

bool pdnn_onednn_layout_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b) {
    return dnnl_memory_desc_equal(&a->desc, &b->desc);
}

uint64_t pdnn_onednn_layout_bytes(const struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_get_size(&layout->desc);
}

const char *pdnn_onednn_layout_format(const struct pdnn_onednn_layout *layout,
                                      char buffer[PDNN_ONEDNN_LAYOUT_TEXT]) {
    const dnnl_memory_desc_t *desc = &layout->desc;
    const dnnl_blocking_desc_t *blocking = &desc->format_desc.blocking;
    if (desc->format_kind != dnnl_blocked) {
        snprintf(buffer, PDNN_ONEDNN_LAYOUT_TEXT, "packed");
        return buffer;
    }
    int order[DNNL_MAX_NDIMS];
    bool blocked[DNNL_MAX_NDIMS] = {false};
    for (int i = 0; i < blocking->inner_nblks; i++)
        blocked[blocking->inner_idxs[i]] = true;
    for (int i = 0; i < desc->ndims; i++) {
        int at = i;
        for (; at > 0 && blocking->strides[order[at - 1]] < blocking->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    size_t length = 0;
    for (int i = 0; i < desc->ndims; i++)
        buffer[length++] = (char)((blocked[order[i]] ? 'A' : 'a') + order[i]);
    buffer[length] = '\0';
    for (int i = 0; i < blocking->inner_nblks && length < PDNN_ONEDNN_LAYOUT_TEXT; i++)
        length += (size_t)snprintf(buffer + length, PDNN_ONEDNN_LAYOUT_TEXT - length, "%" PRId64 "%c",
                                   blocking->inner_blks[i], (char)('a' + blocking->inner_idxs[i]));
    return buffer;
}

/* What each argument is called in the pass, and how to ask for its descriptor. */
struct argument {
    int id; /* 0: no such argument */
    dnnl_query_t query;
};

static const struct argument arguments[PDNN_ONEDNN_KIND_COUNT][PDNN_PASS_COUNT][PDNN_ONEDNN_ARG_COUNT] =
    {
        [PDNN_ONEDNN_INNER_PRODUCT] =
            {
                [PDNN_FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md},
                                  {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                  {DNNL_ARG_BIAS, dnnl_query_weights_md},
                                  {DNNL_ARG_DST, dnnl_query_dst_md}},
                [PDNN_BACKWARD_DATA] = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md},
                                        {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                        {0},
                                        {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}},
                [PDNN_BACKWARD_WEIGHTS] = {{DNNL_ARG_SRC, dnnl_query_src_md},
                                           {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md},
                                           {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md},
                                           {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}},
            },
        [PDNN_ONEDNN_MATMUL] = {[PDNN_FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md},
                                                  {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                                  {DNNL_ARG_BIAS, dnnl_query_weights_md},
                                                  {DNNL_ARG_DST, dnnl_query_dst_md}}},
        [PDNN_ONEDNN_ELTWISE] =
            {
                [PDNN_FORWARD] =
                    {{DNNL_ARG_SRC, dnnl_query_src_md}, {0}, {0}, {DNNL_ARG_DST, dnnl_query_dst_md}},
                [PDNN_BACKWARD_DATA] = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md},
                                        {DNNL_ARG_DST, dnnl_query_dst_md},
                                        {0},
                                        {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}},
            },
        [PDNN_ONEDNN_ADD] = {[PDNN_FORWARD] = {{DNNL_ARG_SRC_0, dnnl_query_src_md},
                                               {DNNL_ARG_SRC_1, dnnl_query_src_md},
                                               {0},
                                               {DNNL_ARG_DST, dnnl_query_dst_md}}},
        [PDNN_ONEDNN_REORDER] = {[PDNN_FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md},
                                                   {0},
                                                   {0},
                                                   {DNNL_ARG_DST, dnnl_query_dst_md}}},
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

static dnnl_status_t describe_matmul(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                     union operation *operation) {
    (void)pass;
    return dnnl_matmul_desc_init(&operation->matmul, desc_of(request, PDNN_ONEDNN_SRC),
                                 desc_of(request, PDNN_ONEDNN_WEIGHTS), desc_of(request, PDNN_ONEDNN_BIAS),
                                 desc_of(request, PDNN_ONEDNN_DST));
}

static const dnnl_alg_kind_t functions[PDNN_ONEDNN_FUNCTION_COUNT] = {
    [PDNN_ONEDNN_RELU] = dnnl_eltwise_relu_use_dst_for_bwd,
    [PDNN_ONEDNN_SIGMOID] = dnnl_eltwise_logistic_use_dst_for_bwd,
    [PDNN_ONEDNN_TANH] = dnnl_eltwise_tanh_use_dst_for_bwd,
};

static dnnl_status_t describe_eltwise(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                      union operation *operation) {
    const dnnl_memory_desc_t *data = desc_of(request, PDNN_ONEDNN_DST);
    dnnl_alg_kind_t function = functions[request->function];
    if (pass == PDNN_BACKWARD_DATA)
        return dnnl_eltwise_backward_desc_init(&operation->eltwise, function, data, data, 0, 0);
    return dnnl_eltwise_forward_desc_init(&operation->eltwise, dnnl_forward_training, function, data, 0, 0);
}

static dnnl_status_t describe_add(const struct pdnn_onednn_request *request, enum pdnn_pass pass,
                                  union operation *operation) {
    (void)pass;
    return dnnl_binary_desc_init(&operation->binary, dnnl_binary_add, desc_of(request, PDNN_ONEDNN_SRC),
                                 desc_of(request, PDNN_ONEDNN_WEIGHTS), desc_of(request, PDNN_ONEDNN_DST));
}

static dnnl_status_t (*const describe[PDNN_ONEDNN_KIND_COUNT])(const struct pdnn_onednn_request *request,
                                                               enum pdnn_pass pass,
                                                               union operation *operation) = {
    [PDNN_ONEDNN_INNER_PRODUCT] = describe_inner_product,
    [PDNN_ONEDNN_MATMUL] = describe_matmul,
    [PDNN_ONEDNN_ELTWISE] = describe_eltwise,
    [PDNN_ONEDNN_ADD] = describe_add,
};

static dnnl_status_t make_attributes(const struct pdnn_onednn_request *request,
                                     dnnl_primitive_attr_t *attributes) {
    dnnl_post_ops_t posts = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && request->n_posts)
        status = dnnl_post_ops_create(&posts);
    for (int i = 0; status == dnnl_success && i < request->n_posts; i++)
        status = dnnl_post_ops_append_eltwise(posts, 1, functions[request->post[i]], 0, 0);
    if (status == dnnl_success && request->n_posts)
        status = dnnl_primitive_attr_set_post_ops(*attributes, posts);
    if (posts)
        dnnl_post_ops_destroy(posts);
    return status;
}

/* A backward primitive is described beside the forward one it belongs to. */
static dnnl_status_t make_descriptor(struct pdnn_onednn_library *library,
                                     const struct pdnn_onednn_request *request,
                                     dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor) {
    union operation operation;
    dnnl_primitive_desc_t hint = NULL;
    if (request->kind == PDNN_ONEDNN_REORDER)
        return dnnl_reorder_primitive_desc_create(descriptor, desc_of(request, PDNN_ONEDNN_SRC),
                                                  library->engine, desc_of(request, PDNN_ONEDNN_DST),
                                                  library->engine, attributes);
    dnnl_status_t status = dnnl_success;
    if (request->pass != PDNN_FORWARD) {
        status = describe[request->kind](request, PDNN_FORWARD, &operation);
        if (status == dnnl_success)
            status = dnnl_primitive_desc_create(&hint, &operation, NULL, library->engine, NULL);
    }
    if (status == dnnl_success)
        status = describe[request->kind](request, request->pass, &operation);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(descriptor, &operation, attributes, library->engine, hint);
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}

static dnnl_status_t add_argument(struct pdnn_onednn_library *library,
                                  struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg, int id,
                                  const dnnl_memory_desc_t *desc) {
    primitive->desc[arg] = *desc;
    dnnl_exec_arg_t *slot = &primitive->args[primitive->n_args];
    dnnl_status_t status = dnnl_memory_create(&slot->memory, desc, library->engine, DNNL_MEMORY_NONE);
    if (status != dnnl_success)
        return status;
    slot->arg = id;
    primitive->index[arg] = primitive->n_args++;
    return dnnl_success;
}

static dnnl_status_t add_arguments(struct pdnn_onednn_library *library,
                                   const struct pdnn_onednn_request *request,
                                   dnnl_primitive_desc_t descriptor,
                                   struct pdnn_onednn_primitive *primitive) {
    dnnl_status_t status = dnnl_success;
    const struct argument *row = arguments[request->kind][request->pass];
    for (int i = 0; status == dnnl_success && i < PDNN_ONEDNN_SCRATCHPAD; i++) {
        if (!request->layout[i])
            continue;
        assert(row[i].id);
        bool second = i == PDNN_ONEDNN_BIAS || row[i].id == DNNL_ARG_SRC_1;
        const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(descriptor, row[i].query, second);
        status = add_argument(library, primitive, (enum pdnn_onednn_arg)i, row[i].id, desc);
    }
    const dnnl_memory_desc_t *scratchpad =
        dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
    if (status == dnnl_success && scratchpad && dnnl_memory_desc_get_size(scratchpad))
        status = add_argument(library, primitive, PDNN_ONEDNN_SCRATCHPAD, DNNL_ARG_SCRATCHPAD, scratchpad);
    return status;
}

enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_library *library,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive,
                                              struct pdnn_err *err) {
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t descriptor = NULL;
    const_dnnl_primitive_desc_t kept;
    struct pdnn_onednn_primitive *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a primitive");
    made->stream = library->stream;
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        made->index[i] = -1;
    dnnl_status_t status = make_attributes(request, &attributes);
    if (status == dnnl_success)
        status = make_descriptor(library, request, attributes, &descriptor);
    if (status == dnnl_success)
        status = add_arguments(library, request, descriptor, made);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&made->primitive, descriptor);
    if (status == dnnl_success)
        status = dnnl_primitive_get_primitive_desc(made->primitive, &kept);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_query(kept, dnnl_query_impl_info_str, 0, &made->name);
    if (descriptor)
        dnnl_primitive_desc_destroy(descriptor);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    if (status != dnnl_success) {
        pdnn_onednn_primitive_destroy(made);
        return fail(err, status, "a primitive");
    }
    *primitive = made;
    return PDNN_OK;
}

void pdnn_onednn_primitive_destroy(struct pdnn_onednn_primitive *primitive) {
    if (!primitive)
        return;
    for (int i = 0; i < primitive->n_args; i++)
        dnnl_memory_destroy(primitive->args[i].memory);
    if (primitive->primitive)
        dnnl_primitive_destroy(primitive->primitive);
    free(primitive);
}

const char *pdnn_onednn_primitive_name(const struct pdnn_onednn_primitive *primitive) {
    return primitive->name;
}

enum pdnn_status pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                              enum pdnn_onednn_arg arg, struct pdnn_onednn_layout **layout,
                                              struct pdnn_err *err) {
    assert(primitive->index[arg] >= 0);
    return new_layout(&primitive->desc[arg], layout, err);
}

uint64_t pdnn_onednn_primitive_scratchpad_bytes(const struct pdnn_onednn_primitive *primitive) {
    return primitive->index[PDNN_ONEDNN_SCRATCHPAD] < 0
               ? 0
               : dnnl_memory_desc_get_size(&primitive->desc[PDNN_ONEDNN_SCRATCHPAD]);
}

enum pdnn_status pdnn_onednn_primitive_bind(struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg,
                                            void *address, struct pdnn_err *err) {
    assert(primitive->index[arg] >= 0);
    dnnl_status_t status =
        dnnl_memory_set_data_handle(primitive->args[primitive->index[arg]].memory, address);
    return status == dnnl_success ? PDNN_OK : fail(err, status, "an address");
}

int pdnn_onednn_primitive_run(const struct pdnn_onednn_primitive *primitive) {
    return (int)dnnl_primitive_execute(primitive->primitive, primitive->stream, primitive->n_args,
                                       primitive->args);
}
