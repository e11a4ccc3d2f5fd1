#include "runtime/backends/onednn/dense/tune.h"

#include "base/clock.h"
#include "runtime/backends/onednn/dense/bench.h"
#include "runtime/backends/onednn/library/reorder.h"
#include "runtime/backends/onednn/post_ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shapes are shrunk to these limits for measuring, about 10 ms on one thread. The library changes its
 * algorithm somewhere below a minibatch of 1024, so N stays at that and the weights shrink. Shapes that
 * shrink to the same one share its times. */
enum { MAX_N = 1024, MAX_WEIGHTS = 1 << 22, MAX_MULTIPLY_ADDS = 600000000 };
enum { COMPILATIONS = 2, ROUNDS = 3, VISIT_NS = 50000 };

/* A candidate slower than the best by this factor is dropped early. */
static const double HOPELESS = 1.5;

/* Of a step that touches more than the caches hold, it does not matter how much more. */
static void shrink(struct pdnn_onednn_dense_shape *shape, const struct pdnn_step_options *options) {
    while (shape->N > MAX_N)
        shape->N /= 2;
    while (shape->I * shape->O > MAX_WEIGHTS || shape->N * shape->I * shape->O > MAX_MULTIPLY_ADDS)
        *(shape->I > shape->O ? &shape->I : &shape->O) /= 2;
    while ((uint64_t)shape->footprint_bytes / 2 >= pdnn_onednn_dense_bench_most_bytes(options))
        shape->footprint_bytes /= 2;
}

/* ns of the reorder on weights as cold as in the step; INFINITY if it fails. The mean of single runs, not the
 * minimum, since a step does not run at the minimum. */
static enum pdnn_status time_reorder(struct pdnn_onednn_dense_bench *bench,
                                     struct pdnn_onednn_reorder *reorder, uint64_t from_bytes,
                                     uint64_t to_bytes, void *scratch, double *ns, struct pdnn_err *err) {
    double sum = 0;
    *ns = INFINITY;
    for (int round = 0; round <= ROUNDS; round++) {
        char *from = pdnn_onednn_dense_bench_place(bench, from_bytes),
             *to = pdnn_onednn_dense_bench_place(bench, to_bytes);
        enum pdnn_status status = pdnn_onednn_reorder_bind(reorder, from, to, scratch, err);
        if (status != PDNN_OK)
            return status;
        uint64_t start = pdnn_clock_ns();
        int code = pdnn_onednn_reorder_run(reorder);
        double once = (double)(pdnn_clock_ns() - start);
        if (code != 0)
            return PDNN_OK;
        sum += round ? once : 0; /* the first run is a warm-up */
    }
    *ns = sum / ROUNDS;
    return PDNN_OK;
}

/* ns it takes to reorder the weights between the stored layout and the pass's; 0 if they are the same. */
static enum pdnn_status reorder_ns(struct pdnn_onednn_dense_bench *bench,
                                   const struct pdnn_onednn_dense_candidate *candidate,
                                   const struct pdnn_onednn_layout *stored, double *ns,
                                   struct pdnn_err *err) {
    bool writes = candidate->pass == PDNN_BACKWARD_WEIGHTS;
    const struct pdnn_onednn_layout *used = candidate->made.weights;
    const struct pdnn_onednn_layout *from = writes ? used : stored, *to = writes ? stored : used;
    struct pdnn_onednn_block scratch = {0};
    const int64_t dim[] = {bench->shape.O, bench->shape.I};
    uint64_t room_bytes = bench->room_bytes;
    struct pdnn_onednn_reorder reorder = {0};
    *ns = 0;
    if (pdnn_onednn_layout_equal(used, stored))
        return PDNN_OK;
    enum pdnn_status status =
        pdnn_onednn_reorder_create(bench->library, bench->options, from, to, dim, &reorder, err);
    if (status == PDNN_OK)
        status =
            pdnn_onednn_block_new(&scratch, pdnn_onednn_reorder_scratch_bytes(&reorder), 0, &room_bytes, err);
    if (status == PDNN_OK)
        status = time_reorder(bench, &reorder, pdnn_onednn_layout_bytes(from), pdnn_onednn_layout_bytes(to),
                              scratch.data, ns, err);
    pdnn_onednn_reorder_destroy(&reorder);
    free(scratch.memory);
    return status;
}

