#include "runtime/backends/onednn/dense/tune.h"

#include "models/op.h"
#include "runtime/backend/choose.h"
#include "runtime/backends/onednn/library/post_ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Shapes are shrunk to these limits for measuring, about 10 ms on one thread. The library changes its
 * algorithm somewhere below a minibatch of 1024, so N stays at that and the weights shrink. Shapes that
 * shrink to the same one share its times. */
enum { MAX_N = 1024, MAX_WEIGHTS = 1 << 22, MAX_MULTIPLY_ADDS = 600000000 };
enum { COMPILATIONS = 2, ROUNDS = 3, VISIT_NS = 50000 };

/* A candidate slower than the best by this factor is dropped early. */
static const double HOPELESS = 1.5;

/* Footprints beyond this are all alike: none of the step is left in the caches. What is reported, since
 * processes that measured the caches apart share choices. */
static uint64_t most_bytes(const struct pdnn_call_options *options) {
    return 2 * options->reported_bytes;
}

static void shrink(struct pdnn_onednn_dense_shape *shape, const struct pdnn_call_options *options) {
    while (shape->N > MAX_N)
        shape->N /= 2;
    while (shape->I * shape->O > MAX_WEIGHTS || shape->N * shape->I * shape->O > MAX_MULTIPLY_ADDS)
        *(shape->I > shape->O ? &shape->I : &shape->O) /= 2;
    while ((uint64_t)shape->footprint_bytes / 2 >= most_bytes(options))
        shape->footprint_bytes /= 2;
}

/* The costs are kept as an array of doubles. */
enum { COSTS = sizeof(struct pdnn_onednn_dense_costs) / sizeof(double) };
enum { FORMATS = PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT, RUNS = PDNN_ONEDNN_DENSE_VARIANTS };

struct question {
    const struct pdnn_onednn_compile *compile;
    uint32_t weights;
    struct pdnn_onednn_dense_shape whole, shape; /* the model's, and the one measured */
    enum pdnn_pass passes[PDNN_ONEDNN_DENSE_PASSES];
    int n_passes;
    struct pdnn_onednn_dense_costs costs;
    /* Of the last pass prepared, by variant; empty: there is none. */
    char implementation[PDNN_ONEDNN_DENSE_VARIANTS][PDNN_IMPLEMENTATION_TEXT];
    bool has_packed; /* the forward pass defines that format */
};

/* Gives the operands of one node the size that is measured. */
struct resizing {
    const struct question *q;
    struct pdnn_onednn_dense_tensors tensors;
};

static void resize(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct resizing *resizing = user;
    const struct question *q = resizing->q;
    bool is_weights = tensor == q->weights || tensor == resizing->tensors.w;
    if (copy->rank == 1) {
        copy->dim[0] = copy->dim[0] == q->whole.O ? q->shape.O : copy->dim[0];
        return;
    }
    copy->rank = 2;
    copy->dim[0] = is_weights ? q->shape.O : q->shape.N;
    copy->dim[1] = tensor == resizing->tensors.y ? q->shape.O : q->shape.I;
}

/* Weights could be stored packed only as the forward pass wants them. */
static bool may_store(const struct question *q, enum pdnn_onednn_weights_format format) {
    bool is_there = format != PDNN_ONEDNN_WEIGHTS_PACKED || q->has_packed;
    return format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR || (is_there && !q->shape.pinned);
}

/* The pass alone by the variant, on weights stored in the format. Where x is stored as unsigned bytes, that
 * follows from the node which quantizes it. */
static enum pdnn_status compile_pass(struct question *q, enum pdnn_pass pass,
                                     struct pdnn_onednn_dense_variant variant,
                                     enum pdnn_onednn_weights_format stored, struct pdnn_one_node *one,
                                     struct pdnn_err *err) {
    struct pdnn_onednn *onednn = q->compile->onednn;
    const struct pdnn_program *program = q->compile->program;
    const struct pdnn_node *node = q->whole.node[pass];
    const struct resizing resizing = {q, pdnn_onednn_dense_tensors_of(node)};
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, resizing.tensors.x);
    struct pdnn_onednn_dense_choice choice = {.stored = stored};
    choice.variant[pass] = variant;
    one->edit = resize;
    one->user = &resizing;
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        if (program->graph->nodes[*user].op == &pdnn_op_quantize)
            pdnn_one_node_add(one, &program->graph->nodes[*user]);
    }
    pdnn_one_node_add(one, node);
    onednn->forced_dense = &choice;
    enum pdnn_status status = pdnn_onednn_trial_compile(q->compile, one, err);
    onednn->forced_dense = NULL;
    return status;
}

