#include "tests/models/gradient_check.h"

#include "tests/cmocka_all.h"
#include "tests/models/reference_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMENTS = 24 };

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
    int64_t most;             /* most elements checked per weight */
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

static double loss_at(const struct run *run, double *weight, double value) {
    double before = *weight;
    *weight = value;
    run_first(run, nodes_to_loss(run->graph));
    *weight = before;
    return run->values[run->graph->loss][0];
}

static size_t check_weight(const struct run *run, uint32_t w) {
    const double step = 1e-6;
    uint32_t g = gradient_of(run->graph, w);
    assert_int_not_equal(g, PDNN_NONE);
    int64_t elements = pdnn_tensor_elements(&run->graph->tensors[w]), checked = 0;
    int64_t stride = elements <= run->most ? 1 : elements / run->most;
    for (int64_t k = 0; k < elements; k += stride, checked++) {
        double *weight = &run->values[w][k], at = *weight, analytic = run->after[g][k];
        double high = loss_at(run, weight, at + step), low = loss_at(run, weight, at - step);
        double numeric = (high - low) / (2 * step);
        if (fabs(numeric - analytic) > 1e-8 + 1e-6 * fabs(numeric))
            fail_msg("weight %u element %ld: analytic %.10g, finite difference %.10g", w, (long)k, analytic,
                     numeric);
    }
    return (size_t)checked;
}

void check_gradients(const struct pdnn_graph *graph, uint64_t seed) {
    check_few_gradients(graph, seed, MAX_ELEMENTS);
}

void check_few_gradients(const struct pdnn_graph *graph, uint64_t seed, int64_t elements) {
    struct run run = {graph, reference_values(graph), reference_values(graph), reference_values(graph),
                      elements};
    size_t checked = 0;
    reference_fill(graph, run.values, seed);
    reference_fill(graph, run.first, seed);
    run_first(&run, nodes_before_updates(graph));
    for (size_t i = 0; i < graph->n_tensors; i++)
        memcpy(run.after[i], run.values[i],
               (size_t)pdnn_tensor_elements(&graph->tensors[i]) * sizeof(double));
    for (uint32_t w = 0; w < graph->n_tensors; w++) {
        if (graph->tensors[w].role == PDNN_ROLE_WEIGHT)
            checked += check_weight(&run, w);
    }
    assert_true(checked > 0);
    reference_values_free(graph, run.values);
    reference_values_free(graph, run.first);
    reference_values_free(graph, run.after);
}
