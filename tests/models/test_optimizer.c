/* Every optimizer against a scalar reference, written by hand, over several steps of a small network; and the
 * words per parameter that an update moves. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/op.h"
#include "models/optimizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, STATES = 2 };

/* One weight tensor of the reference: values, states, and the gradient of the step. */
struct weight {
    uint32_t id, gradient;
    int64_t elements;
    double *w, *g, *state[STATES];
};

/* All weights of a network at step t, counting from 1. */
struct step {
    struct weight *weights;
    size_t count;
    int t;
};

static double norm_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void sgd(const struct step *step, struct weight *weight) {
    (void)step;
    for (int64_t i = 0; i < weight->elements; i++)
        weight->w[i] -= 0.001 * weight->g[i];
}

static void momentum(const struct step *step, struct weight *weight) {
    (void)step;
    for (int64_t i = 0; i < weight->elements; i++) {
        double *v = &weight->state[0][i];
        *v = 0.9 * *v + weight->g[i];
        weight->w[i] -= 0.001 * *v;
    }
}

static void rmsprop(const struct step *step, struct weight *weight) {
    (void)step;
    for (int64_t i = 0; i < weight->elements; i++) {
        double *ms = &weight->state[0][i], *mom = &weight->state[1][i], g = weight->g[i];
        *ms = 0.9 * *ms + 0.1 * g * g;
        *mom = 0.9 * *mom + 0.001 * g / sqrt(*ms + 1.0);
        weight->w[i] -= *mom;
    }
}

/* Moves the moments by g and returns m_hat / (sqrt(v_hat) + epsilon). */
static double moments(const struct step *step, struct weight *weight, int64_t i, double g, double epsilon) {
    double *m = &weight->state[0][i], *v = &weight->state[1][i];
    *m = 0.9 * *m + 0.1 * g;
    *v = 0.999 * *v + 0.001 * g * g;
    double m_hat = *m / (1 - pow(0.9, step->t)), v_hat = *v / (1 - pow(0.999, step->t));
    return m_hat / (sqrt(v_hat) + epsilon);
}

/* In the paper's reordered form, epsilon is added to sqrt(v), not to sqrt(v_hat). */
static void adamw(const struct step *step, struct weight *weight) {
    for (int64_t i = 0; i < weight->elements; i++) {
        double epsilon = 1e-8 / sqrt(1 - pow(0.999, step->t));
        weight->w[i] -= 0.001 * 0.01 * weight->w[i];
        weight->w[i] -= 0.001 * moments(step, weight, i, weight->g[i], epsilon);
    }
}

static void adam(const struct step *step, struct weight *weight) {
    for (int64_t i = 0; i < weight->elements; i++) {
        double epsilon = 1e-8 / sqrt(1 - pow(0.999, step->t));
        weight->w[i] -= 0.001 * moments(step, weight, i, weight->g[i], epsilon);
    }
}

static void lamb(const struct step *step, struct weight *weight) {
    double *direction = calloc((size_t)weight->elements, sizeof *direction), squares = 0;
    for (size_t k = 0; k < step->count; k++)
        squares += pow(norm_of(step->weights[k].g, step->weights[k].elements), 2);
    double clip = fmax(sqrt(squares), 1.0);
    for (int64_t i = 0; i < weight->elements; i++)
        direction[i] = moments(step, weight, i, weight->g[i] / clip, 1e-6) + 0.01 * weight->w[i];
    double w = norm_of(weight->w, weight->elements), u = norm_of(direction, weight->elements);
    double ratio = w > 0 && u > 0 ? w / u : 1;
    for (int64_t i = 0; i < weight->elements; i++)
        weight->w[i] -= 0.001 * ratio * direction[i];
    free(direction);
}

static void (*const rules[])(const struct step *step, struct weight *weight) = {
    [PDNN_OPTIMIZER_SGD] = sgd,   [PDNN_OPTIMIZER_MOMENTUM] = momentum, [PDNN_OPTIMIZER_RMSPROP] = rmsprop,
    [PDNN_OPTIMIZER_ADAM] = adam, [PDNN_OPTIMIZER_ADAMW] = adamw,       [PDNN_OPTIMIZER_LAMB] = lamb,
};
_Static_assert(sizeof rules / sizeof *rules == PDNN_OPTIMIZER_COUNT, "one rule per optimizer");

