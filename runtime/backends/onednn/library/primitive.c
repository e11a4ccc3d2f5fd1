#include "runtime/backends/onednn/library/primitive.h"

#include "base/memory.h"
#include "runtime/backends/onednn/library/arguments.h"
#include "runtime/backends/onednn/library/describe.h"
#include "runtime/backends/onednn/library/dnnl.h"
#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/padding.h"
#include "runtime/backends/onednn/library/version.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_TEXT = 48 };

struct pdnn_onednn_primitive {
    dnnl_stream_t stream;             /* belongs to the library */
    dnnl_primitive_desc_t descriptor; /* NULL once the primitive is built */
    dnnl_primitive_t primitive;
    char name[NAME_TEXT]; /* "onednn:" and the library's name */
    /* as the implementation wants them, or NULL */
    const struct pdnn_onednn_layout *layout[PDNN_ONEDNN_ARG_COUNT];
    int index[PDNN_ONEDNN_ARG_COUNT]; /* into args, or -1 */
    int n_args;
    dnnl_exec_arg_t args[PDNN_ONEDNN_ARG_COUNT + 1]; /* and a zero point */
    int32_t zero_point;
    dnnl_status_t bound; /* the first failure to bind */
    bool adds_to_zeros;  /* DST is filled with zeros first */
};

static void set_name(struct pdnn_onednn_primitive *primitive, const_dnnl_primitive_desc_t descriptor) {
    snprintf(primitive->name, sizeof primitive->name, "onednn:%s",
             pdnn_onednn_implementation_name(descriptor));
}

static dnnl_status_t make_attributes(const struct pdnn_onednn_request *request, bool adds_to_zeros,
                                     dnnl_primitive_attr_t *attributes) {
    dnnl_post_ops_t post_ops = NULL;
    const struct pdnn_onednn_layout *scale = request->layout[PDNN_ONEDNN_SCALE];
    bool has_post_ops = request->n_post_ops || scale || adds_to_zeros;
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && request->zero_point)
        status = pdnn_onednn_set_zero_point(*attributes, request->zero_point);
    if (status == dnnl_success && has_post_ops)
        status = dnnl_post_ops_create(&post_ops);
    if (status == dnnl_success && scale)
        status = dnnl_post_ops_append_binary(post_ops, dnnl_binary_mul, PDNN_DNNL_DESC(scale));
    for (int i = 0; status == dnnl_success && i < request->n_post_ops; i++)
        status = pdnn_onednn_append_post_op(post_ops, &request->post_op[i]);
    if (status == dnnl_success && adds_to_zeros)
        status = pdnn_onednn_append_sum(post_ops, 0.5F);
    if (status == dnnl_success && has_post_ops)
        status = dnnl_primitive_attr_set_post_ops(*attributes, post_ops);
    if (post_ops)
        dnnl_post_ops_destroy(post_ops);
    return status;
}

/* Adds the argument in the layout, unless that has 0 bytes. */
static dnnl_status_t add_argument(struct pdnn_onednn_primitive *primitive, dnnl_engine_t engine,
                                  enum pdnn_onednn_arg arg, int id, const struct pdnn_onednn_layout *layout) {
    primitive->layout[arg] = layout;
    if (!pdnn_onednn_layout_bytes(layout))
        return dnnl_success;
    dnnl_exec_arg_t *slot = &primitive->args[primitive->n_args];
    dnnl_status_t status =
        dnnl_memory_create(&slot->memory, PDNN_DNNL_DESC(layout), engine, DNNL_MEMORY_NONE);
    if (status != dnnl_success)
        return status;
    slot->arg = id;
    primitive->index[arg] = primitive->n_args++;
    return dnnl_success;
}

/* Adds the argument in the layout that the primitive wants for it where it was asked for `asked`, or NULL. */
static dnnl_status_t add_queried(struct pdnn_onednn_primitive *primitive, struct pdnn_onednn_pool *pool,
                                 enum pdnn_onednn_arg arg, const struct pdnn_onednn_argument *row,
                                 const struct pdnn_onednn_layout *asked) {
    struct pdnn_onednn_layout *layout = pdnn_onednn_pool_add(pool);
    layout->has_gates = asked && asked->has_gates;
    dnnl_status_t status = pdnn_onednn_desc_query(primitive->descriptor, row->query, row->index, layout);
    return status == dnnl_success ? add_argument(primitive, pool->library->engine, arg, row->id, layout)
                                  : status;
}

/* If the library wants the zero point as a tensor, it gets its value here. */
static dnnl_status_t add_zero_point(struct pdnn_onednn_primitive *primitive, struct pdnn_onednn_pool *pool,
                                    const struct pdnn_onednn_request *request) {
    dnnl_exec_arg_t *slot = &primitive->args[primitive->n_args];
    if (!request->zero_point || !pdnn_onednn_zero_point_is_argument)
        return dnnl_success;
    primitive->zero_point = request->zero_point;
    const struct pdnn_onednn_layout *one =
        pdnn_onednn_layout_create(pool, PDNN_S32, 1, (const int64_t[]){1}, PDNN_ONEDNN_ROW_MAJOR);
    dnnl_status_t status =
        dnnl_memory_create(&slot->memory, PDNN_DNNL_DESC(one), pool->library->engine, DNNL_MEMORY_NONE);
    if (status != dnnl_success)
        return status;
    slot->arg = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC;
    primitive->n_args++;
    return dnnl_memory_set_data_handle(slot->memory, &primitive->zero_point);
}

