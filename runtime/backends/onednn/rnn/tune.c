#include "runtime/backends/onednn/rnn/tune.h"

#include "models/attributes.h"
#include "runtime/backend/choose.h"

#include <inttypes.h>

/* Shapes with more FLOP are measured with fewer steps or sequences, down to a minimum, and share the times
 * of what they shrink to. */
static const double MAX_FLOP = 1.6e10;
enum { LEAST_T = 8, LEAST_N = 64, ROUNDS = 3 };

/* The unrolled layer replaces the primitive only if it takes at most this fraction of its time. */
static const double MARGIN = 0.95;

static void shrink(struct pdnn_onednn_rnn_shape *shape) {
    double gates = (double)(pdnn_cells[shape->cell].n_gates * shape->H);
    double row = (shape->is_training ? 6 : 2) * gates * (double)(shape->I + shape->H);
    while (row * (double)(shape->T * shape->N) > MAX_FLOP) {
        if (shape->T / 2 >= LEAST_T)
            shape->T /= 2;
        else if (shape->N / 2 >= LEAST_N)
            shape->N /= 2;
        else
            return;
    }
}

/* In order of preference. */
static const enum pdnn_recurrence kinds[] = {PDNN_RECURRENCE_FUSED, PDNN_RECURRENCE_UNROLLED};
enum { WAYS = sizeof kinds / sizeof *kinds };

struct question {
    const struct pdnn_onednn_compile *compile;
    const struct pdnn_node *forward;
    struct pdnn_onednn_rnn_shape shape; /* the one measured */
    int64_t rows;                       /* of the whole layer */
};

/* Weights and their gradients are the layer's; all else has the rows of fewer steps or sequences. */
static void drop_rows(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct question *question = user;
    (void)tensor;
    if (copy->dim[0] == question->rows && copy->role != PDNN_ROLE_WEIGHT &&
        copy->role != PDNN_ROLE_WEIGHT_GRADIENT)
        copy->dim[0] = question->shape.T * question->shape.N;
}

static uint32_t original(const struct pdnn_graph *graph, uint32_t tensor) {
    bool is_recomputed = tensor != PDNN_NONE && graph->tensors[tensor].role == PDNN_ROLE_ACTIVATION &&
                         graph->tensors[tensor].of != PDNN_NONE;
    return is_recomputed ? graph->tensors[tensor].of : tensor;
}

/* Adds one of the layer's nodes, on what forward made even if the model recomputes that for backward. */
static void add(const struct question *question, struct pdnn_node node, struct pdnn_one_node *one) {
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_NODE_OUTPUTS];
    node.attr[PDNN_RNN_STEPS] = question->shape.T;
    for (int i = 0; i < node.n_inputs; i++)
        input[i] = original(one->from, node.input[i]);
    for (int i = 0; i < node.n_outputs; i++)
        output[i] = original(one->from, node.output[i]);
    node.input = input;
    node.output = output;
    pdnn_one_node_add(one, &node);
}

static enum pdnn_status prepare(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    struct question *question = user;
    const struct pdnn_program *program = question->compile->program;
    const struct pdnn_node *backward = pdnn_onednn_rnn_find_backward(program, question->forward);
    one->graph.rnn = kinds[i];
    /* Packed weights of the library are no arrays of numbers: they are made from such, which inference need
     * not repeat. */
    one->opens_weights = true;
    one->part = question->shape.is_training ? PDNN_ONE_NODE_ALL : PDNN_ONE_NODE_LAST;
    one->edit = drop_rows;
    one->user = question;
    add(question, *question->forward, one);
    if (backward)
        add(question, *backward, one);
    return pdnn_onednn_trial_compile(question->compile, one, err);
}

static struct pdnn_tune_key key_of(const struct pdnn_onednn_rnn_shape *shape, int64_t threads) {
    struct pdnn_tune_key key = {0};
    pdnn_tune_key_add(
        &key, "rnn %s T=%" PRId64 " N=%" PRId64 " I=%" PRId64 " H=%" PRId64 " dtype=%s threads=%" PRId64,
        pdnn_cells[shape->cell].name, shape->T, shape->N, shape->I, shape->H, pdnn_dtype_name(shape->dtype),
        threads);
    pdnn_tune_key_add(&key, "%s%s%s%s", shape->is_reverse ? " reverse" : "",
                      shape->is_training ? " training" : "", shape->wants_dx ? " dx" : "",
                      shape->has_two_biases ? " two_biases" : "");
    return key;
}

enum pdnn_status pdnn_onednn_rnn_choose(const struct pdnn_onednn_compile *compile,
                                        const struct pdnn_node *forward,
                                        const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                        struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    struct question question = {
        .compile = compile, .forward = forward, .shape = *shape, .rows = shape->T * shape->N};
    const struct pdnn_trial trial = {.tune = &onednn->tune,
                                     .n = WAYS,
                                     .group_size = WAYS,
                                     .prepare = prepare,
                                     .user = &question,
                                     .from = compile->program->graph,
                                     .room_bytes = onednn->trial_bytes};
    int picked = 0;
    shrink(&question.shape);
    struct pdnn_choice choice = {.key = key_of(&question.shape, onednn->options.threads),
                                 .what = "a recurrent layer",
                                 .trial = &trial,
                                 .rules = {.rounds = ROUNDS},
                                 .compilations = 1,
                                 .margin = MARGIN};
    enum pdnn_status status = pdnn_trial_choose(&choice, &picked, err);
    *is_fused = kinds[picked] == PDNN_RECURRENCE_FUSED;
    return status;
}
