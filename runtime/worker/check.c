#include "runtime/worker/check.h"

#include "base/memory.h"
#include "models/op.h"
#include "runtime/worker/rounding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct checker {
    const struct pdnn_graph *graph;
    struct pdnn_plan tried, exact;
    struct pdnn_rerun rerun;           /* of `exact` */
    size_t n_tried;                    /* number of calls of `tried` that have run */
    bool *computed;                    /* by tensor: some node so far has written it */
    void *tried_values, *exact_values; /* each has room for the largest tensor */
    struct pdnn_check_row *rows;
    size_t n_rows;
};

static void checker_finish(struct checker *checker) {
    free(checker->rerun.inputs);
    pdnn_plan_destroy(&checker->tried);
    pdnn_plan_destroy(&checker->exact);
    free(checker->computed);
    free(checker->tried_values);
    free(checker->exact_values);
    free(checker->rows);
}

static enum pdnn_status make_plans(struct checker *checker, struct pdnn_process *process,
                                   const struct pdnn_model *model, const struct pdnn_request *request,
                                   struct pdnn_err *err) {
    struct pdnn_plan_options options = {.limit_bytes = request->memory_limit_bytes,
                                        .seed = request->seed,
                                        .allow_slow = request->allow_slow,
                                        .keep_all = true};
    const struct pdnn_open_backend *backend;
    const char *name = pdnn_backend_names[model->instance.setting[PDNN_SETTING_BACKEND]];
    enum pdnn_status status = pdnn_process_open(process, "reference", model->threads, request, &backend, err);
    if (status == PDNN_OK)
        status =
            pdnn_plan_create(&checker->exact, backend->def, backend->state, &model->graph, &options, err);
    if (status == PDNN_OK && options.limit_bytes && checker->exact.block_bytes >= options.limit_bytes)
        status = pdnn_fail(err, PDNN_TOO_BIG,
                           "the reference alone needs %" PRIu64 " bytes, over the limit of %" PRIu64,
                           checker->exact.block_bytes, options.limit_bytes);
    if (options.limit_bytes)
        options.limit_bytes -= checker->exact.block_bytes;
    if (status == PDNN_OK)
        status = pdnn_process_open(process, name, model->threads, request, &backend, err);
    if (status == PDNN_OK)
        status =
            pdnn_plan_create(&checker->tried, backend->def, backend->state, &model->graph, &options, err);
    return status;
}

static enum pdnn_status checker_init(struct checker *checker, struct pdnn_process *process,
                                     const struct pdnn_model *model, const struct pdnn_request *request,
                                     struct pdnn_err *err) {
    const struct pdnn_graph *graph = &model->graph;
    uint64_t largest_bytes = 0;
    size_t n_rows = 1;
    checker->graph = graph;
    for (size_t i = 0; i < graph->n_tensors; i++) {
        uint64_t bytes = pdnn_tensor_bytes(&graph->tensors[i]);
        largest_bytes = bytes > largest_bytes ? bytes : largest_bytes;
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        n_rows += (size_t)(graph->nodes[i].n_outputs + graph->nodes[i].n_posts);
    checker->computed = pdnn_alloc(graph->n_tensors, sizeof *checker->computed);
    checker->rows = pdnn_alloc(n_rows, sizeof *checker->rows);
    checker->tried_values = pdnn_ask(largest_bytes, "for the check", err);
    checker->exact_values = pdnn_ask(largest_bytes, "for the check", err);
    if (!checker->tried_values || !checker->exact_values)
        return PDNN_NO_MEMORY;
    checker->rerun = (struct pdnn_rerun){
        .plan = &checker->exact, .values = checker->exact_values, .moved = checker->tried_values};
    return make_plans(checker, process, model, request, err);
}

/* Copies the value that the backend computed into the reference. Tensors that no node has written yet were
 * filled from the same seed on both sides. Tensors that the backend has only in its own form are never fed:
 * the reference uses its own result, computed from the inputs it was fed. */
static enum pdnn_status feed(struct checker *checker, uint32_t tensor, struct pdnn_err *err) {
    if (!checker->computed[tensor])
        return PDNN_OK;
    enum pdnn_status status = pdnn_plan_get(&checker->tried, tensor, checker->tried_values, err);
    return status == PDNN_OK ? pdnn_plan_put(&checker->exact, tensor, checker->tried_values, err) : status;
}

static enum pdnn_status feed_node(struct checker *checker, const struct pdnn_node *node,
                                  struct pdnn_err *err) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int count = pdnn_node_accesses(node, access);
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; i < count && status == PDNN_OK; i++)
        status = access[i].is_written ? PDNN_OK : feed(checker, access[i].tensor, err);
    return status;
}

struct distance {
    /* difference is infinite and largest is 0 if either side has a value that is not finite */
    double difference, largest;
};

static struct distance find_distance(enum pdnn_dtype dtype, const void *tried, const void *exact,
                                     int64_t elements) {
    struct distance distance = {0, 0};
    for (int64_t i = 0; i < elements; i++) {
        double a = pdnn_dtype_load(dtype, tried, i), b = pdnn_dtype_load(dtype, exact, i);
        if (a == -INFINITY && b == -INFINITY) /* masked score */
            continue;
        if (!isfinite(a) || !isfinite(b))
            return (struct distance){INFINITY, 0};
        distance.difference = fmax(distance.difference, fabs(a - b));
        distance.largest = fmax(distance.largest, fabs(b));
    }
    return distance;
}

