#include "tests/runtime/backend_check.h"

#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference;

const double check_whole_step_slack = 100;

void must(enum pdnn_status status, const struct pdnn_err *err) {
    if (status != PDNN_OK)
        fail_msg("%s", err->text);
}

struct opened open_backend(const struct pdnn_backend_def *def) {
    struct opened backend = {def, NULL};
    const struct pdnn_host host = {0};
    const struct pdnn_call_options options = pdnn_call_options(&host, CHECK_THREADS, 0);
    struct pdnn_err err = {0};
    must(def->open(&options, &backend.state, &err), &err);
    return backend;
}

void close_backend(struct opened *backend) {
    backend->def->close(backend->state);
}

void build_instance(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    must(pdnn_instance_parse(id, &instance, &err), &err);
    must(pdnn_instance_graph(&instance, arena, graph, &err), &err);
}

float *value_of(const struct pdnn_plan *plan, uint32_t tensor) {
    const struct pdnn_tensor *t = &plan->graph->tensors[tensor];
    struct pdnn_err err = {0};
    int64_t elements = pdnn_tensor_elements(t);
    float *values = calloc((size_t)elements, sizeof *values);
    void *plain = malloc((size_t)pdnn_tensor_bytes(t));
    assert_non_null(values);
    assert_non_null(plain);
    must(pdnn_plan_get(plan, tensor, plain, &err), &err);
    for (int64_t i = 0; i < elements; i++)
        values[i] = (float)pdnn_dtype_load(t->dtype, plain, i);
    free(plain);
    return values;
}

void compare_values(const struct pdnn_plan *plan, const struct pdnn_plan *oracle, uint32_t tensor,
                    double tolerance, const char *what) {
    int64_t elements = pdnn_tensor_elements(&plan->graph->tensors[tensor]);
    if (!pdnn_plan_has(plan, tensor))
        return;
    float *got = value_of(plan, tensor), *expected = value_of(oracle, tensor);
    if (pdnn_dtype_is_half(plan->graph->tensors[tensor].dtype))
        tolerance += pdnn_dtype_epsilon(plan->graph->tensors[tensor].dtype);
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < elements; i++) {
        if (got[i] == -INFINITY && expected[i] == -INFINITY) /* masked */
            continue;
        double error = fabs((double)got[i] - (double)expected[i]);
        largest = fmax(largest, fabs((double)expected[i]));
        worst = isfinite(error) ? fmax(worst, error) : INFINITY;
    }
    if (!(worst <= tolerance * largest + 1e-30))
        fail_msg("%s %s: tensor %u differs by %g of %g", plan->backend->name, what, tensor, worst, largest);
    free(got);
    free(expected);
}

/* True for a gradient that the reference overwrites in a post, where the backend fuses the post. */
static bool is_masked(const struct pdnn_graph *graph, uint32_t tensor) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_posts; k++) {
            if (node->posts[k].pass == PDNN_BACKWARD_DATA && node->input[0] == tensor)
                return true;
        }
    }
    return false;
}

/* Int8 values that an op rounds may be off by one. */
static double tolerance_of(const struct pdnn_graph *graph, const struct pdnn_node *node, uint32_t tensor,
                           double slack) {
    bool is_rounded = graph->tensors[tensor].dtype == PDNN_INT8 && node->op->rounds;
    return is_rounded ? 1.01 / 127 : node->op->tolerance * slack;
}

/* Compares everything that the graph's nodes write, with each op's tolerance times `slack`. */
static void compare_all(const struct pdnn_plan *plan, const struct pdnn_plan *oracle, double slack,
                        const char *what) {
    for (size_t i = 0; i < plan->graph->n_nodes; i++) {
        const struct pdnn_node *node = &plan->graph->nodes[i];
        for (int k = 0; k < node->n_outputs; k++) {
            if (!is_masked(plan->graph, node->output[k]))
                compare_values(plan, oracle, node->output[k],
                               tolerance_of(plan->graph, node, node->output[k], slack), what);
        }
        for (int k = 0; k < node->n_posts; k++) {
            if (node->posts[k].output != PDNN_NONE)
                compare_values(plan, oracle, node->posts[k].output, node->posts[k].op->tolerance * slack,
                               what);
        }
    }
}

