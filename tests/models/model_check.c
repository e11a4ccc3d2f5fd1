#include "tests/models/model_check.h"

#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/reference_run.h"

#include "models/transform/backward.h"
#include "models/build.h"
#include "models/op.h"
#include "models/rearrange.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pdnn_instance instance_of(const char *id) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_instance_resolve(&instance, 2);
    return instance;
}

void build_graph(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph) {
    struct pdnn_instance instance = instance_of(id);
    struct pdnn_err err = {0};
    pdnn_arena_init(arena);
    if (pdnn_instance_graph(&instance, arena, graph, &err) != PDNN_OK)
        fail_msg("%s: %s", id, err.text);
}

struct pdnn_totals totals_of(const char *id) {
    struct pdnn_instance instance = instance_of(id);
    struct pdnn_arena arena;
    struct pdnn_totals totals;
    struct pdnn_err err = {0};
    pdnn_arena_init(&arena);
    if (pdnn_cost_instance(&instance, &arena, false, &totals, &err) != PDNN_OK)
        fail_msg("%s: %s", id, err.text);
    pdnn_arena_finish(&arena);
    return totals;
}

void check_invalid(const char *id, const char *reason) {
    struct pdnn_instance instance = instance_of(id);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    pdnn_arena_init(&arena);
    assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_INVALID);
    if (!strstr(err.text, reason))
        fail_msg("%s: '%s' does not say '%s'", id, err.text, reason);
    pdnn_arena_finish(&arena);
}

void check_flop_counts(const struct pdnn_graph *graph, const char *what) {
    double **values = reference_values(graph);
    reference_fill(graph, values, 1);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        if (pdnn_cost_node(graph, node, &cost, &err) != PDNN_OK)
            fail_msg("%s: %s", what, err.text);
        uint64_t counted = reference_run(graph, values, i, i + 1);
        if (counted != cost.in_bounds_flop_count || cost.in_bounds_flop_count > cost.flop_count)
            fail_msg("%s node %zu (%s %s): counted %" PRIu64 ", cost %" PRIu64 " of %" PRIu64, what, i,
                     node->op->name, pdnn_pass_name(node->pass), counted, cost.in_bounds_flop_count,
                     cost.flop_count);
    }
    reference_values_free(graph, values);
}

void check_depth_costs(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_totals full, quick = totals_of(id);
    struct pdnn_err err = {0};
    build_graph(id, &arena, &graph);
    assert_int_equal(pdnn_cost_graph(&graph, &full, &err), PDNN_OK);
    if (memcmp(&full, &quick, sizeof full) != 0)
        fail_msg("%s: whole %" PRIu64 " params %" PRIu64 " FLOP, by depth %" PRIu64 " %" PRIu64, id,
                 full.params, full.cost.flop_count, quick.params, quick.cost.flop_count);
    pdnn_arena_finish(&arena);
}

void check_same_step(const struct pdnn_graph *fused, double **a, double **b, const char *what) {
    double tolerance = fused->loss == PDNN_NONE ? 1e-9 : 0;
    for (size_t i = 0; i < fused->n_tensors; i++) {
        const struct pdnn_tensor *tensor = &fused->tensors[i];
        bool kept = (tensor->role == PDNN_ROLE_WEIGHT || tensor->role == PDNN_ROLE_STATE) && !tensor->fold;
        kept = kept || i == fused->loss || i == fused->result;
        for (int64_t k = 0; kept && k < pdnn_tensor_elements(tensor); k++) {
            if (!(fabs(a[i][k] - b[i][k]) <= tolerance * (1 + fabs(a[i][k]))))
                fail_msg("%s: tensor %zu element %" PRId64 " is %g unfused, %g fused", what, i, k, a[i][k],
                         b[i][k]);
        }
    }
}

double **run_step(const struct pdnn_graph *graph, uint64_t seed) {
    double **values = reference_values(graph);
    reference_fill(graph, values, seed);
    reference_run(graph, values, 0, graph->n_nodes);
    return values;
}

void check_fusion(const char *id) {
    struct pdnn_arena arena[2];
    struct pdnn_graph graph[2];
    double **values[2];
    for (int fused = 0; fused < 2; fused++) {
        char text[PDNN_ID_TEXT];
        snprintf(text, sizeof text, "%s,fuse=%s", id, fused ? "post-ops" : "none");
        build_graph(text, &arena[fused], &graph[fused]);
        values[fused] = run_step(&graph[fused], 5);
    }
    assert_true(graph[1].n_nodes < graph[0].n_nodes);
    assert_int_equal(graph[0].n_tensors, graph[1].n_tensors);
    check_same_step(&graph[1], values[0], values[1], id);
    for (int fused = 0; fused < 2; fused++) {
        reference_values_free(&graph[fused], values[fused]);
        pdnn_arena_finish(&arena[fused]);
    }
}

/* Copies data and weights of one graph to another graph of the same model; tensors
 * correspond in order of creation. */