static double relative(struct distance distance) {
    return distance.largest > 0 ? distance.difference / distance.largest : distance.difference;
}

static void name_row(const struct pdnn_graph *graph, const struct pdnn_node *node, uint32_t tensor,
                     struct pdnn_check_row *row) {
    char layer[PDNN_LAYER_TEXT], shape[PDNN_SHAPE_TEXT];
    const struct pdnn_tensor *what = &graph->tensors[tensor];
    snprintf(row->op, sizeof row->op, "%s/%s %s", node->op->name, pdnn_node_pass_name(node),
             pdnn_layer_format(node->layer, layer));
    snprintf(row->tensor, sizeof row->tensor, "%s %" PRIu32 " (%s)", pdnn_role_name(what->role), tensor,
             pdnn_tensor_shape(what, shape));
}

/* If an error seems too large, measures it against the size of the terms that cancel. */
static enum pdnn_status find_error(struct checker *checker, uint32_t tensor, struct pdnn_check_row *row,
                                   struct pdnn_err *err) {
    const struct pdnn_tensor *what = &checker->graph->tensors[tensor];
    struct distance distance =
        find_distance(what->dtype, checker->tried_values, checker->exact_values, pdnn_tensor_elements(what));
    double scale;
    row->error = relative(distance);
    if (row->error <= row->tolerance || !isfinite(row->error) || pdnn_dtype_epsilon(what->dtype) == 0)
        return PDNN_OK;
    enum pdnn_status status = pdnn_rerun_scale(&checker->rerun, tensor, &scale, err);
    distance.largest = fmax(distance.largest, scale);
    row->error = relative(distance);
    return status;
}

static enum pdnn_status compare(struct checker *checker, const struct pdnn_node *node, uint32_t tensor,
                                struct pdnn_err *err) {
    if (!pdnn_plan_has(&checker->tried, tensor))
        return PDNN_OK;
    struct pdnn_check_row *row = &checker->rows[checker->n_rows];
    name_row(checker->graph, node, tensor, row);
    enum pdnn_status status = pdnn_rounding_tolerance(checker->graph, node, tensor, &row->tolerance, err);
    if (status == PDNN_OK)
        status = pdnn_plan_get(&checker->tried, tensor, checker->tried_values, err);
    if (status == PDNN_OK)
        status = pdnn_plan_get(&checker->exact, tensor, checker->exact_values, err);
    if (status == PDNN_OK)
        status = find_error(checker, tensor, row, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s", row->op);
    checker->n_rows++;
    checker->computed[tensor] = true;
    return PDNN_OK;
}

static enum pdnn_status compare_node(struct checker *checker, const struct pdnn_node *node,
                                     struct pdnn_err *err) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int count = pdnn_node_accesses(node, access);
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; i < count && status == PDNN_OK; i++)
        status = access[i].is_written ? compare(checker, node, access[i].tensor, err) : PDNN_OK;
    return status;
}

/* Runs the backend up to and including the node, and the reorders behind it. */
static enum pdnn_status run_tried(struct checker *checker, uint32_t node, struct pdnn_err *err) {
    const struct pdnn_program *program = &checker->tried.program;
    for (; checker->n_tried < program->n_calls; checker->n_tried++) {
        const struct pdnn_call *call = &program->calls[checker->n_tried];
        if (call->node != PDNN_NONE && call->node > node)
            break;
        int code = call->work.run(call->work.state);
        if (code)
            return pdnn_fail(err, PDNN_INTERNAL, "%s failed with code %d", call->implementation, code);
    }
    return PDNN_OK;
}

/* The calls of a node are contiguous: feed its inputs before the first and compare its
 * outputs after the last. */
static enum pdnn_status check_calls(struct checker *checker, struct pdnn_err *err) {
    const struct pdnn_program *program = &checker->exact.program;
    const struct pdnn_call *call = program->calls, *end = call + program->n_calls, *next;
    enum pdnn_status status = PDNN_OK;
    for (; call < end && status == PDNN_OK; call = next) {
        const struct pdnn_node *node = &checker->graph->nodes[call->node];
        for (next = call; next < end && next->node == call->node;)
            next++;
        status = feed_node(checker, node, err);
        if (status == PDNN_OK)
            status = run_tried(checker, call->node, err);
        if (status == PDNN_OK)
            status = pdnn_rerun_begin(&checker->rerun, node, call, next, err);
        if (status == PDNN_OK)
            status = compare_node(checker, node, err);
    }
    return status;
}

enum pdnn_status pdnn_check_run(struct pdnn_process *process, const struct pdnn_request *request,
                                struct pdnn_check_row **rows, size_t *n_rows, struct pdnn_err *err) {
    struct pdnn_model model = {0};
    struct checker checker = {0};
    enum pdnn_status status = pdnn_model_init(&model, process, request->id, err);
    if (status != PDNN_OK)
        return status;
    status = checker_init(&checker, process, &model, request, err);
    if (status == PDNN_OK)
        status = check_calls(&checker, err);
    if (status == PDNN_OK) {
        *rows = checker.rows;
        *n_rows = checker.n_rows;
        checker.rows = NULL;
    }
    checker_finish(&checker);
    pdnn_model_finish(&model);
    return status;
}