/* With few rows, nearly all traffic is weights, so they must be as cold as in the step. */
static uint64_t cold_bytes(const struct question *q) {
    uint64_t most = most_bytes(&q->compile->onednn->options), call = (uint64_t)q->shape.footprint_bytes;
    return call < most ? call : most;
}

/* If PACKED turns out to be one of the plain formats, it is not a candidate of its own. */
static bool is_double(const struct question *q, int variant) {
    bool is = false;
    for (int format = 0; format < PDNN_ONEDNN_WEIGHTS_PACKED; format++)
        is = is || strcmp(q->implementation[format], q->implementation[variant]) == 0;
    return is && variant == PDNN_ONEDNN_WEIGHTS_PACKED;
}

static enum pdnn_status prepare_run(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    struct question *q = user;
    enum pdnn_pass pass = q->passes[i / RUNS];
    const struct pdnn_onednn_dense_variant variant = pdnn_onednn_dense_variant_at(i % RUNS);
    char *implementation = q->implementation[i % RUNS];
    bool is_own = may_store(q, variant.format);
    implementation[0] = '\0';
    enum pdnn_status status =
        compile_pass(q, pass, variant, is_own ? variant.format : PDNN_ONEDNN_WEIGHTS_ROW_MAJOR, one, err);
    if (status != PDNN_OK)
        return status;
    memcpy(implementation, pdnn_one_node_call(one)->implementation, PDNN_IMPLEMENTATION_TEXT);
    if (is_double(q, i % RUNS))
        return PDNN_UNSUPPORTED;
    q->has_packed = q->has_packed || (pass == PDNN_FORWARD && i % RUNS == PDNN_ONEDNN_WEIGHTS_PACKED);
    one->part = PDNN_ONE_NODE_LAST;
    if (q->shape.N <= PDNN_DENSE_FEW_ROWS && pass != PDNN_BACKWARD_WEIGHTS)
        one->cold_bytes = cold_bytes(q);
    return PDNN_OK;
}

static struct pdnn_onednn_dense_cost *cost_of(struct question *q, int run) {
    const struct pdnn_onednn_dense_variant variant = pdnn_onednn_dense_variant_at(run % RUNS);
    return &q->costs.cost[q->passes[run / RUNS]][variant.way][variant.format];
}

/* The reorder between the stored format and the pass's, for a variant that could win with it. */
static enum pdnn_status prepare_reorder(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    struct question *q = user;
    int run = i / FORMATS;
    enum pdnn_onednn_weights_format stored = (enum pdnn_onednn_weights_format)(i % FORMATS);
    enum pdnn_pass pass = q->passes[run / RUNS];
    const struct pdnn_onednn_dense_variant variant = pdnn_onednn_dense_variant_at(run % RUNS);
    struct pdnn_onednn_dense_cost *cost = cost_of(q, run);
    bool is_usual =
        variant.format == stored && variant.way == pdnn_onednn_dense_usual(&q->costs, pass, stored).way;
    if (!may_store(q, stored) || !isfinite(cost->run_ns) ||
        !(is_usual || pdnn_onednn_dense_cost_competes(&q->costs, pass, cost->run_ns, stored)))
        return PDNN_UNSUPPORTED;
    enum pdnn_status status = compile_pass(q, pass, variant, stored, one, err);
    bool reorders = false;
    for (size_t k = 0; status == PDNN_OK && k < one->program.n_calls; k++)
        reorders = reorders || one->program.calls[k].node == PDNN_NONE;
    if (status == PDNN_OK && !reorders) {
        cost->reorder_ns[stored] = 0;
        return PDNN_UNSUPPORTED;
    }
    one->part = PDNN_ONE_NODE_REORDERS;
    one->cold_bytes = cold_bytes(q);
    return status;
}

/* The candidate that all others are compared with. */
static const bool is_yardstick[PDNN_ONEDNN_DENSE_PASSES * RUNS] = {
    [0] = true, [RUNS] = true, [2 * RUNS] = true};