static void copy_data(const struct pdnn_graph *from, double **source, const struct pdnn_graph *to,
                      double **target) {
    size_t k = 0;
    for (size_t i = 0; i < to->n_tensors; i++) {
        enum pdnn_role role = to->tensors[i].role;
        if (role != PDNN_ROLE_WEIGHT && role != PDNN_ROLE_INPUT && role != PDNN_ROLE_LABEL)
            continue;
        while (from->tensors[k].role != role)
            k++;
        assert_int_equal(pdnn_tensor_elements(&from->tensors[k]), pdnn_tensor_elements(&to->tensors[i]));
        memcpy(target[i], source[k++], (size_t)pdnn_tensor_elements(&to->tensors[i]) * sizeof **target);
    }
}

static void compare_results(const struct pdnn_graph graph[2], double **values[2], const char *id) {
    uint32_t a = graph[0].loss != PDNN_NONE ? graph[0].loss : graph[0].result;
    uint32_t b = graph[1].loss != PDNN_NONE ? graph[1].loss : graph[1].result;
    for (int64_t i = 0; i < pdnn_tensor_elements(&graph[0].tensors[a]); i++) {
        if (!(fabs(values[0][a][i] - values[1][b][i]) <= 1e-9 * (1 + fabs(values[0][a][i]))))
            fail_msg("%s: element %d is %g, with the other setting %g", id, (int)i, values[0][a][i],
                     values[1][b][i]);
    }
}

void check_same_model(const char *id, const char *one, const char *other) {
    struct pdnn_arena arena[2];
    struct pdnn_graph graph[2];
    double **values[2];
    for (int i = 0; i < 2; i++) {
        char text[PDNN_ID_TEXT];
        snprintf(text, sizeof text, "%s,%s", id, i ? other : one);
        build_graph(text, &arena[i], &graph[i]);
        values[i] = reference_values(&graph[i]);
        reference_fill(&graph[i], values[i], 5);
    }
    copy_data(&graph[0], values[0], &graph[1], values[1]);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2; i++)
            reference_run(&graph[i], values[i], 0, graph[i].n_nodes);
        compare_results(graph, values, id);
    }
    for (int i = 0; i < 2; i++) {
        reference_values_free(&graph[i], values[i]);
        pdnn_arena_finish(&arena[i]);
    }
}

void check_loss_falls(const char *id, int steps, double factor) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    double **values = reference_values(&graph), first = 0;
    reference_fill(&graph, values, 3);
    for (int step = 0; step < steps; step++) {
        reference_run(&graph, values, 0, graph.n_nodes);
        first = step ? first : values[graph.loss][0];
    }
    if (!(values[graph.loss][0] < factor * first))
        fail_msg("%s: loss %g after %g", id, values[graph.loss][0], first);
    reference_values_free(&graph, values);
    pdnn_arena_finish(&arena);
}

uint64_t flop_of_op(const struct pdnn_graph *graph, const struct pdnn_op_def *op) {
    uint64_t flop = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_cost_node(graph, &graph->nodes[i], &cost, &err), PDNN_OK);
        if (graph->nodes[i].op == op)
            flop += cost.flop_count;
    }
    return flop;
}

uint64_t products_flop(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    uint64_t flop = flop_of_op(&graph, &pdnn_op_dense) + flop_of_op(&graph, &pdnn_op_matmul);
    pdnn_arena_finish(&arena);
    return flop;
}

int64_t count_nodes(const struct pdnn_graph *graph, const struct pdnn_op_def *op, int attr, int64_t value) {
    int64_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        count += node->op == op && node->pass == PDNN_FORWARD && node->attr[attr] == value;
    }
    return count;
}

void begin_chain(struct chain *chain) {
    pdnn_arena_init(&chain->arena);
    pdnn_graph_init(&chain->graph, &chain->arena);
}

uint32_t chain_weight(struct chain *chain, int rank, const int64_t *dim) {
    return pdnn_graph_weight(&chain->graph, rank, dim, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
}

void chain_loss(struct chain *chain, uint32_t y) {
    enum { CLASSES = 3 };
    struct pdnn_graph *graph = &chain->graph;
    int64_t N = graph->tensors[y].dim[0], units = pdnn_tensor_elements(&graph->tensors[y]) / N;
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {N},
                                 .fill = {PDNN_FILL_CLASS, CLASSES},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    uint32_t w = chain_weight(chain, 2, (int64_t[]){CLASSES, units});
    y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, label, PDNN_NONE}, NULL);
}

void check_chain(struct chain *chain, uint32_t y, const char *what) {
    struct pdnn_err err = {0};
    if (pdnn_graph_status(&chain->graph, &err) != PDNN_OK)
        fail_msg("%s: %s", what, err.text);
    chain_loss(chain, y);
    check_loss_chain(chain, what);
}

void check_loss_chain(struct chain *chain, const char *what) {
    struct pdnn_err err = {0};
    pdnn_backward_derive(&chain->graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    if (pdnn_graph_status(&chain->graph, &err) != PDNN_OK)
        fail_msg("%s: %s", what, err.text);
    for (uint64_t seed = 1; seed <= 3; seed++)
        check_gradients(&chain->graph, seed);
    check_flop_counts(&chain->graph, what);
    pdnn_arena_finish(&chain->arena);
}

int64_t pattern_of(const char *text) {
    struct pdnn_pattern pattern;
    struct pdnn_pattern_name names[PDNN_AXES];
    const char *problem = NULL;
    if (!pdnn_pattern_parse(text, &pattern, names, &problem))
        fail_msg("'%s': %s", text, problem);
    return pdnn_pattern_pack(&pattern);
}
