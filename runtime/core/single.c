#include "runtime/core/single.h"

#include "models/cost.h"
#include "models/op.h"
#include "models/forward.h"
#include "base/clock.h"

#include <stdlib.h>

static const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 1.0};
/* For int8 data: what quantizing non-negative values gives. */
static const struct pdnn_fill whole = {PDNN_FILL_CLASS, 128};

/* Opens the backend and starts an empty graph. */
static enum pdnn_status start(const struct pdnn_backend_def *backend, int64_t threads,
                              struct pdnn_single **single, struct pdnn_err *err) {
    struct pdnn_single *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a graph of one op");
    enum pdnn_status status = backend->open(threads, 0, &made->state, err);
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

static uint32_t add_square(struct pdnn_single *single, enum pdnn_role role, enum pdnn_dtype dtype,
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
static enum pdnn_status prepare(struct pdnn_single *single, uint64_t limit_bytes, struct pdnn_err *err) {
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

enum pdnn_status pdnn_single_create_dense(const struct pdnn_backend_def *backend, int64_t threads,
                                          enum pdnn_dtype dtype, int64_t size, uint64_t limit_bytes,
                                          struct pdnn_single **single, struct pdnn_err *err) {
    struct pdnn_single *made = NULL;
    enum pdnn_status status = start(backend, threads, &made, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_graph *graph = &made->graph;
    uint32_t x = add_square(made, PDNN_ROLE_INPUT, dtype, size);
    uint32_t w = add_square(made, PDNN_ROLE_WEIGHT, dtype, size);
    graph->result = pdnn_graph_forward(graph, &pdnn_op_dense, (const uint32_t[]){x, w, PDNN_NONE}, NULL);
    status = prepare(made, limit_bytes, err);
    if (status == PDNN_OK)
        *single = made;
    else
        pdnn_single_destroy(made);
    return status;
}

/* FLOP/ns of the second run; the first pays one-time costs. */
static enum pdnn_status try(const struct pdnn_single *single, double *rate, struct pdnn_err *err) {
    for (int i = 0; i < 2; i++) {
        uint64_t start_ns = pdnn_clock_ns();
        int code = pdnn_plan_run(&single->plan);
        *rate = single->flop / (double)(pdnn_clock_ns() - start_ns + 1);
        if (code)
            return pdnn_fail(err, PDNN_INTERNAL, "dense on %s failed with code %d", single->backend->name,
                             code);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_single_create_gemm(const struct pdnn_backend_def *backend, int64_t threads,
                                         enum pdnn_dtype dtype, double flop_max, uint64_t limit_bytes,
                                         struct pdnn_single **single, struct pdnn_err *err) {
    static const int64_t sizes[] = {8192, 6144, 4096, 3072, 2048, 1536, 1024, 512};
    const size_t n_sizes = sizeof sizes / sizeof *sizes;
    struct pdnn_single *best = NULL, *other = NULL;
    double best_rate = 0, rate = 0;
    enum pdnn_status status = PDNN_TOO_BIG;
    for (size_t i = 0, tried = 0; i < n_sizes && tried < 2; i++) {
        double size = (double)sizes[i];
        if (2 * size * size * size > flop_max && i + 1 < n_sizes)
            continue;
        other = NULL;
        status = pdnn_single_create_dense(backend, threads, dtype, sizes[i], limit_bytes, &other, err);
        if (status == PDNN_TOO_BIG)
            continue;
        if (status == PDNN_OK)
            status = try(other, &rate, err);
        if (status != PDNN_OK)
            goto out;
        tried++;
        if (rate > best_rate) {
            struct pdnn_single *slower = best;
            best = other;
            other = slower;
            best_rate = rate;
        }
        pdnn_single_destroy(other);
        other = NULL;
    }
    if (best) {
        *single = best;
        return PDNN_OK;
    }
out:
    pdnn_single_destroy(other);
    pdnn_single_destroy(best);
    return status;
}

void pdnn_single_destroy(struct pdnn_single *single) {
    if (!single)
        return;
    if (single->plan.backend)
        pdnn_plan_destroy(&single->plan);
    pdnn_arena_finish(&single->arena);
    if (single->backend->close)
        single->backend->close(single->state);
    free(single);
}
