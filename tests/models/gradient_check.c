#include "tests/models/gradient_check.h"

#include "tests/cmocka_all.h"
#include "tests/models/reference_run.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of nodes that run before the updates. */
static size_t nodes_before_updates(const struct pdnn_graph *graph) {
    size_t i = 0;
    while (i < graph->n_nodes && graph->nodes[i].pass != PDNN_UPDATE)
        i++;
    return i;
}

/* The number of nodes that run until the loss is computed. */
static size_t nodes_to_loss(const struct pdnn_graph *graph) {
    size_t i = 0;
    while (i < graph->n_nodes && graph->nodes[i].output[0] != graph->loss)
        i++;
    return i + 1;
}

static uint32_t gradient_of(const struct pdnn_graph *graph, uint32_t weight) {
    for (size_t i = nodes_before_updates(graph); i < graph->n_nodes; i++) {
        if (graph->nodes[i].input[0] == weight)
            return graph->nodes[i].input[1];
    }
    return PDNN_NONE;
}

struct run {
    const struct pdnn_graph *graph;
    double **values, **first; /* current values, and values before any step */
    double **after;           /* values after a step without updates */
    uint64_t seed;            /* of the direction */
};

/* Runs the first nodes, always as the first step: with the state of an earlier step,
 * dropout would drop other values. */
static void run_first(const struct run *run, size_t n_nodes) {
    const struct pdnn_graph *graph = run->graph;
    for (size_t i = 0; i < graph->n_tensors; i++) {
        size_t elements = (size_t)pdnn_tensor_elements(&graph->tensors[i]);
        if (graph->tensors[i].role == PDNN_ROLE_STATE)
            memcpy(run->values[i], run->first[i], elements * sizeof(double));
    }
    reference_run(graph, run->values, 0, n_nodes);
}

static double direction(const struct run *run, uint32_t weight, int64_t element) {
    struct pdnn_rng rng = {run->seed + weight, (uint64_t)element};
    return 2 * pdnn_rng_double(&rng) - 1;
}

static bool is_weight(const struct run *run, uint32_t tensor) {
    return run->graph->tensors[tensor].role == PDNN_ROLE_WEIGHT;
}

/* The loss with the weights from `begin` to `end` moved along the direction. */
static double loss_at(const struct run *run, uint32_t begin, uint32_t end, double step) {
    for (uint32_t w = begin; w < end; w++)
        for (int64_t k = 0; is_weight(run, w) && k < pdnn_tensor_elements(&run->graph->tensors[w]); k++)
            run->values[w][k] = run->first[w][k] + step * direction(run, w, k);
    run_first(run, nodes_to_loss(run->graph));
    return run->values[run->graph->loss][0];
}

/* What the backward nodes say of the loss in that direction. */
static double slope(const struct run *run, uint32_t begin, uint32_t end) {
    double sum = 0;
    for (uint32_t w = begin; w < end; w++) {
        uint32_t g = is_weight(run, w) ? gradient_of(run->graph, w) : PDNN_NONE;
        assert_true(!is_weight(run, w) || g != PDNN_NONE);
        for (int64_t k = 0; is_weight(run, w) && k < pdnn_tensor_elements(&run->graph->tensors[w]); k++)
            sum += run->after[g][k] * direction(run, w, k);
    }
    return sum;
}

static void check_weights(const struct run *run, uint32_t begin, uint32_t end) {
    const double step = 1e-7; /* so small that hardly any of the ReLUs passes its kink */
    double high = loss_at(run, begin, end, step), low = loss_at(run, begin, end, -step);
    double numeric = (high - low) / (2 * step), analytic = slope(run, begin, end);
    loss_at(run, begin, end, 0);
    if (fabs(numeric - analytic) > 5e-8 + 1e-6 * fabs(numeric))
        fail_msg("weights from %u to %u: analytic %.10g, finite difference %.10g", begin, end, analytic,
                 numeric);
}

static void check(const struct pdnn_graph *graph, uint64_t seed, bool at_once) {
    struct run run = {graph, reference_values(graph), reference_values(graph), reference_values(graph), seed};
    size_t checked = 0;
    reference_fill(graph, run.values, seed);
    reference_fill(graph, run.first, seed);
    run_first(&run, nodes_before_updates(graph));
    for (size_t i = 0; i < graph->n_tensors; i++)
        memcpy(run.after[i], run.values[i],
               (size_t)pdnn_tensor_elements(&graph->tensors[i]) * sizeof(double));
    for (uint32_t w = 0; w < graph->n_tensors; w++) {
        if (!is_weight(&run, w))
            continue;
        checked++;
        if (!at_once)
            check_weights(&run, w, w + 1);
    }
    assert_true(checked > 0);
    if (at_once)
        check_weights(&run, 0, (uint32_t)graph->n_tensors);
    reference_values_free(graph, run.values);
    reference_values_free(graph, run.first);
    reference_values_free(graph, run.after);
}

void check_gradients(const struct pdnn_graph *graph, uint64_t seed) {
    check(graph, seed, false);
}

void check_gradients_at_once(const struct pdnn_graph *graph, uint64_t seed) {
    check(graph, seed, true);
}
