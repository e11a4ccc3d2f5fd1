#include "runtime/roofs/one_op_plan.h"

#include "models/cost/cost.h"
#include "models/op.h"
#include "models/forward.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

static const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 1.0};
/* For int8 data: what quantizing non-negative values gives. */
static const struct pdnn_fill whole = {PDNN_FILL_CLASS, 128};

/* Opens the backend and starts an empty graph. */
static enum pdnn_status start(const struct pdnn_backend_def *backend, const struct pdnn_call_options *options,
                              struct pdnn_one_op_plan **single, struct pdnn_err *err) {
    struct pdnn_one_op_plan *made = pdnn_alloc(1, sizeof *made);
    enum pdnn_status status = backend->open(options, &made->state, err);
    if (status != PDNN_OK) {
        free(made);
        return status;
    }
    made->backend = backend;
    pdnn_arena_init(&made->arena);
    pdnn_graph_init(&made->graph, &made->arena);
    *single = made;
    return PDNN_OK;
}

static uint32_t add_square(struct pdnn_one_op_plan *single, enum pdnn_role role, enum pdnn_dtype dtype,
                           int64_t size) {
    bool is_whole = dtype == PDNN_INT8 && role == PDNN_ROLE_INPUT;
    const struct pdnn_tensor square = {.role = role,
                                       .dtype = dtype,
                                       .rank = 2,
                                       .dim = {size, size},
                                       .fill = is_whole ? whole : fill,
                                       .of = PDNN_NONE};
    return pdnn_graph_tensor(&single->graph, &square);
}

/* Costs and prepares the finished graph. */
static enum pdnn_status prepare(struct pdnn_one_op_plan *single, uint64_t limit_bytes, struct pdnn_err *err) {
    const struct pdnn_plan_options options = {.limit_bytes = limit_bytes, .seed = 1};
    struct pdnn_totals totals;
    enum pdnn_status status = pdnn_graph_status(&single->graph, err);
    if (status == PDNN_OK)
        status = pdnn_cost_graph(&single->graph, &totals, err);
    if (status != PDNN_OK)
        return status;
    single->flop = (double)totals.cost.flop_count;
    return pdnn_plan_create(&single->plan, single->backend, single->state, &single->graph, &options, err);
}

/* One dense node: the forward pass, or a product of the gradient. All matrices are square, so dy and dx are
 * like x, and dw is like w. */
static void add_dense(struct pdnn_one_op_plan *single, const struct pdnn_one_op_plan_dense *dense) {
    struct pdnn_graph *graph = &single->graph;
    uint32_t x = add_square(single, PDNN_ROLE_INPUT, dense->dtype, dense->size);
    uint32_t w = add_square(single, PDNN_ROLE_WEIGHT, dense->dtype, dense->size);
    if (dense->pass == PDNN_FORWARD) {
        graph->result = pdnn_graph_forward(graph, &pdnn_op_dense, (const uint32_t[]){x, w, PDNN_NONE}, NULL);
        return;
    }
    bool of_weights = dense->pass == PDNN_BACKWARD_WEIGHTS;
    uint32_t dy = of_weights ? add_square(single, PDNN_ROLE_INPUT, dense->dtype, dense->size) : w;
    graph->result = of_weights ? pdnn_graph_like(graph, w, PDNN_ROLE_WEIGHT_GRADIENT)
                               : pdnn_graph_like(graph, x, PDNN_ROLE_GRADIENT);
    pdnn_graph_node(graph, &(struct pdnn_node){.op = &pdnn_op_dense,
                                               .pass = dense->pass,
                                               .n_inputs = 2,
                                               .n_outputs = 1,
                                               .input = (uint32_t[]){x, dy},
                                               .output = &graph->result});
}

enum pdnn_status pdnn_one_op_plan_create_dense(const struct pdnn_backend_def *backend,
                                               const struct pdnn_call_options *options,
                                               const struct pdnn_one_op_plan_dense *dense,
                                               uint64_t limit_bytes, struct pdnn_one_op_plan **single,
                                               struct pdnn_err *err) {
    struct pdnn_one_op_plan *made = NULL;
    enum pdnn_status status = start(backend, options, &made, err);
    if (status != PDNN_OK)
        return status;
    add_dense(made, dense);
    status = prepare(made, limit_bytes, err);
    if (status == PDNN_OK)
        *single = made;
    else
        pdnn_one_op_plan_destroy(made);
    return status;
}

/* FLOP/ns of the best of three runs, or fewer if they are far from the rate to beat; one before pays one-time
 * costs. */