/* Fills in the candidates' reorder costs for weights stored in the format. */
static enum pdnn_status measure_stored(struct pdnn_onednn_dense_bench *bench,
                                       enum pdnn_onednn_weights_format format,
                                       struct pdnn_onednn_dense_costs *costs, struct pdnn_err *err) {
    struct pdnn_onednn_layout *stored = NULL;
    enum pdnn_status status =
        pdnn_onednn_dense_weights_layout(bench->library, &bench->shape, format, &stored, err);
    for (int i = 0; status == PDNN_OK && i < bench->n_candidates; i++) {
        const struct pdnn_onednn_dense_candidate *candidate = &bench->candidate[i];
        const struct pdnn_onednn_dense_variant *variant = &candidate->variant;
        struct pdnn_onednn_dense_cost *cost = &costs->cost[candidate->pass][variant->way][variant->format];
        bool usual = variant->format == format &&
                     variant->way == pdnn_onednn_dense_usual(costs, candidate->pass, format).way;
        if (usual || pdnn_onednn_dense_cost_competes(costs, candidate->pass, cost->run_ns, format))
            status = reorder_ns(bench, candidate, stored, &cost->reorder_ns[format], err);
    }
    pdnn_onednn_layout_destroy(stored);
    return status;
}

/* The candidate that all others are compared with. */
static bool is_yardstick(const struct pdnn_onednn_dense_candidate *candidate) {
    return candidate->variant.way == PDNN_ONEDNN_DENSE_INNER_PRODUCT &&
           candidate->variant.format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR;
}

static void measure_runs(const struct pdnn_onednn_dense_bench *bench, struct pdnn_onednn_dense_costs *costs) {
    const struct pdnn_tune_rules rules = {.rounds = ROUNDS, .visit_ns = VISIT_NS, .hopeless = HOPELESS};
    struct pdnn_tune_candidate runs[PDNN_ONEDNN_DENSE_CANDIDATES];
    for (int i = 0; i < bench->n_candidates; i++)
        runs[i] = (struct pdnn_tune_candidate){.run = pdnn_onednn_dense_bench_run,
                                               .state = &bench->candidate[i],
                                               .group = bench->candidate[i].pass,
                                               .is_yardstick = is_yardstick(&bench->candidate[i])};
    pdnn_tune_measure(&rules, runs, bench->n_candidates);
    for (int i = 0; i < bench->n_candidates; i++) {
        const struct pdnn_onednn_dense_candidate *candidate = &bench->candidate[i];
        costs->cost[candidate->pass][candidate->variant.way][candidate->variant.format].run_ns = runs[i].ns;
    }
}

struct question {
    struct pdnn_onednn *onednn;
    struct pdnn_onednn_dense_shape shape; /* the one measured */
};

/* Whether the weights could be stored in the format: packed only as the forward pass wants them. */
static bool may_store(const struct pdnn_onednn_dense_bench *bench, enum pdnn_onednn_weights_format format) {
    if (format != PDNN_ONEDNN_WEIGHTS_PACKED)
        return format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR || !bench->shape.pinned;
    return !bench->shape.pinned &&
           pdnn_onednn_dense_bench_find(bench, PDNN_FORWARD, PDNN_ONEDNN_DENSE_INNER_PRODUCT, format);
}

/* The costs are kept as an array of doubles. */
enum { COSTS = sizeof(struct pdnn_onednn_dense_costs) / sizeof(double) };

