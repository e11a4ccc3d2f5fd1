/* library.h, as far as the versions of oneDNN agree. */
#include "runtime/backends/onednn/library/library.h"

#include "runtime/steps/sgemm.h"
#include "runtime/backends/onednn/library/version.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_onednn_library {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

struct pdnn_onednn_primitive {
    dnnl_stream_t stream;             /* the library's */
    dnnl_primitive_desc_t descriptor; /* NULL once it is built */
    dnnl_primitive_t primitive;
    const char *name;                                        /* lives in the descriptor or primitive */
    struct pdnn_onednn_layout layout[PDNN_ONEDNN_ARG_COUNT]; /* as the implementation has them */
    int index[PDNN_ONEDNN_ARG_COUNT];                        /* into args, or -1 */
    int n_args;
    dnnl_exec_arg_t args[PDNN_ONEDNN_ARG_COUNT + 1]; /* and a zero point */
    int32_t zero_point;
};

const char *pdnn_onednn_isa_name(void) {
    for (const struct pdnn_onednn_isa *row = pdnn_onednn_isas; row->name; row++) {
        if (row->isa == dnnl_get_effective_cpu_isa())
            return row->name;
    }
    return "unknown";
}

const char *pdnn_onednn_version(void) {
    static char text[64];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d (%s)", version->major, version->minor, version->patch,
             pdnn_onednn_isa_name());
    return text;
}

enum pdnn_status pdnn_onednn_limit_isa(enum pdnn_isa isa, struct pdnn_err *err) {
    const dnnl_version_t *version = dnnl_version();
    const struct pdnn_onednn_isa *row = pdnn_onednn_isas;
    while (row->name && strcmp(row->name, pdnn_isa_names[isa]) != 0)
        row++;
    if (!row->name)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: oneDNN %d.%d.%d does not know isa=%s",
                         version->major, version->minor, version->patch, pdnn_isa_names[isa]);
    /* It refuses once anything has asked what it may use. */
    if (dnnl_set_max_cpu_isa(row->isa) != dnnl_success || dnnl_get_effective_cpu_isa() != row->isa)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: oneDNN %d.%d.%d does not keep to isa=%s",
                         version->major, version->minor, version->patch, pdnn_isa_names[isa]);
    return PDNN_OK;
}

static const char *const status_names[] = {
    [dnnl_success] = "success",
    [dnnl_out_of_memory] = "out of memory",
    [dnnl_invalid_arguments] = "invalid arguments",
    [dnnl_unimplemented] = "unimplemented",
    [dnnl_runtime_error] = "runtime error",
    [dnnl_not_required] = "not required",
};

static enum pdnn_status fail(struct pdnn_err *err, dnnl_status_t status, const char *what) {
    const dnnl_version_t *version = dnnl_version();
    const char *name = NULL;
    if ((size_t)status < sizeof status_names / sizeof *status_names)
        name = status_names[status];
    enum pdnn_status kind = status == dnnl_unimplemented || status == dnnl_invalid_arguments
                                ? PDNN_UNSUPPORTED
                            : status == dnnl_out_of_memory ? PDNN_NO_MEMORY
                                                           : PDNN_INTERNAL;
    return pdnn_fail(err, kind, "oneDNN %d.%d.%d answers \"%s\" to %s", version->major, version->minor,
                     version->patch, name ? name : "unknown error", what);
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
    [PDNN_INT8] = dnnl_s8, [PDNN_S32] = dnnl_s32,   [PDNN_U8] = dnnl_u8,
};

static dnnl_format_tag_t tag_of(int rank, enum pdnn_onednn_order order) {
    static const dnnl_format_tag_t row_major[] = {dnnl_a,    dnnl_ab,    dnnl_abc,
                                                  dnnl_abcd, dnnl_abcde, dnnl_abcdef};
    static const dnnl_format_tag_t others[PDNN_ONEDNN_ORDER_COUNT] = {
        [PDNN_ONEDNN_COLUMN_MAJOR] = dnnl_ba,   [PDNN_ONEDNN_CHANNELS_LAST] = dnnl_acdb,
        [PDNN_ONEDNN_BLOCKED_8] = dnnl_aBcd8b,  [PDNN_ONEDNN_BLOCKED_16] = dnnl_aBcd16b,
        [PDNN_ONEDNN_GATES_FIRST] = dnnl_ldgoi, [PDNN_ONEDNN_ANY] = dnnl_format_tag_any,
    };
    return order == PDNN_ONEDNN_ROW_MAJOR ? row_major[rank - 1] : others[order];
}