void open_oracle(const struct pdnn_graph *graph, struct oracle *oracle) {
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .allow_slow = true, .keep_all = true};
    struct pdnn_err err = {0};
    oracle->steps = 0;
    must(pdnn_plan_create(&oracle->plan, &pdnn_backend_reference, NULL, graph, &options, &err), &err);
}

void close_oracle(struct oracle *oracle) {
    pdnn_plan_destroy(&oracle->plan);
}

static void run_steps(const struct pdnn_plan *plan, int steps) {
    for (int i = 0; i < steps; i++)
        assert_int_equal(pdnn_plan_run(plan), 0);
}

/* Runs the plan and, as far as it has not come, the oracle; false if the backend answers unsupported. */
static bool run_both(const struct opened *backend, struct oracle *oracle, int steps, bool keep_all,
                     struct pdnn_plan *plan) {
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .allow_slow = true, .keep_all = keep_all};
    struct pdnn_err err = {0};
    enum pdnn_status status =
        pdnn_plan_create(plan, backend->def, backend->state, oracle->plan.graph, &options, &err);
    if (status == PDNN_UNSUPPORTED)
        return false;
    must(status, &err);
    assert_true(oracle->steps <= steps);
    run_steps(&oracle->plan, steps - oracle->steps);
    oracle->steps = steps;
    run_steps(plan, steps);
    return true;
}

bool check_everything(const struct opened *backend, struct oracle *oracle, int steps, double slack,
                      const char *what) {
    struct pdnn_plan plan;
    if (!run_both(backend, oracle, steps, true, &plan))
        return false;
    compare_all(&plan, &oracle->plan, slack, what);
    pdnn_plan_destroy(&plan);
    return true;
}

bool check_kept(const struct opened *backend, struct oracle *oracle, int steps, double slack,
                const char *what) {
    const struct pdnn_graph *graph = oracle->plan.graph;
    struct pdnn_plan plan;
    if (!run_both(backend, oracle, steps, false, &plan))
        return false;
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        bool stays = graph->tensors[i].role == PDNN_ROLE_WEIGHT || graph->tensors[i].role == PDNN_ROLE_STATE;
        if (stays || i == graph->loss || i == graph->result)
            compare_values(&plan, &oracle->plan, i, 1e-6 * slack, what);
    }
    pdnn_plan_destroy(&plan);
    return true;
}

bool check_graph(const struct opened *backend, const struct pdnn_graph *graph, int steps, double slack,
                 const char *what) {
    struct oracle oracle;
    open_oracle(graph, &oracle);
    bool runs = check_everything(backend, &oracle, steps, slack, what) &&
                check_kept(backend, &oracle, steps, slack, what);
    close_oracle(&oracle);
    return runs;
}

void check_instance(const struct opened *backends, size_t n_backends, const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    pdnn_arena_init(&arena);
    build_instance(id, &arena, &graph);
    open_oracle(&graph, &oracle);
    for (size_t i = 0; i < n_backends; i++) {
        assert_true(check_everything(&backends[i], &oracle, CHECK_STEPS, check_whole_step_slack, id));
        assert_true(check_kept(&backends[i], &oracle, CHECK_STEPS, check_whole_step_slack, id));
    }
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

void expect_graph_unsupported(const struct opened *backend, const struct pdnn_graph *graph,
                              const char *reason) {
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    assert_int_equal(
        pdnn_plan_create(&plan, backend->def, backend->state, graph, &(struct pdnn_plan_options){0}, &err),
        PDNN_UNSUPPORTED);
    if (!strstr(err.text, reason))
        fail_msg("'%s' does not say '%s'", err.text, reason);
}

void expect_unsupported(const struct opened *backend, const char *id, const char *reason) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    build_instance(id, &arena, &graph);
    expect_graph_unsupported(backend, &graph, reason);
    pdnn_arena_finish(&arena);
}
