#include "runtime/backends/onednn/rnn/tune.h"

#include "runtime/backends/onednn/rnn/layer.h"
#include "runtime/plan/plan.h"

#include <inttypes.h>
#include <string.h>

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

/* One way to run the layer, prepared. */
struct way {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    bool is_there;
};

static enum pdnn_status prepare(struct way *way, const struct pdnn_onednn_compile *compile,
                                const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence kind,
                                uint64_t room_bytes, struct pdnn_err *err) {
    const struct pdnn_plan_options options = {.limit_bytes = room_bytes ? room_bytes : 1, .seed = 1};
    pdnn_arena_init(&way->arena);
    pdnn_graph_init(&way->graph, &way->arena);
    pdnn_onednn_rnn_build_layer(shape, kind, &way->graph);
    enum pdnn_status status = pdnn_graph_status(&way->graph, err);
    if (status == PDNN_OK)
        status =
            pdnn_plan_create(&way->plan, compile->steps.backend, compile->onednn, &way->graph, &options, err);
    way->is_there = status == PDNN_OK;
    /* A layer whose own products were not tried says nothing about the way. */
    if (status == PDNN_OK && way->plan.program.is_untried)
        status = pdnn_fail(err, PDNN_TOO_BIG, "no room to measure a layer's products in");
    return status;
}

static void finish(struct way *way) {
    pdnn_plan_destroy(&way->plan);
    pdnn_arena_finish(&way->arena);
}

static int run(const void *state) {
    const struct way *way = state;
    return way->is_there ? pdnn_plan_run(&way->plan) : -1;
}

struct question {
    const struct pdnn_onednn_compile *compile;
    struct pdnn_onednn_rnn_shape shape; /* the one measured */
    bool is_possible[WAYS];             /* result: compiles, with room to measure it or without */
};

static enum pdnn_status measure(void *state, double *ns, struct pdnn_err *err) {
    struct question *question = state;
    const struct pdnn_tune_rules rules = {.rounds = ROUNDS};
    struct pdnn_tune_candidate candidate[WAYS];
    struct way ways[WAYS];
    enum pdnn_status status = PDNN_OK;
    uint64_t room_bytes = question->compile->onednn->trial_bytes;
    bool is_any_there = false;
    memset(ways, 0, sizeof ways);
    for (int i = 0; i < WAYS && (status == PDNN_OK || status == PDNN_UNSUPPORTED); i++) {
        status = prepare(&ways[i], question->compile, &question->shape, kinds[i], room_bytes, err);
        candidate[i] = (struct pdnn_tune_candidate){.run = run, .state = &ways[i]};
        question->is_possible[i] = status == PDNN_OK || status == PDNN_TOO_BIG;
        is_any_there = is_any_there || ways[i].is_there;
        if (ways[i].is_there && room_bytes != UINT64_MAX)
            room_bytes -= ways[i].plan.block_bytes;
    }
    if (status == PDNN_UNSUPPORTED && is_any_there)
        status = PDNN_OK;
    if (status == PDNN_OK)
        pdnn_tune_measure(&rules, candidate, WAYS);
    for (int i = 0; i < WAYS; i++) {
        if (status == PDNN_OK)
            ns[i] = candidate[i].ns;
        finish(&ways[i]);
    }
    return status;
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
                                        const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                        struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    struct question question = {.compile = compile, .shape = *shape};
    const double *ns = NULL;
    shrink(&question.shape);
    enum pdnn_status status =
        pdnn_tune_ask(&onednn->tune,
                      &(struct pdnn_tune_question){.key = key_of(&question.shape, onednn->options.threads),
                                                   .n = WAYS,
                                                   .compilations = 1,
                                                   .measure = measure,
                                                   .state = &question},
                      &ns, err);
    if (status == PDNN_TOO_BIG) {
        onednn->is_untried = true;
        *is_fused = question.is_possible[0];
        return PDNN_OK;
    }
    if (status != PDNN_OK)
        return status;
    int picked = pdnn_tune_pick(ns, WAYS, MARGIN);
    if (picked < 0)
        return pdnn_fail(err, PDNN_INTERNAL, "onednn: every way to run a recurrent layer fails");
    *is_fused = kinds[picked] == PDNN_RECURRENCE_FUSED;
    return PDNN_OK;
}