static enum pdnn_status try(const struct pdnn_one_op_plan *single, double to_beat, double *rate,
                            struct pdnn_err *err) {
    for (int i = 0; i < 2 || (i < 4 && *rate > 0.8 * to_beat); i++) {
        uint64_t start_ns = pdnn_clock_ns();
        int code = pdnn_plan_run(&single->plan);
        double now = single->flop / (double)(pdnn_clock_ns() - start_ns + 1);
        *rate = i < 2 || now > *rate ? now : *rate;
        if (code)
            return pdnn_fail(err, PDNN_INTERNAL, "dense on %s failed with code %d", single->backend->name,
                             code);
    }
    return PDNN_OK;
}

/* The fastest candidate so far. */
struct contest {
    const struct pdnn_backend_def *backend;
    const struct pdnn_call_options *options;
    uint64_t limit_bytes;
    struct pdnn_one_op_plan *best; /* NULL: none yet */
    struct pdnn_one_op_plan_dense dense;
    double rate;
};

/* Creates and runs one more candidate, and keeps it if it is the fastest. */
static enum pdnn_status contend(struct contest *contest, const struct pdnn_one_op_plan_dense *dense,
                                struct pdnn_err *err) {
    struct pdnn_one_op_plan *other = NULL;
    double rate = 0;
    enum pdnn_status status = pdnn_one_op_plan_create_dense(contest->backend, contest->options, dense,
                                                            contest->limit_bytes, &other, err);
    if (status == PDNN_OK)
        status = try(other, contest->rate, &rate, err);
    if (status == PDNN_OK && rate > contest->rate) {
        struct pdnn_one_op_plan *slower = contest->best;
        contest->best = other;
        contest->dense = *dense;
        contest->rate = rate;
        other = slower;
    }
    pdnn_one_op_plan_destroy(other);
    return status;
}

/* The largest sizes that take at most flop_max FLOP and fit the memory, or else the smallest one. */
static enum pdnn_status contend_by_size(struct contest *contest, enum pdnn_dtype dtype, double flop_max,
                                        struct pdnn_err *err) {
    static const int64_t sizes[] = {8192, 6144, 4096, 3072, 2048, 1536, 1024, 512};
    enum { SIZES = sizeof sizes / sizeof *sizes, TRIED = 3 };
    enum pdnn_status status = PDNN_TOO_BIG;
    for (size_t i = 0, tried = 0; i < SIZES && tried < TRIED; i++) {
        const struct pdnn_one_op_plan_dense dense = {dtype, PDNN_FORWARD, sizes[i]};
        double size = (double)sizes[i];
        if (2 * size * size * size > flop_max && i + 1 < SIZES)
            continue;
        status = contend(contest, &dense, err);
        if (status != PDNN_OK && status != PDNN_TOO_BIG)
            return status;
        tried += status == PDNN_OK;
    }
    return contest->best ? PDNN_OK : status;
}

enum pdnn_status pdnn_one_op_plan_create_gemm(const struct pdnn_backend_def *backend,
                                              const struct pdnn_call_options *options, enum pdnn_dtype dtype,
                                              double flop_max, uint64_t limit_bytes,
                                              struct pdnn_one_op_plan **single, struct pdnn_err *err) {
    static const enum pdnn_pass others[] = {PDNN_BACKWARD_DATA, PDNN_BACKWARD_WEIGHTS};
    struct contest contest = {.backend = backend, .options = options, .limit_bytes = limit_bytes};
    enum pdnn_status status = contend_by_size(&contest, dtype, flop_max, err);
    int64_t size = contest.dense.size;
    for (size_t i = 0; status == PDNN_OK && dtype != PDNN_INT8 && i < sizeof others / sizeof *others; i++) {
        const struct pdnn_one_op_plan_dense dense = {dtype, others[i], size};
        struct pdnn_err why = {0};
        status = contend(&contest, &dense, &why);
        if (status == PDNN_UNSUPPORTED || status == PDNN_TOO_BIG)
            status = PDNN_OK;
        else if (status != PDNN_OK)
            pdnn_fail(err, status, "%s", why.text);
    }
    if (status == PDNN_OK)
        *single = contest.best;
    else
        pdnn_one_op_plan_destroy(contest.best);
    return status;
}

void pdnn_one_op_plan_destroy(struct pdnn_one_op_plan *single) {
    if (!single)
        return;
    if (single->plan.backend)
        pdnn_plan_destroy(&single->plan);
    pdnn_arena_finish(&single->arena);
    if (single->backend->close)
        single->backend->close(single->state);
    free(single);
}
