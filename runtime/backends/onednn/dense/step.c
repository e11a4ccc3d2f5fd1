#include "runtime/backends/onednn/operand.h"

#include "base/checked.h"
#include "models/op.h"
#include "models/ops/quantized.h"
#include "runtime/steps/step.h"
#include "runtime/backends/onednn/dense/small_batch.h"
#include "runtime/backends/onednn/post_ops.h"

#include <stdio.h>
#include <string.h>

/* The weight tensor a node of a dense op works on, or PDNN_NONE. */
static uint32_t weights_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (node->op != &pdnn_op_dense)
        return PDNN_NONE;
    if (node->pass != PDNN_BACKWARD_WEIGHTS)
        return node->input[1];
    uint32_t of = graph->tensors[node->output[0]].of;
    return of != PDNN_NONE ? of : node->output[0];
}

static enum pdnn_status describe_posts(const struct pdnn_node *node, struct pdnn_dense_shape *shape,
                                       struct pdnn_err *err) {
    for (int i = 0; i < node->n_posts; i++) {
        const struct pdnn_post *post = &node->posts[i];
        bool bias = post->op == &pdnn_op_bias;
        enum pdnn_onednn_post function;
        if (bias && post->pass == PDNN_BACKWARD_WEIGHTS)
            shape->bias_gradient = true;
        else if (bias && i == 0 && node->pass == PDNN_FORWARD)
            shape->bias = true;
        else if (post->pass == PDNN_FORWARD && pdnn_onednn_find_function(post->op, &function))
            shape->post[shape->n_posts++] = function;
        else
            return pdnn_onednn_refuse_post(node, i, err);
    }
    return PDNN_OK;
}

/* N, I and O from any pass: x and y are the inputs or the output. */
static void describe_dims(const struct pdnn_program *program, const struct pdnn_node *node,
                          struct pdnn_dense_shape *shape) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, 0), *b = pdnn_node_in(graph, node, 1);
    bool gradient = node->pass == PDNN_BACKWARD_WEIGHTS;
    shape->dtype = a->dtype;
    shape->weights_dtype = gradient ? pdnn_node_out(graph, node, 0)->dtype : b->dtype;
    shape->N = a->dim[0];
    shape->I = gradient ? pdnn_tensor_elements(a) / a->dim[0] : b->dim[1];
    shape->O = gradient ? b->dim[1] : b->dim[0];
    shape->is_scaled = pdnn_quantized_is_scaled(node);
    shape->is_shifted = program->slots[node->input[0]].zero_point != 0;
}

/* Whether a further node of a pass can share what was described: one choice is made for all of them.
 * Functions after a product hardly matter for it, so forward nodes may differ in theirs. */
static bool is_like(const struct pdnn_dense_shape *shape, const struct pdnn_dense_shape *node,
                    enum pdnn_pass pass) {
    if (shape->N && shape->N != node->N)
        return false;
    return pass != PDNN_BACKWARD_WEIGHTS || !shape->has_pass[pass] ||
           shape->bias_gradient == node->bias_gradient;
}

/* Adds a node to the shape of its weights. */
static enum pdnn_status describe_node(const struct pdnn_program *program, const struct pdnn_node *node,
                                      struct pdnn_dense_shape *shape, struct pdnn_err *err) {
    struct pdnn_dense_shape one;
    memset(&one, 0, sizeof one);
    describe_dims(program, node, &one);
    enum pdnn_status status = describe_posts(node, &one, err);
    if (status != PDNN_OK)
        return status;
    if (!is_like(shape, &one, node->pass))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "onednn: one weight used by nodes of different shape or bias gradients");
    describe_dims(program, node, shape);
    shape->has_pass[node->pass] = true;
    if (node->pass == PDNN_FORWARD) {
        shape->bias = one.bias;
        shape->n_posts = one.n_posts;
        memcpy(shape->post, one.post, sizeof shape->post);
    } else if (node->pass == PDNN_BACKWARD_WEIGHTS) {
        shape->bias_gradient = one.bias_gradient;
    }
    return PDNN_OK;
}

/* Says in the shape which format weights that have their home already lie in, if it is one of this shape's.
 */
static enum pdnn_status describe_home(const struct pdnn_onednn_compile *compile, uint32_t weights,
                                      struct pdnn_dense_shape *shape, struct pdnn_err *err) {
    struct pdnn_onednn_layout *home = NULL;
    enum pdnn_status status = pdnn_onednn_copy_home(compile, weights, &home, err);
    for (int format = 0; status == PDNN_OK && !shape->has_home && format < PDNN_WEIGHTS_FORMAT_COUNT;
         format++) {
        struct pdnn_onednn_layout *layout = NULL;
        shape->home = (enum pdnn_weights_format)format;
        status = pdnn_dense_weights_layout(compile->onednn->library, shape, shape->home, &layout, err);
        shape->has_home = status == PDNN_OK && pdnn_onednn_layout_equal(layout, home);
        status = status == PDNN_UNSUPPORTED ? PDNN_OK : status;
        pdnn_onednn_layout_destroy(layout);
    }
    if (!shape->has_home)
        shape->home = PDNN_WEIGHTS_ROW_MAJOR; /* says nothing, but is compared */
    pdnn_onednn_layout_destroy(home);
    return status;
}