static enum pdnn_status measure(void *state, double *ns, struct pdnn_err *err) {
    const struct question *question = state;
    struct pdnn_onednn_dense_costs costs;
    struct pdnn_onednn_dense_bench *bench = NULL;
    enum pdnn_status status = pdnn_onednn_dense_bench_create(
        question->onednn->library, &question->onednn->options, &question->shape, &bench, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_dense_bench_bind(bench, question->onednn->trial_bytes, err);
    pdnn_onednn_dense_costs_init(&costs);
    if (status == PDNN_OK)
        measure_runs(bench, &costs);
    for (int i = 0; status == PDNN_OK && i < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; i++) {
        if (may_store(bench, (enum pdnn_onednn_weights_format)i))
            status = measure_stored(bench, (enum pdnn_onednn_weights_format)i, &costs, err);
    }
    if (status == PDNN_OK)
        memcpy(ns, &costs, sizeof costs);
    pdnn_onednn_dense_bench_destroy(bench);
    return status;
}

/* Costs without a measurement: a run is one unit and so is a reorder, which makes every pass run its usual
 * variant where that exists, on weights as it stores them. */
static enum pdnn_status guess(const struct question *question, struct pdnn_onednn_dense_costs *costs,
                              struct pdnn_err *err) {
    struct pdnn_onednn_dense_bench *bench = NULL;
    enum pdnn_status status = pdnn_onednn_dense_bench_create(
        question->onednn->library, &question->onednn->options, &question->shape, &bench, err);
    pdnn_onednn_dense_costs_init(costs);
    for (int format = 0; status == PDNN_OK && format < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; format++) {
        struct pdnn_onednn_layout *stored = NULL;
        if (!may_store(bench, (enum pdnn_onednn_weights_format)format))
            continue;
        status = pdnn_onednn_dense_weights_layout(bench->library, &bench->shape,
                                                  (enum pdnn_onednn_weights_format)format, &stored, err);
        for (int i = 0; status == PDNN_OK && i < bench->n_candidates; i++) {
            const struct pdnn_onednn_dense_candidate *candidate = &bench->candidate[i];
            const struct pdnn_onednn_dense_variant *variant = &candidate->variant;
            struct pdnn_onednn_dense_cost *cost =
                &costs->cost[candidate->pass][variant->way][variant->format];
            cost->run_ns = 1;
            cost->reorder_ns[format] = !pdnn_onednn_layout_equal(candidate->made.weights, stored);
        }
        pdnn_onednn_layout_destroy(stored);
    }
    pdnn_onednn_dense_bench_destroy(bench);
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
    for (int i = 0; i < shape->n_post_ops; i++)
        pdnn_tune_key_add(&key, " %s", pdnn_onednn_post_op_name(shape->post_op[i]));
    pdnn_tune_key_add(&key, "%s%s%s", shape->is_shifted ? " shifted" : "", shape->is_scaled ? " scaled" : "",
                      shape->pinned ? " pinned" : "");
    if (shape->is_placed)
        pdnn_tune_key_add(&key, " stored=%s", formats[shape->stored]);
    pdnn_tune_key_add(&key, " footprint=%" PRId64 " threads=%" PRId64, shape->footprint_bytes, threads);
    return key;
}

enum pdnn_status pdnn_onednn_dense_choose(struct pdnn_onednn *onednn,
                                          const struct pdnn_onednn_dense_shape *shape,
                                          struct pdnn_onednn_dense_choice *choice, struct pdnn_err *err) {
    struct question question = {onednn, *shape};
    struct pdnn_onednn_dense_costs costs;
    const double *ns = NULL;
    if (onednn->forced_dense) {
        *choice = *onednn->forced_dense;
        return PDNN_OK;
    }
    shrink(&question.shape, &onednn->options);
    enum pdnn_status status = pdnn_tune_ask(
        &onednn->tune,
        &(struct pdnn_tune_question){.key = pdnn_onednn_dense_key(&question.shape, onednn->options.threads),
                                     .n = COSTS,
                                     .compilations = COMPILATIONS,
                                     .measure = measure,
                                     .state = &question},
        &ns, err);
    if (status == PDNN_OK)
        memcpy(&costs, ns, sizeof costs);
    if (status == PDNN_TOO_BIG) {
        onednn->is_untried = true;
        status = guess(&question, &costs, err);
    }
    if (status != PDNN_OK)
        return status;
    if (!pdnn_onednn_dense_decide(&costs, shape, choice))
        return pdnn_fail(err, PDNN_INTERNAL, "every implementation of a pass fails");
    return PDNN_OK;
}