/* The scale is the first post-op. */
static dnnl_status_t add_arguments(struct pdnn_onednn_primitive *primitive, struct pdnn_onednn_pool *pool,
                                   const struct pdnn_onednn_request *request) {
    static const struct pdnn_onednn_argument scratchpad = {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, 0};
    const struct pdnn_onednn_layout *scale = request->layout[PDNN_ONEDNN_SCALE];
    const struct pdnn_onednn_argument *row = pdnn_onednn_arguments_of(request);
    dnnl_status_t status = add_queried(primitive, pool, PDNN_ONEDNN_SCRATCHPAD, &scratchpad, NULL);
    for (int i = 0; status == dnnl_success && i < PDNN_ONEDNN_ARG_COUNT; i++) {
        bool is_workspace = i == PDNN_ONEDNN_WORKSPACE && request->kind == PDNN_ONEDNN_RNN;
        if ((!request->layout[i] && !is_workspace) || i == PDNN_ONEDNN_SCALE)
            continue;
        assert(row[i].id);
        status = add_queried(primitive, pool, (enum pdnn_onednn_arg)i, &row[i], request->layout[i]);
    }
    if (status == dnnl_success && scale)
        status = add_argument(primitive, pool->library->engine, PDNN_ONEDNN_SCALE,
                              DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, scale);
    if (status == dnnl_success)
        status = add_zero_point(primitive, pool, request);
    return status;
}

static dnnl_status_t describe(const struct pdnn_onednn_library *library,
                              const struct pdnn_onednn_request *request,
                              struct pdnn_onednn_primitive *primitive) {
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = make_attributes(request, primitive->adds_to_zeros, &attributes);
    if (status == dnnl_success)
        status = pdnn_onednn_describe(library->engine, request, attributes, &primitive->descriptor);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status;
}

/* The library does not tell the next implementation of a reorder. But the generated code can add only the
 * whole of the destination: asked to add half of it, the library takes other code, and half of zero is zero.
 */
static dnnl_status_t describe_right(const struct pdnn_onednn_library *library,
                                    const struct pdnn_onednn_request *request,
                                    struct pdnn_onednn_primitive *primitive) {
    dnnl_status_t status = describe(library, request, primitive);
    if (status != dnnl_success || !library->pads_wrongly ||
        !pdnn_onednn_is_wrongly_padded(request, primitive->descriptor))
        return status;
    dnnl_primitive_desc_destroy(primitive->descriptor);
    primitive->descriptor = NULL;
    primitive->adds_to_zeros = true;
    return describe(library, request, primitive);
}

enum pdnn_status pdnn_onednn_primitive_describe(struct pdnn_onednn_pool *pool,
                                                const struct pdnn_onednn_request *request,
                                                struct pdnn_onednn_primitive **primitive,
                                                struct pdnn_err *err) {
    enum pdnn_status checked = pdnn_onednn_pool_check(pool, err);
    if (checked != PDNN_OK)
        return checked;
    struct pdnn_onednn_primitive *made = pdnn_alloc(1, sizeof *made);
    made->stream = pool->library->stream;
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        made->index[i] = -1;
    dnnl_status_t status = describe_right(pool->library, request, made);
    if (status == dnnl_success)
        status = add_arguments(made, pool, request);
    if (status != dnnl_success) {
        pdnn_onednn_primitive_destroy(made);
        return pdnn_onednn_fail(err, status, "a primitive");
    }
    set_name(made, made->descriptor);
    *primitive = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_primitive_build(struct pdnn_onednn_primitive *primitive, struct pdnn_err *err) {
    const_dnnl_primitive_desc_t kept;
    dnnl_status_t status = dnnl_primitive_create(&primitive->primitive, primitive->descriptor);
    if (status == dnnl_success)
        status = dnnl_primitive_get_primitive_desc(primitive->primitive, &kept);
    if (status != dnnl_success)
        return pdnn_onednn_fail(err, status, "a primitive");
    set_name(primitive, kept);
    dnnl_primitive_desc_destroy(primitive->descriptor);
    primitive->descriptor = NULL;
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_pool *pool,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive,
                                              struct pdnn_err *err) {
    struct pdnn_onednn_primitive *made = NULL;
    enum pdnn_status status = pdnn_onednn_primitive_describe(pool, request, &made, err);
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

const struct pdnn_onednn_layout *pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                                              enum pdnn_onednn_arg arg) {
    assert(primitive->index[arg] >= 0);
    return primitive->layout[arg];
}

uint64_t pdnn_onednn_primitive_bytes(const struct pdnn_onednn_primitive *primitive,
                                     enum pdnn_onednn_arg arg) {
    return primitive->layout[arg] ? pdnn_onednn_layout_bytes(primitive->layout[arg]) : 0;
}

void pdnn_onednn_primitive_bind(struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg,
                                void *address) {
    assert(primitive->index[arg] >= 0);
    dnnl_status_t status =
        dnnl_memory_set_data_handle(primitive->args[primitive->index[arg]].memory, address);
    primitive->bound = primitive->bound == dnnl_success ? status : primitive->bound;
}

int pdnn_onednn_primitive_run(const struct pdnn_onednn_primitive *primitive) {
    if (primitive->bound != dnnl_success)
        return (int)primitive->bound;
    if (primitive->adds_to_zeros) {
        void *target = NULL;
        dnnl_memory_get_data_handle(primitive->args[primitive->index[PDNN_ONEDNN_DST]].memory, &target);
        memset(target, 0, pdnn_onednn_primitive_bytes(primitive, PDNN_ONEDNN_DST));
    }
    return (int)dnnl_primitive_execute(primitive->primitive, primitive->stream, primitive->n_args,
                                       primitive->args);
}