static enum pdnn_status place(struct pdnn_onednn_compile *compile, uint32_t weights,
                              struct pdnn_dense_shape *shape, struct pdnn_err *err) {
    struct pdnn_onednn_layout *layout = NULL;
    enum pdnn_status status = PDNN_OK;
    if (compile->program->like && !shape->pinned)
        status = describe_home(compile, weights, shape, err);
    if (status == PDNN_OK)
        status = pdnn_choose(&compile->onednn->choices, compile->onednn->library, &compile->onednn->own,
                             shape, &compile->choice[weights], err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: dense for %s", pdnn_dtype_name(shape->dtype));
    enum pdnn_weights_format home = compile->choice[weights]->home;
    if (home == PDNN_WEIGHTS_ROW_MAJOR || shape->pinned || compile->program->like)
        return PDNN_OK;
    status = pdnn_dense_weights_layout(compile->onednn->library, shape, home, &layout, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_set_weights_home(compile, weights, layout, err);
    pdnn_onednn_layout_destroy(layout);
    return status;
}

/* Whether the library has an implementation of the pass at all, which is fast unless it may be slow. */
static enum pdnn_status check_half(const struct pdnn_onednn_compile *compile,
                                   const struct pdnn_dense_shape *shape, const struct pdnn_node *node,
                                   bool *is_there, struct pdnn_err *err) {
    enum pdnn_dense_support support = PDNN_DENSE_FAST;
    enum pdnn_status status = PDNN_OK;
    if (pdnn_dtype_is_half(shape->dtype))
        status = pdnn_dense_pass_support(compile->onednn->library, shape, node->pass, &support, err);
    if (status == PDNN_OK && support != PDNN_DENSE_FAST)
        status = pdnn_onednn_check_slow(compile, node, err);
    *is_there = support != PDNN_DENSE_NONE;
    return status;
}

/* Weights of which a pass is not there are left out: all their passes run on f32 copies. */
static enum pdnn_status leave_out_slow(struct pdnn_onednn_compile *compile, struct pdnn_dense_shape *shapes,
                                       struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        uint32_t weights = weights_of(graph, &graph->nodes[i]);
        bool is_there = true;
        if (weights == PDNN_NONE || !shapes[weights].N)
            continue;
        status = check_half(compile, &shapes[weights], &graph->nodes[i], &is_there, err);
        compile->is_slow = compile->is_slow || !is_there;
        if (!is_there)
            shapes[weights].N = 0;
    }
    return status;
}

/* Coarse, so that models that differ little share what was measured. */
static int64_t footprint_bytes(const struct pdnn_program *program) {
    uint64_t bytes = 0;
    int64_t rounded = 1;
    for (size_t i = 0; i < program->graph->n_tensors; i++) {
        if (!pdnn_add_u64(&bytes, pdnn_tensor_bytes(&program->graph->tensors[i])))
            return INT64_MAX;
    }
    while ((uint64_t)rounded < bytes && rounded <= INT64_MAX / 2)
        rounded *= 2;
    return rounded;
}

enum pdnn_status pdnn_onednn_place_weights(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_dense_shape *shapes =
        pdnn_arena_alloc(&compile->program->arena, graph->n_tensors + 1, sizeof *shapes);
    enum pdnn_status status = PDNN_OK;
    if (!shapes)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu tensors", graph->n_tensors);
    for (size_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        uint32_t weights = weights_of(graph, node);
        if (weights == PDNN_NONE)
            continue;
        status = describe_node(compile->program, node, &shapes[weights], err);
    }
    if (status == PDNN_OK)
        status = leave_out_slow(compile, shapes, err);
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_tensors; i++) {
        if (!shapes[i].N)
            continue;
        shapes[i].pinned = pdnn_onednn_is_pinned(graph, i);
        shapes[i].footprint_bytes = footprint_bytes(compile->program);
        status = place(compile, i, &shapes[i], err);
    }
    return status;
}

/* The step of one pass, with a reorder before it where it reads weights or images in another layout, after it
 * where it writes them. */
struct dense_step {
    struct pdnn_onednn_compile *compile;
    uint32_t index;
    const struct pdnn_node *node;
    struct pdnn_dense_shape shape;
    struct pdnn_dense_pass pass;
    struct pdnn_onednn_operand w, x; /* or their gradients */
};

static enum pdnn_status append_own(struct dense_step *d, struct pdnn_step *step, struct pdnn_err *err) {
    const struct pdnn_node *node = d->node;
    struct pdnn_dense_own_slots slots = {d->x.slot, d->w.slot, PDNN_NONE, node->output[0]};
    if (d->shape.bias)
        slots.b = node->posts[0].input;
    return pdnn_dense_own_append(d->compile->program, step, &d->pass.own, &slots,
                                 d->compile->onednn->own.threads, err);
}

