#include "runtime/worker/rounding.h"

#include "base/memory.h"
#include "base/rng.h"
#include "models/cost/cost.h"
#include "models/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In a single draw of the inputs that move, a result may hardly move by chance; not in all of them. */
enum { DRAWS = 4 };

/* The node itself, or the post that writes the tensor as a node of its own. */
static struct pdnn_node writer_of(const struct pdnn_node *node, uint32_t tensor,
                                  uint32_t operands[PDNN_POST_OPERANDS]) {
    for (int i = 0; i < node->n_posts; i++) {
        if (node->posts[i].output == tensor)
            return pdnn_post_node(node, &node->posts[i], operands);
    }
    return *node;
}

/* Of the sums behind an element of the output, which may itself be a sum of the whole input, like a gradient
 * of gamma. A pass without FLOP, like a forward embedding, moves values and sums none. */
static double longest_sum(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          const struct pdnn_cost *cost, uint32_t output) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    double values = (double)pdnn_tensor_elements(x);
    double elements = (double)pdnn_tensor_elements(&graph->tensors[output]);
    if (!cost->flop_count)
        return 1;
    switch (node->op->summed) {
    case PDNN_SUMMED_ROW:
        return fmax((double)x->dim[x->rank - 1], values / elements);
    case PDNN_SUMMED_CHANNEL:
        return fmax(values / (double)x->dim[1], values / elements);
    case PDNN_SUMMED_SAMPLE:
        return fmax(values / (double)x->dim[0], values / elements);
    case PDNN_SUMMED_ALL:
        return values;
    default:
        return ceil((double)cost->flop_count / (2 * elements));
    }
}

enum pdnn_status pdnn_rounding_tolerance(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         uint32_t tensor, double *tolerance, struct pdnn_err *err) {
    uint32_t operands[PDNN_POST_OPERANDS];
    struct pdnn_node writer = writer_of(node, tensor, operands);
    struct pdnn_cost cost;
    if (graph->tensors[tensor].dtype == PDNN_INT8) {
        *tolerance = writer.op->rounds ? PDNN_TOLERANCE_TIE : 0;
        return PDNN_OK;
    }
    enum pdnn_status status = pdnn_cost_node(graph, &writer, &cost, err);
    if (status != PDNN_OK)
        return status;
    double per_term = writer.op->tolerance;
    for (int i = 0; i < writer.n_posts; i++)
        per_term = fmax(per_term, writer.posts[i].op->tolerance);
    double terms = longest_sum(graph, &writer, &cost, tensor);
    *tolerance = fmin(per_term * sqrt(fmax(terms, 1)), PDNN_TOLERANCE_MOST);
    if (pdnn_dtype_is_half(graph->tensors[tensor].dtype))
        *tolerance += pdnn_dtype_epsilon(graph->tensors[tensor].dtype);
    return PDNN_OK;
}

static enum pdnn_status run_calls(const struct pdnn_rerun *rerun, struct pdnn_err *err) {
    for (const struct pdnn_call *call = rerun->first; call < rerun->end; call++) {
        int code = call->work.run(call->work.state);
        if (code)
            return pdnn_fail(err, PDNN_INTERNAL, "%s failed with code %d", call->implementation, code);
    }
    return PDNN_OK;
}

static size_t bytes_of(const struct pdnn_rerun *rerun, int input) {
    return (size_t)rerun->plan->program.slots[rerun->input[input]].bytes;
}

enum pdnn_status pdnn_rerun_begin(struct pdnn_rerun *rerun, const struct pdnn_node *node,
                                  const struct pdnn_call *first, const struct pdnn_call *end,
                                  struct pdnn_err *err) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int count = pdnn_node_accesses(node, access);
    size_t bytes = 0;
    rerun->first = first;
    rerun->end = end;
    rerun->n_inputs = 0;
    for (int i = 0; i < count; i++) {
        if (!access[i].is_written)
            rerun->input[rerun->n_inputs++] = access[i].tensor;
    }
    for (int i = 0; i < rerun->n_inputs; i++)
        bytes += bytes_of(rerun, i);
    free(rerun->inputs);
    rerun->inputs = pdnn_ask(bytes, "for the inputs of an op", err);
    if (!rerun->inputs)
        return PDNN_NO_MEMORY;
    unsigned char *at = rerun->inputs;
    for (int i = 0; i < rerun->n_inputs; at += bytes_of(rerun, i++))
        memcpy(at, rerun->plan->memory[rerun->input[i]], bytes_of(rerun, i));
    return run_calls(rerun, err);
}