static size_t first_update(const struct pdnn_graph *graph) {
    size_t i = 0;
    while (graph->nodes[i].pass != PDNN_UPDATE)
        i++;
    return i;
}

/* The gradient of a weight is the other input of its update, or of the node that updates its state. */
static uint32_t find_gradient(const struct pdnn_graph *graph, uint32_t weight) {
    for (size_t i = first_update(graph); i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool applies = node->op == &pdnn_op_lamb_apply || node->op == &pdnn_op_adam_apply;
        uint32_t first = node->input[0];
        if (node->op == &pdnn_op_moment)
            first = graph->tensors[first].of;
        if (first == weight && node->n_inputs > 1 && !applies)
            return node->input[1];
    }
    fail_msg("no gradient of tensor %u", weight);
    return PDNN_NONE;
}

static size_t find_weights(const struct pdnn_graph *graph, double *const *values, struct weight *weights) {
    size_t count = 0;
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].role != PDNN_ROLE_WEIGHT)
            continue;
        struct weight *weight = &weights[count++];
        *weight = (struct weight){.id = i,
                                  .gradient = find_gradient(graph, i),
                                  .elements = pdnn_tensor_elements(&graph->tensors[i])};
        size_t elements = (size_t)weight->elements;
        weight->w = calloc(elements, sizeof(double));
        weight->g = calloc(elements, sizeof(double));
        for (int k = 0; k < STATES; k++)
            weight->state[k] = calloc(elements, sizeof(double));
        memcpy(weight->w, values[i], elements * sizeof(double));
    }
    return count;
}

static void check_step(const struct step *step, enum pdnn_optimizer rule, double *const *values) {
    for (size_t k = 0; k < step->count; k++)
        rules[rule](step, &step->weights[k]);
    for (size_t k = 0; k < step->count; k++) {
        const struct weight *weight = &step->weights[k];
        for (int64_t i = 0; i < weight->elements; i++) {
            double got = values[weight->id][i];
            if (!(fabs(got - weight->w[i]) <= 1e-12 * (1 + fabs(got))))
                fail_msg("%s step %d tensor %u element %ld: %.15g instead of %.15g",
                         pdnn_optimizer_names[rule], step->t, weight->id, (long)i, got, weight->w[i]);
        }
    }
}

/* Weights and data are scaled up, so that the gradients' norm exceeds lamb's limit; one weight is 0. */
static void check_optimizer(const char *net, enum pdnn_optimizer rule, double scale) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct weight weights[32];
    struct step step = {.weights = weights};
    char id[256];
    snprintf(id, sizeof id, "%s,optimizer=%s", net, pdnn_optimizer_names[rule]);
    build_graph(id, &arena, &graph);
    double **values = reference_values(&graph);
    reference_fill(&graph, values, 11);
    for (uint32_t i = 0; i < graph.n_tensors; i++) {
        bool data = graph.tensors[i].role == PDNN_ROLE_INPUT && graph.tensors[i].dtype == PDNN_F32;
        for (int64_t k = 0; data && k < pdnn_tensor_elements(&graph.tensors[i]); k++)
            values[i][k] *= scale;
    }
    step.count = find_weights(&graph, values, weights);
    memset(values[weights[1].id], 0, (size_t)weights[1].elements * sizeof(double));
    memset(weights[1].w, 0, (size_t)weights[1].elements * sizeof(double));
    size_t updates = first_update(&graph);
    for (step.t = 1; step.t <= STEPS; step.t++) {
        reference_run(&graph, values, 0, updates);
        for (size_t k = 0; k < step.count; k++)
            memcpy(weights[k].g, values[weights[k].gradient], (size_t)weights[k].elements * sizeof(double));
        reference_run(&graph, values, updates, graph.n_nodes);
        check_step(&step, rule, values);
    }
    for (size_t k = 0; k < step.count; k++) {
        free(weights[k].w);
        free(weights[k].g);
        for (int i = 0; i < STATES; i++)
            free(weights[k].state[i]);
    }
    reference_values_free(&graph, values);
    pdnn_arena_finish(&arena);
}