/* The rank that an order is one of; 0: of any. */
static int rank_of(enum pdnn_onednn_order order) {
    static const int ranks[PDNN_ONEDNN_ORDER_COUNT] = {
        [PDNN_ONEDNN_COLUMN_MAJOR] = 2, [PDNN_ONEDNN_CHANNELS_LAST] = 4, [PDNN_ONEDNN_BLOCKED_8] = 4,
        [PDNN_ONEDNN_BLOCKED_16] = 4,   [PDNN_ONEDNN_GATES_FIRST] = 5,
    };
    return ranks[order];
}

enum pdnn_status pdnn_onednn_layout_create(enum pdnn_dtype dtype, int rank, const int64_t *dim,
                                           enum pdnn_onednn_order order, struct pdnn_onednn_layout **layout,
                                           struct pdnn_err *err) {
    assert(rank >= 1 && rank <= PDNN_RANK_MAX && (!rank_of(order) || rank == rank_of(order)));
    struct pdnn_onednn_layout *made = malloc(sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a layout");
    dnnl_status_t status = pdnn_onednn_desc_init(rank, dim, dtypes[dtype], tag_of(rank, order), made);
    if (status != dnnl_success) {
        free(made);
        return fail(err, status, "a layout");
    }
    *layout = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_layout_strided(enum pdnn_dtype dtype, int rank, const int64_t *dim,
                                            const int64_t *stride, struct pdnn_onednn_layout **layout,
                                            struct pdnn_err *err) {
    struct pdnn_onednn_layout *made = malloc(sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a layout");
    dnnl_status_t status = pdnn_onednn_desc_strided(rank, dim, dtypes[dtype], stride, made);
    if (status != dnnl_success) {
        free(made);
        return fail(err, status, "a layout with strides");
    }
    *layout = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_layout_copy(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout **copy, struct pdnn_err *err) {
    struct pdnn_onednn_layout *made = malloc(sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a layout");
    dnnl_status_t status = pdnn_onednn_desc_copy(layout, made);
    if (status != dnnl_success) {
        free(made);
        return fail(err, status, "a layout");
    }
    *copy = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_layout_transpose(struct pdnn_onednn_layout *layout, struct pdnn_err *err) {
    struct pdnn_onednn_layout transposed;
    dnnl_status_t status = pdnn_onednn_desc_transpose(layout, &transposed);
    if (status != dnnl_success)
        return fail(err, status, "a transposed layout");
    pdnn_onednn_desc_finish(layout);
    *layout = transposed;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_layout_plain(const struct pdnn_onednn_layout *layout,
                                          struct pdnn_onednn_layout **plain, struct pdnn_err *err) {
    int rank;
    const dnnl_dim_t *dim = pdnn_onednn_desc_dims(layout, &rank);
    struct pdnn_onednn_layout *made = malloc(sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a layout");
    enum pdnn_onednn_order order = rank == 5 ? PDNN_ONEDNN_GATES_FIRST : PDNN_ONEDNN_ROW_MAJOR;
    dnnl_status_t status =
        pdnn_onednn_desc_init(rank, dim, pdnn_onednn_desc_type(layout), tag_of(rank, order), made);
    if (status != dnnl_success) {
        free(made);
        return fail(err, status, "a layout");
    }
    *plain = made;
    return PDNN_OK;
}

int pdnn_onednn_layout_rank(const struct pdnn_onednn_layout *layout) {
    int rank;
    pdnn_onednn_desc_dims(layout, &rank);
    return rank;
}

void pdnn_onednn_layout_destroy(struct pdnn_onednn_layout *layout) {
    if (!layout)
        return;
    pdnn_onednn_desc_finish(layout);
    free(layout);
}

bool pdnn_onednn_layout_is_open(const struct pdnn_onednn_layout *layout) {
    struct pdnn_onednn_blocking blocking;
    return pdnn_onednn_desc_blocking(layout, &blocking);
}

const char *pdnn_onednn_layout_format(const struct pdnn_onednn_layout *layout,
                                      char buffer[PDNN_ONEDNN_LAYOUT_TEXT]) {
    struct pdnn_onednn_blocking blocking;
    if (!pdnn_onednn_desc_blocking(layout, &blocking)) {
        snprintf(buffer, PDNN_ONEDNN_LAYOUT_TEXT, "packed");
        return buffer;
    }
    int order[DNNL_MAX_NDIMS];
    bool blocked[DNNL_MAX_NDIMS] = {false};
    for (int i = 0; i < blocking.n_blocks; i++)
        blocked[blocking.block_dims[i]] = true;
    for (int i = 0; i < blocking.rank; i++) {
        int at = i;
        for (; at > 0 && blocking.strides[order[at - 1]] < blocking.strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    size_t length = 0;
    for (int i = 0; i < blocking.rank; i++)
        buffer[length++] = (char)((blocked[order[i]] ? 'A' : 'a') + order[i]);
    buffer[length] = '\0';
    for (int i = 0; i < blocking.n_blocks && length < PDNN_ONEDNN_LAYOUT_TEXT; i++)
        length += (size_t)snprintf(buffer + length, PDNN_ONEDNN_LAYOUT_TEXT - length, "%" PRId64 "%c",
                                   blocking.block_sizes[i], (char)('a' + blocking.block_dims[i]));
    return buffer;
}

/* What each argument is called in the pass, and how to ask for its descriptor. */
struct argument {
    int id; /* 0: no such argument */
    dnnl_query_t query;
    int index; /* of the query */
};

/* x, w, b and y, in every pass of what has all of them. */
static const struct argument linear[PDNN_PASS_COUNT][PDNN_ONEDNN_ARG_COUNT] = {
    [PDNN_FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                      {DNNL_ARG_BIAS, dnnl_query_weights_md, 1},
                      {DNNL_ARG_DST, dnnl_query_dst_md, 0}},
    [PDNN_BACKWARD_DATA] = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0},
                            {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                            {0},
                            {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0}},
    [PDNN_BACKWARD_WEIGHTS] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                               {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0},
                               {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1},
                               {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0}},
};

static const struct argument moved[PDNN_ONEDNN_ARG_COUNT] = {
    {DNNL_ARG_SRC, dnnl_query_src_md, 0}, {0}, {0}, {DNNL_ARG_DST, dnnl_query_dst_md, 0}};

static const struct argument recurrent[PDNN_ONEDNN_ARG_COUNT] = {
    [PDNN_ONEDNN_SRC] = {DNNL_ARG_SRC_LAYER, dnnl_query_src_md, 0},
    [PDNN_ONEDNN_WEIGHTS] = {DNNL_ARG_WEIGHTS_LAYER, dnnl_query_weights_md, 0},
    [PDNN_ONEDNN_RECURRENT] = {DNNL_ARG_WEIGHTS_ITER, dnnl_query_weights_md, 1},
    [PDNN_ONEDNN_BIAS] = {DNNL_ARG_BIAS, dnnl_query_weights_md, 2},
    [PDNN_ONEDNN_DST] = {DNNL_ARG_DST_LAYER, dnnl_query_dst_md, 0},
    [PDNN_ONEDNN_WORKSPACE] = {DNNL_ARG_WORKSPACE, dnnl_query_workspace_md, 0},
    [PDNN_ONEDNN_DIFF_SRC] = {DNNL_ARG_DIFF_SRC_LAYER, dnnl_query_diff_src_md, 0},
    [PDNN_ONEDNN_DIFF_WEIGHTS] = {DNNL_ARG_DIFF_WEIGHTS_LAYER, dnnl_query_diff_weights_md, 0},
    [PDNN_ONEDNN_DIFF_RECURRENT] = {DNNL_ARG_DIFF_WEIGHTS_ITER, dnnl_query_diff_weights_md, 1},
    [PDNN_ONEDNN_DIFF_BIAS] = {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 2},
    [PDNN_ONEDNN_DIFF_DST] = {DNNL_ARG_DIFF_DST_LAYER, dnnl_query_diff_dst_md, 0},
    [PDNN_ONEDNN_STATE] = {DNNL_ARG_SRC_ITER, dnnl_query_src_md, 1},
    [PDNN_ONEDNN_STATE_C] = {DNNL_ARG_SRC_ITER_C, dnnl_query_src_md, 2},
    [PDNN_ONEDNN_DIFF_STATE] = {DNNL_ARG_DIFF_SRC_ITER, dnnl_query_diff_src_md, 1},
    [PDNN_ONEDNN_DIFF_STATE_C] = {DNNL_ARG_DIFF_SRC_ITER_C, dnnl_query_diff_src_md, 2},
};

static const struct argument *arguments_of(const struct pdnn_onednn_request *request) {
    if (request->kind == PDNN_ONEDNN_RNN)
        return recurrent;
    return request->kind == PDNN_ONEDNN_REORDER ? moved : linear[request->pass];
}

const dnnl_alg_kind_t pdnn_onednn_functions[PDNN_ONEDNN_POST_COUNT] = {
    [PDNN_ONEDNN_RELU] = dnnl_eltwise_relu,           [PDNN_ONEDNN_SIGMOID] = dnnl_eltwise_logistic,
    [PDNN_ONEDNN_TANH] = dnnl_eltwise_tanh,           [PDNN_ONEDNN_GELU] = dnnl_eltwise_gelu_erf,
    [PDNN_ONEDNN_GELU_TANH] = dnnl_eltwise_gelu_tanh,
};

/* A matrix product is a direct convolution to the library, told apart by the implementation's name. */
const dnnl_alg_kind_t pdnn_onednn_algorithms[PDNN_ALGORITHM_COUNT] = {
    [PDNN_ALGORITHM_AUTO] = dnnl_convolution_auto,
    [PDNN_ALGORITHM_DIRECT] = dnnl_convolution_direct,
    [PDNN_ALGORITHM_WINOGRAD] = dnnl_convolution_winograd,
    [PDNN_ALGORITHM_GEMM] = dnnl_convolution_direct,
};

static const char *name_of(const_dnnl_primitive_desc_t descriptor) {
    const char *name;
    dnnl_status_t status = dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, &name);
    return status == dnnl_success ? name : "";
}

/* oneDNN 2.6's int8 code for 1x1 kernels, which first gathers what a stride leaves, gives results that differ
 * from process to process when more than one thread runs it. */
static bool is_unreliable(const struct pdnn_onednn_request *request, const char *name) {
    bool strides = request->stride[0] > 1 || request->stride[1] > 1;
    return request->kind == PDNN_ONEDNN_CONVOLUTION && strides && strstr(name, "int8_1x1");
}

bool pdnn_onednn_is_wanted(const struct pdnn_onednn_request *request,
                           const_dnnl_primitive_desc_t descriptor) {
    const char *name = name_of(descriptor);
    if (is_unreliable(request, name))
        return false;
    if (request->algorithm == PDNN_ALGORITHM_DIRECT)
        return !strstr(name, "gemm") && !strstr(name, "ref");
    return request->algorithm != PDNN_ALGORITHM_GEMM || strstr(name, "gemm");
}

static dnnl_status_t make_attributes(const struct pdnn_onednn_request *request,
                                     dnnl_primitive_attr_t *attributes) {
    dnnl_post_ops_t posts = NULL;
    const struct pdnn_onednn_layout *scale = request->layout[PDNN_ONEDNN_SCALE];
    bool has_posts = request->n_posts || scale;
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && request->zero_point)
        status = pdnn_onednn_set_zero_point(*attributes, request->zero_point);
    if (status == dnnl_success && has_posts)
        status = dnnl_post_ops_create(&posts);
    if (status == dnnl_success && scale)
        status = pdnn_onednn_append_scale(posts, scale);
    for (int i = 0; status == dnnl_success && i < request->n_posts; i++)
        status = pdnn_onednn_append_post(posts, request->post[i]);
    if (status == dnnl_success && has_posts)
        status = dnnl_primitive_attr_set_post_ops(*attributes, posts);
    if (posts)
        dnnl_post_ops_destroy(posts);
    return status;
}

/* Adds the argument with the layout that the primitive has for it; none of 0 bytes. */
static dnnl_status_t add_argument(struct pdnn_onednn_primitive *primitive, dnnl_engine_t engine,
                                  enum pdnn_onednn_arg arg, int id) {
    const struct pdnn_onednn_layout *layout = &primitive->layout[arg];
    if (!pdnn_onednn_layout_bytes(layout))
        return dnnl_success;
    dnnl_exec_arg_t *slot = &primitive->args[primitive->n_args];
    dnnl_status_t status = pdnn_onednn_desc_memory(layout, engine, &slot->memory);
    if (status != dnnl_success)
        return status;
    slot->arg = id;
    primitive->index[arg] = primitive->n_args++;
    return dnnl_success;
}

/* The first post's. */
static dnnl_status_t add_scale(struct pdnn_onednn_primitive *primitive, dnnl_engine_t engine,
                               const struct pdnn_onednn_request *request) {
    const struct pdnn_onednn_layout *scale = request->layout[PDNN_ONEDNN_SCALE];
    if (!scale)
        return dnnl_success;
    dnnl_status_t status = pdnn_onednn_desc_copy(scale, &primitive->layout[PDNN_ONEDNN_SCALE]);
    if (status != dnnl_success)
        return status;
    return add_argument(primitive, engine, PDNN_ONEDNN_SCALE,
                        DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1);
}

/* Where the library wants it as a tensor, that has its value at once. */
static dnnl_status_t add_zero_point(struct pdnn_onednn_primitive *primitive, dnnl_engine_t engine,
                                    const struct pdnn_onednn_request *request) {
    struct pdnn_onednn_layout one = {0};
    dnnl_exec_arg_t *slot = &primitive->args[primitive->n_args];
    if (!request->zero_point || !pdnn_onednn_zero_point_is_argument)
        return dnnl_success;
    primitive->zero_point = request->zero_point;
    dnnl_status_t status = pdnn_onednn_desc_init(1, (const int64_t[]){1}, dnnl_s32, dnnl_a, &one);
    if (status != dnnl_success)
        return status;
    status = pdnn_onednn_desc_memory(&one, engine, &slot->memory);
    pdnn_onednn_desc_finish(&one);
    if (status != dnnl_success)
        return status;
    slot->arg = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC;
    primitive->n_args++;
    return dnnl_memory_set_data_handle(slot->memory, &primitive->zero_point);
}

static dnnl_status_t add_arguments(struct pdnn_onednn_primitive *primitive, dnnl_engine_t engine,
                                   const struct pdnn_onednn_request *request) {
    const_dnnl_primitive_desc_t descriptor = primitive->descriptor;
    dnnl_status_t status = dnnl_success;
    const struct argument *row = arguments_of(request);
    for (int i = 0; status == dnnl_success && i < PDNN_ONEDNN_ARG_COUNT; i++) {
        bool is_workspace = i == PDNN_ONEDNN_WORKSPACE && request->kind == PDNN_ONEDNN_RNN;
        if ((!request->layout[i] && !is_workspace) || i == PDNN_ONEDNN_SCALE)
            continue;
        assert(row[i].id);
        status = pdnn_onednn_desc_query(descriptor, row[i].query, row[i].index, &primitive->layout[i]);
        if (status == dnnl_success)
            status = add_argument(primitive, engine, (enum pdnn_onednn_arg)i, row[i].id);
    }
    if (status == dnnl_success)
        status = pdnn_onednn_desc_query(descriptor, dnnl_query_scratchpad_md, 0,
                                        &primitive->layout[PDNN_ONEDNN_SCRATCHPAD]);
    if (status == dnnl_success)
        status = add_argument(primitive, engine, PDNN_ONEDNN_SCRATCHPAD, DNNL_ARG_SCRATCHPAD);
    if (status == dnnl_success)
        status = add_scale(primitive, engine, request);
    if (status == dnnl_success)
        status = add_zero_point(primitive, engine, request);
    return status;
}

enum pdnn_status pdnn_onednn_primitive_describe(struct pdnn_onednn_library *library,
                                                const struct pdnn_onednn_request *request,
                                                struct pdnn_onednn_primitive **primitive,
                                                struct pdnn_err *err) {
    dnnl_primitive_attr_t attributes = NULL;
    struct pdnn_onednn_primitive *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a primitive");
    made->stream = library->stream;
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        made->index[i] = -1;
    dnnl_status_t status = make_attributes(request, &attributes);
    if (status == dnnl_success)
        status = pdnn_onednn_describe(library->engine, request, attributes, &made->descriptor);
    if (status == dnnl_success)
        status = add_arguments(made, library->engine, request);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    if (status != dnnl_success) {
        pdnn_onednn_primitive_destroy(made);
        return fail(err, status, "a primitive");
    }
    made->name = name_of(made->descriptor);
    *primitive = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_primitive_build(struct pdnn_onednn_primitive *primitive, struct pdnn_err *err) {
    const_dnnl_primitive_desc_t kept;
    dnnl_status_t status = dnnl_primitive_create(&primitive->primitive, primitive->descriptor);
    if (status == dnnl_success)
        status = dnnl_primitive_get_primitive_desc(primitive->primitive, &kept);
    if (status != dnnl_success)
        return fail(err, status, "a primitive");
    primitive->name = name_of(kept);
    dnnl_primitive_desc_destroy(primitive->descriptor);
    primitive->descriptor = NULL;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_library *library,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive,
                                              struct pdnn_err *err) {
    struct pdnn_onednn_primitive *made = NULL;
    enum pdnn_status status = pdnn_onednn_primitive_describe(library, request, &made, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_build(made, err);
    if (status != PDNN_OK) {
        pdnn_onednn_primitive_destroy(made);
        return status;
    }
    *primitive = made;
    return PDNN_OK;
}

void pdnn_onednn_primitive_destroy(struct pdnn_onednn_primitive *primitive) {
    if (!primitive)
        return;
    for (int i = 0; i < primitive->n_args; i++)
        dnnl_memory_destroy(primitive->args[i].memory);
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        pdnn_onednn_desc_finish(&primitive->layout[i]);
    if (primitive->descriptor)
        dnnl_primitive_desc_destroy(primitive->descriptor);
    if (primitive->primitive)
        dnnl_primitive_destroy(primitive->primitive);
    free(primitive);
}

const char *pdnn_onednn_primitive_name(const struct pdnn_onednn_primitive *primitive) {
    return primitive->name;
}

bool pdnn_onednn_primitive_is_reference(const struct pdnn_onednn_primitive *primitive) {
    return strstr(primitive->name, "ref") != NULL;
}

enum pdnn_status pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                              enum pdnn_onednn_arg arg, struct pdnn_onednn_layout **layout,
                                              struct pdnn_err *err) {
    assert(primitive->index[arg] >= 0);
    return pdnn_onednn_layout_copy(&primitive->layout[arg], layout, err);
}

uint64_t pdnn_onednn_primitive_bytes(const struct pdnn_onednn_primitive *primitive,
                                     enum pdnn_onednn_arg arg) {
    return pdnn_onednn_layout_bytes(&primitive->layout[arg]);
}

uint64_t pdnn_onednn_primitive_scratchpad_bytes(const struct pdnn_onednn_primitive *primitive) {
    return pdnn_onednn_primitive_bytes(primitive, PDNN_ONEDNN_SCRATCHPAD);
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

int pdnn_onednn_sgemm(const struct pdnn_sgemm *gemm) {
    return (int)dnnl_sgemm(gemm->a_transposed ? 'T' : 'N', gemm->b_transposed ? 'T' : 'N', gemm->m, gemm->n,
                           gemm->k, 1, gemm->a, gemm->a_stride, gemm->b, gemm->b_stride,
                           gemm->accumulate ? 1 : 0, gemm->c, gemm->c_stride);
}