static void restore_inputs(const struct pdnn_rerun *rerun) {
    const unsigned char *at = rerun->inputs;
    for (int i = 0; i < rerun->n_inputs; at += bytes_of(rerun, i++))
        memcpy(rerun->plan->memory[rerun->input[i]], at, bytes_of(rerun, i));
}

/* Moves the value one unit in the last place away from zero: the next larger bit pattern. */
static void move_value(enum pdnn_dtype dtype, void *values, int64_t i) {
    if (pdnn_dtype_load(dtype, values, i) == 0)
        return;
    if (pdnn_dtype_is_half(dtype))
        ((uint16_t *)values)[i]++;
    else
        ((uint32_t *)values)[i]++;
}

/* Moves half of the values. Signs do not change, and counters keep their integer part. */
static enum pdnn_status move_input(const struct pdnn_rerun *rerun, uint32_t tensor, uint64_t draw,
                                   struct pdnn_err *err) {
    const struct pdnn_plan *plan = rerun->plan;
    const struct pdnn_tensor *what = &plan->graph->tensors[tensor];
    uint64_t stream = pdnn_rng_at(draw, tensor);
    enum pdnn_status status = pdnn_plan_get(plan, tensor, rerun->moved, err);
    if (status != PDNN_OK)
        return status;
    for (int64_t i = 0; i < pdnn_tensor_elements(what); i++) {
        if (pdnn_rng_at(stream, (uint64_t)i) & 1)
            move_value(what->dtype, rerun->moved, i);
    }
    return pdnn_plan_put(plan, tensor, rerun->moved, err);
}

/* Runs the calls with the inputs of one type moved. */
static enum pdnn_status run_moved(const struct pdnn_rerun *rerun, enum pdnn_dtype dtype, uint64_t draw,
                                  struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    restore_inputs(rerun);
    for (int i = 0; i < rerun->n_inputs && status == PDNN_OK; i++) {
        if (rerun->plan->graph->tensors[rerun->input[i]].dtype == dtype)
            status = move_input(rerun, rerun->input[i], draw, err);
    }
    return status == PDNN_OK ? run_calls(rerun, err) : status;
}

/* The largest change of any element of the result when the inputs of one type move. */
static enum pdnn_status find_most(const struct pdnn_rerun *rerun, uint32_t tensor, enum pdnn_dtype dtype,
                                  double *most, struct pdnn_err *err) {
    const struct pdnn_tensor *what = &rerun->plan->graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(what);
    enum pdnn_status status = PDNN_OK;
    *most = 0;
    for (uint64_t draw = 0; draw < DRAWS && status == PDNN_OK; draw++) {
        status = run_moved(rerun, dtype, draw, err);
        if (status == PDNN_OK)
            status = pdnn_plan_get(rerun->plan, tensor, rerun->moved, err);
        for (int64_t i = 0; status == PDNN_OK && i < elements; i++)
            *most = fmax(*most, fabs(pdnn_dtype_load(what->dtype, rerun->moved, i) -
                                     pdnn_dtype_load(what->dtype, rerun->values, i)));
    }
    return status;
}

enum pdnn_status pdnn_rerun_scale(const struct pdnn_rerun *rerun, uint32_t tensor, double *scale,
                                  struct pdnn_err *err) {
    static const enum pdnn_dtype types[] = {PDNN_F32, PDNN_BF16, PDNN_F16};
    double most;
    enum pdnn_status status = PDNN_OK;
    *scale = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && status == PDNN_OK; i++) {
        status = find_most(rerun, tensor, types[i], &most, err);
        *scale = fmax(*scale, most / pdnn_dtype_epsilon(types[i]));
    }
    restore_inputs(rerun);
    return status == PDNN_OK ? run_calls(rerun, err) : status;
}