static enum pdnn_status append_pass(struct dense_step *d, struct pdnn_err *err) {
    const struct pdnn_graph *graph = d->compile->program->graph;
    const struct pdnn_node *node = d->node;
    struct pdnn_step step = pdnn_step_of_node(graph, d->index);
    struct pdnn_onednn_call call = pdnn_onednn_call_of(d->pass.primitive);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    step.n_slots = 0; /* not the homes of what is copied; append adds what the pass uses */
    if (!d->pass.primitive)
        return append_own(d, &step, err);
    call.slot[d->pass.w] = d->w.slot;
    call.slot[d->pass.x] = d->x.slot;
    call.slot[d->pass.y] = node->pass == PDNN_FORWARD         ? node->output[0]
                           : node->pass == PDNN_BACKWARD_DATA ? node->input[0]
                                                              : node->input[1];
    for (int i = 0; i < node->n_posts; i++) {
        if (node->posts[i].op == &pdnn_op_bias)
            call.slot[d->pass.b] = node->pass == PDNN_FORWARD ? node->posts[i].input : node->posts[i].output;
    }
    pdnn_onednn_call_scale(&call, node);
    step.is_slow =
        pdnn_dtype_is_half(d->shape.dtype) && pdnn_onednn_primitive_is_reference(d->pass.primitive);
    bool matmul = d->compile->choice[weights_of(graph, node)]->variant[node->pass].way == PDNN_DENSE_MATMUL;
    snprintf(step.implementation, sizeof step.implementation, "%.24s %s %.16s",
             pdnn_onednn_primitive_name(d->pass.primitive), matmul ? "matmul" : "inner_product",
             pdnn_onednn_layout_format(d->pass.weights, format));
    d->pass.primitive = NULL;
    return pdnn_onednn_append(d->compile->program, &step, &call, err);
}

static enum pdnn_status append_steps(struct dense_step *d, struct pdnn_err *err) {
    enum pdnn_pass pass = d->node->pass;
    enum pdnn_status status = PDNN_OK;
    if (pass != PDNN_BACKWARD_WEIGHTS)
        status = pdnn_onednn_operand_fetch(&d->w, d->compile, pass, err);
    if (status == PDNN_OK && pass != PDNN_BACKWARD_DATA)
        status = pdnn_onednn_operand_fetch(&d->x, d->compile, pass, err);
    if (status == PDNN_OK)
        status = append_pass(d, err);
    if (status == PDNN_OK && pass == PDNN_BACKWARD_WEIGHTS)
        status = pdnn_onednn_operand_store(&d->w, d->compile, pass, err);
    if (status == PDNN_OK && pass == PDNN_BACKWARD_DATA)
        status = pdnn_onednn_operand_store(&d->x, d->compile, pass, err);
    return status;
}

/* Weights as the pass has them; x row-major, whatever its rank. */
static enum pdnn_status find_operands(struct dense_step *d, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = d->compile;
    const struct pdnn_tensor *x = &compile->program->graph->tensors[d->x.tensor];
    enum pdnn_status status = pdnn_onednn_copy_home(compile, d->w.tensor, &d->w.home, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_layout_copy(d->pass.weights, &d->w.used, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_place(&d->w, compile->program, err);
    if (status == PDNN_OK && !pdnn_onednn_is_plain(compile->program, compile->home, d->x.tensor)) {
        status = pdnn_onednn_copy_home(compile, d->x.tensor, &d->x.home, err);
        if (status == PDNN_OK)
            status = pdnn_onednn_layout_create(pdnn_onednn_dtype_of(x), x->rank, x->dim,
                                               PDNN_ONEDNN_ROW_MAJOR, &d->x.used, err);
    }
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_place(&d->x, compile->program, err);
    return status;
}

enum pdnn_status pdnn_onednn_compile_dense(struct pdnn_onednn_compile *compile, uint32_t node,
                                           struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct dense_step d = {.compile = compile, .index = node, .node = &graph->nodes[node]};
    const struct pdnn_dense_choice *choice = compile->choice[weights_of(graph, d.node)];
    if (!choice)
        return pdnn_onednn_compile_slow(compile, node, err);
    memset(&d.shape, 0, sizeof d.shape);
    d.w.tensor = d.node->pass == PDNN_BACKWARD_WEIGHTS ? d.node->output[0] : d.node->input[1];
    d.x.tensor = d.node->pass == PDNN_BACKWARD_DATA ? d.node->output[0] : d.node->input[0];
    describe_dims(compile->program, d.node, &d.shape);
    enum pdnn_status status = describe_posts(d.node, &d.shape, err);
    if (status == PDNN_OK)
        status = pdnn_dense_pass_create(compile->onednn->library, &d.shape, d.node->pass,
                                        choice->variant[d.node->pass], &d.pass, err);
    if (status == PDNN_OK)
        status = find_operands(&d, err);
    if (status == PDNN_OK)
        status = append_steps(&d, err);
    pdnn_dense_pass_destroy(&d.pass);
    pdnn_onednn_operand_finish(&d.w);
    pdnn_onednn_operand_finish(&d.x);
    return status;
}