/* A reorder's time is the mean of its runs, not the minimum, since a step does not run at the minimum. */
static enum pdnn_status measure(void *state, bool is_guess, double *ns, struct pdnn_err *err) {
    static const struct pdnn_tune_rules of_runs = {.rounds = ROUNDS,
                                                   .visit_ns = VISIT_NS,
                                                   .hopeless = HOPELESS},
                                        of_reorders = {.rounds = 1, .repeats = ROUNDS};
    struct question *q = state;
    double all[PDNN_ONEDNN_DENSE_PASSES * RUNS * FORMATS];
    struct pdnn_trial trial = {.tune = &q->compile->onednn->tune,
                               .n = q->n_passes * RUNS,
                               .group_size = RUNS,
                               .shuns_reference = true,
                               .prepare = prepare_run,
                               .user = q,
                               .from = q->compile->program->graph,
                               .is_guess = is_guess,
                               .room_bytes = q->compile->onednn->trial_bytes};
    pdnn_onednn_dense_costs_init(&q->costs);
    enum pdnn_status status = pdnn_trial_measure(&trial, &of_runs, is_yardstick, all, err);
    for (int i = 0; status == PDNN_OK && i < trial.n; i++)
        cost_of(q, i)->run_ns = all[i];
    trial.n *= FORMATS;
    trial.group_size = 1;
    trial.may_be_empty = true;
    trial.prepare = prepare_reorder;
    if (status == PDNN_OK)
        status = pdnn_trial_measure(&trial, &of_reorders, NULL, all, err);
    for (int i = 0; status == PDNN_OK && i < trial.n; i++) {
        if (isfinite(all[i]))
            cost_of(q, i / FORMATS)->reorder_ns[i % FORMATS] = all[i];
    }
    if (status == PDNN_OK)
        memcpy(ns, &q->costs, sizeof q->costs);
    pdnn_trial_finish(&trial);
    return status;
}

struct pdnn_tune_key pdnn_onednn_dense_key(const struct pdnn_onednn_dense_shape *shape, int64_t threads) {
    static const char *const formats[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT] = {"row_major", "column_major",
                                                                          "packed"};
    struct pdnn_tune_key key = {0};
    pdnn_tune_key_add(
        &key, "dense N=%" PRId64 " I=%" PRId64 " O=%" PRId64 " dtype=%s weights=%s passes=%d%d%d", shape->N,
        shape->I, shape->O, pdnn_dtype_name(shape->dtype), pdnn_dtype_name(shape->weights_dtype),
        shape->has_pass[0], shape->has_pass[1], shape->has_pass[2]);
    pdnn_tune_key_add(&key, "%s%s", shape->bias ? " bias" : "", shape->bias_gradient ? " bias_gradient" : "");
    for (int i = 0; i < shape->n_post_ops; i++) {
        const struct pdnn_onednn_post_op *post = &shape->post_op[i];
        const char *name = post->activation ? post->activation->op->name : "sum";
        pdnn_tune_key_add(&key, " %s", name);
        if (post->alpha != 0 || post->beta != 0)
            pdnn_tune_key_add(&key, "(%.9g,%.9g)", (double)post->alpha, (double)post->beta);
    }
    pdnn_tune_key_add(&key, "%s%s%s", shape->is_shifted ? " shifted" : "", shape->is_scaled ? " scaled" : "",
                      shape->pinned ? " pinned" : "");
    if (shape->is_placed)
        pdnn_tune_key_add(&key, " stored=%s", formats[shape->stored]);
    pdnn_tune_key_add(&key, " footprint=%" PRId64 " threads=%" PRId64, shape->footprint_bytes, threads);
    return key;
}

static void note(const struct pdnn_onednn_compile *compile, const struct pdnn_tune_key *key,
                 const struct question *q, const struct pdnn_onednn_dense_choice *choice) {
    int picks[1 + 2 * PDNN_ONEDNN_DENSE_PASSES] = {choice->stored}, n = 1;
    for (int i = 0; i < q->n_passes; i++) {
        picks[n++] = choice->variant[q->passes[i]].way;
        picks[n++] = choice->variant[q->passes[i]].format;
    }
    pdnn_tune_note(&compile->onednn->tune, key, picks, n);
}

enum pdnn_status pdnn_onednn_dense_choose(const struct pdnn_onednn_compile *compile, uint32_t weights,
                                          const struct pdnn_onednn_dense_shape *shape,
                                          struct pdnn_onednn_dense_choice *choice, struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    struct question q = {.compile = compile, .weights = weights, .whole = *shape, .shape = *shape};
    struct pdnn_onednn_dense_costs costs;
    if (onednn->forced_dense) {
        *choice = *onednn->forced_dense;
        return PDNN_OK;
    }
    shrink(&q.shape, &onednn->options);
    for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        if (shape->has_pass[pass])
            q.passes[q.n_passes++] = (enum pdnn_pass)pass;
    }
    const struct pdnn_tune_question asked = {.key = pdnn_onednn_dense_key(&q.shape, onednn->options.threads),
                                             .n = COSTS,
                                             .compilations = COMPILATIONS,
                                             .measure = measure,
                                             .state = &q};
    enum pdnn_status status = pdnn_tune_ask(&onednn->tune, &asked, &costs.cost[0][0][0].run_ns, err);
    if (status == PDNN_OK && !pdnn_onednn_dense_decide(&costs, shape, choice))
        status = pdnn_fail(err, PDNN_INTERNAL, "every implementation of a pass fails");
    if (status == PDNN_OK)
        note(compile, &asked.key, &q, choice);
    return status;
}