#define FC "fc/layers=2,nodes=5,input=4,output=3,batch=6,activation=tanh"
#define TRANSFORMER                                                                                          \
    "transformer/"                                                                                           \
    "architecture=decoder,layers=1,hidden=8,heads=2,length=3,vocabulary=7,batch=2,objective=causal-lm"

static void test_optimizer_steps(void **state) {
    (void)state;
    for (int rule = 0; rule < PDNN_OPTIMIZER_COUNT; rule++) {
        check_optimizer(FC, (enum pdnn_optimizer)rule, 0.1);
        check_optimizer(FC, (enum pdnn_optimizer)rule, 300);
        check_optimizer(TRANSFORMER ",fuse=none", (enum pdnn_optimizer)rule, 1);
        check_optimizer(TRANSFORMER ",fuse=blocks", (enum pdnn_optimizer)rule, 1);
    }
}

/* Words per parameter that the nodes of a category move; scalars add up to less than one and are ignored. */
static uint64_t words_of(const struct pdnn_graph *graph, const char *category, uint64_t params) {
    uint64_t bytes = 0;
    for (size_t i = first_update(graph); i < graph->n_nodes; i++) {
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_cost_node(graph, &graph->nodes[i], &cost, &err), PDNN_OK);
        if (strcmp(graph->nodes[i].op->category, category) == 0)
            bytes += cost.byte_count;
    }
    return bytes / (sizeof(float) * params);
}

static void test_optimizer_words(void **state) {
    (void)state;
#define FC_LARGE "fc/layers=2,nodes=300,input=200,output=100,batch=6"
#define TRANSFORMER_LARGE                                                                                    \
    "transformer/"                                                                                           \
    "architecture=decoder,layers=1,hidden=512,heads=2,length=3,vocabulary=70,batch=2,objective=causal-lm"
    static const struct {
        const char *net, *optimizer, *category;
        uint64_t words;
    } rows[] = {
        {FC_LARGE, "sgd", "optimizer", 3},
        {FC_LARGE, "momentum", "optimizer", 5},
        {FC_LARGE, "rmsprop", "optimizer", 7},
        {FC_LARGE, "adam", "optimizer", 7},
        {FC_LARGE, "adamw", "optimizer", 7},
        {FC_LARGE, "lamb", "norm", 3},
        {FC_LARGE, "lamb", "optimizer stage 1", 7},
        {FC_LARGE, "lamb", "optimizer stage 2", 3},
        {TRANSFORMER_LARGE ",fuse=blocks", "adam", "optimizer", 7},
        {TRANSFORMER_LARGE ",fuse=blocks", "lamb", "optimizer stage 1", 7},
        {TRANSFORMER_LARGE ",fuse=none", "adam", "optimizer", 10},
        {TRANSFORMER_LARGE ",fuse=post-ops", "adamw", "optimizer", 10},
        {TRANSFORMER_LARGE ",fuse=none", "momentum", "optimizer", 5},
        {TRANSFORMER_LARGE ",fuse=none", "lamb", "optimizer stage 1", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        snprintf(id, sizeof id, "%s,optimizer=%s", rows[i].net, rows[i].optimizer);
        build_graph(id, &arena, &graph);
        assert_int_equal(words_of(&graph, rows[i].category, totals_of(id).params), rows[i].words);
        pdnn_arena_finish(&arena);
    }
}

/* Directions take over the memory of gradients: lamb needs as much as adam, plus norms and powers. */
static void test_optimizer_memory(void **state) {
    (void)state;
    struct pdnn_totals totals[2];
    for (int i = 0; i < 2; i++) {
        char id[128];
        snprintf(id, sizeof id, "fc/layers=3,nodes=200,input=100,output=50,batch=8,optimizer=%s",
                 i ? "lamb" : "adam");
        struct pdnn_instance instance = instance_of(id);
        struct pdnn_arena arena;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        assert_int_equal(pdnn_cost_instance(&instance, &arena, true, &totals[i], &err), PDNN_OK);
        pdnn_arena_finish(&arena);
    }
    assert_true(totals[1].memory_bytes >= totals[0].memory_bytes);
    assert_true(totals[1].memory_bytes - totals[0].memory_bytes < 8 * 1024);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimizer_steps),
        cmocka_unit_test(test_optimizer_words),
        cmocka_unit_test(test_optimizer_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
