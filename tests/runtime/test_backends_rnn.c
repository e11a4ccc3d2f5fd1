/* Recurrent layers on the backend onednn, against `reference`: as the library's primitive, unrolled, and as
 * measured; each cell inside a small network that is trained, and alone in inference; and the program of such
 * a layer. T steps, N sequences, I inputs, H hidden units. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/cell.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include "runtime/backends/onednn/library/layout.h"
#include "runtime/backends/onednn/state.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn;

enum { CLASSES = 5 };

static const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};

/* Every cell in every way, with these sizes. */
static const struct dims {
    int64_t T, N, I, H;
} all_dims[] = {{1, 1, 1, 1},    {1, 17, 5, 8},   {4, 3, 7, 5}, {5, 16, 16, 16},
                {3, 33, 24, 17}, {2, 5, 129, 64}, {7, 2, 3, 33}};
enum { N_DIMS = sizeof all_dims / sizeof *all_dims };

struct layer {
    struct dims dims;
    enum pdnn_cell cell;
    bool is_reverse, has_two_biases;
    bool wants_dx; /* the input is computed from weights */
};

static uint32_t new_data(struct pdnn_graph *graph, int64_t rows, int64_t columns) {
    const struct pdnn_tensor data = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {rows, columns}, .fill = uniform, .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &data);
}

/* Weights small enough that not all gates saturate. */
static void new_weights(struct pdnn_graph *graph, const struct layer *layer,
                        uint32_t inputs[PDNN_RNN_INPUTS]) {
    const struct pdnn_cell_def *cell = &pdnn_cells[layer->cell];
    int64_t H = layer->dims.H, gates = cell->n_gates * H;
    int64_t biases = layer->has_two_biases ? 2 * gates : cell->n_biases * H;
    const struct pdnn_fill fill = {.kind = PDNN_FILL_UNIFORM, .scale = 1 / sqrt((double)H)};
    inputs[PDNN_RNN_W] = pdnn_graph_weight(graph, 2, (int64_t[]){gates, layer->dims.I}, fill);
    inputs[PDNN_RNN_U] = pdnn_graph_weight(graph, 2, (int64_t[]){gates, H}, fill);
    inputs[PDNN_RNN_B] = pdnn_graph_weight(graph, 1, &biases, fill);
}

static uint32_t apply_layer(struct pdnn_graph *graph, const struct layer *layer, bool train,
                            const uint32_t inputs[PDNN_RNN_INPUTS]) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = layer->cell,
                                            [PDNN_RNN_STEPS] = layer->dims.T,
                                            [PDNN_RNN_REVERSE] = layer->is_reverse,
                                            [PDNN_RNN_TRAIN] = train};
    const uint32_t ended[] = {inputs[PDNN_RNN_X], inputs[PDNN_RNN_W], inputs[PDNN_RNN_U], inputs[PDNN_RNN_B],
                              PDNN_NONE};
    return pdnn_graph_forward(graph, &pdnn_op_rnn, ended, attrs);
}

/* Appends a loss on y and derives the training step. */
static void train(struct pdnn_graph *graph, uint32_t y) {
    const struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                       .dtype = PDNN_S32,
                                       .rank = 1,
                                       .dim = {graph->tensors[y].dim[0]},
                                       .fill = {.kind = PDNN_FILL_CLASS, .scale = CLASSES},
                                       .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){CLASSES, graph->tensors[y].dim[1]}, uniform);
    y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
}

static void build_layer(const struct layer *layer, bool trained, enum pdnn_recurrence way,
                        struct pdnn_arena *arena, struct pdnn_graph *graph) {
    struct pdnn_err err = {0};
    uint32_t inputs[PDNN_RNN_INPUTS];
    pdnn_arena_init(arena);
    pdnn_graph_init(graph, arena);
    graph->rnn = way;
    inputs[PDNN_RNN_X] = new_data(graph, layer->dims.T * layer->dims.N, layer->dims.I);
    new_weights(graph, layer, inputs);
    if (layer->wants_dx) {
        uint32_t b = pdnn_graph_weight(graph, 1, &layer->dims.I, uniform);
        const uint32_t biased[] = {inputs[PDNN_RNN_X], b, PDNN_NONE};
        inputs[PDNN_RNN_X] = pdnn_graph_forward(graph, &pdnn_op_bias, biased, NULL);
    }
    graph->result = apply_layer(graph, layer, trained, inputs);
    if (trained) {
        train(graph, graph->result);
        graph->result = PDNN_NONE;
    }
    must(pdnn_graph_status(graph, &err), &err);
}

/* In each of the ways: fused, unrolled, as measured. */
static void check_layer(const struct opened *backend, const struct layer *layer, bool trained,
                        const enum pdnn_recurrence *ways, size_t n_ways) {
    const struct dims *dims = &layer->dims;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    char what[160];
    double terms = (double)(dims->T * dims->N * (dims->I + dims->H));
    build_layer(layer, trained, *ways, &arena, &graph);
    open_oracle(&graph, &oracle);
    /* Inference may keep weights in a form that cannot be read. */
    for (size_t i = 0; i < (trained ? 2 : 1) * n_ways; i++) {
        graph.rnn = ways[i % n_ways];
        snprintf(what, sizeof what, "%s T=%d N=%d I=%d H=%d%s%s%s%s, way %d", pdnn_cells[layer->cell].name,
                 (int)dims->T, (int)dims->N, (int)dims->I, (int)dims->H, layer->is_reverse ? " reverse" : "",
                 layer->has_two_biases ? " two biases" : "", layer->wants_dx ? " dx" : "",
                 trained ? " trained" : "", (int)graph.rnn);
        bool supported = i < n_ways ? check_everything(backend, &oracle, 1, 10 * sqrt(terms), what)
                                    : check_kept(backend, &oracle, CHECK_STEPS, check_whole_step_slack, what);
        if (!supported)
            fail_msg("%s: unsupported", what);
    }
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

/* The measured way, which is one of the others, for one layer in four. */
static void check_every_layer(bool trained) {
    static const enum pdnn_recurrence ways[] = {PDNN_RECURRENCE_FUSED, PDNN_RECURRENCE_UNROLLED,
                                                PDNN_RECURRENCE_AUTO};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < PDNN_CELL_COUNT * N_DIMS * 4; i++) {
        const struct layer layer = {.dims = all_dims[i / 4 % N_DIMS],
                                    .cell = (enum pdnn_cell)(i / 4 / N_DIMS),
                                    .is_reverse = i & 1,
                                    .has_two_biases = i & 2,
                                    .wants_dx = (i + i / 4) & 1};
        take_level((size_t)i);
        check_layer(&backend, &layer, trained, ways, (i + i / 4) % 4 ? 2 : 3);
    }
    close_backend(&backend);
}

static void test_run_training(void **state) {
    (void)state;
    check_every_layer(true);
}

static void test_run_inference(void **state) {
    (void)state;
    check_every_layer(false);
}

/* Sizes for which oneDNN pads the rows of weights, which it packs in inference. */
static void test_run_padded_weights(void **state) {
    (void)state;
    static const enum pdnn_recurrence fused = PDNN_RECURRENCE_FUSED;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int cell = 0; cell < PDNN_CELL_COUNT; cell++) {
        const struct layer layer = {
            .dims = {2, 16, 256, 256}, .cell = (enum pdnn_cell)cell, .wants_dx = true};
        check_layer(&backend, &layer, true, &fused, 1);
        check_layer(&backend, &layer, false, &fused, 1);
    }
    close_backend(&backend);
}

static void compile_plan(const struct opened *backend, const struct pdnn_graph *graph, bool keep_all,
                         struct pdnn_plan *plan) {
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .keep_all = keep_all};
    struct pdnn_err err = {0};
    must(pdnn_plan_create(plan, backend->def, backend->state, graph, &options, &err), &err);
}

static bool uses(const struct pdnn_call *call, uint32_t slot) {
    for (int i = 0; i < call->n_slots; i++) {
        if (call->slot[i] == slot)
            return true;
    }
    return false;
}

/* True if the layer's pass reads or writes the tensor. */
static bool is_of_layer(const struct pdnn_graph *graph, uint32_t tensor, enum pdnn_pass pass) {
    bool is = false;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (node->op != &pdnn_op_rnn || node->pass != pass)
            continue;
        for (int k = 0; k < node->n_inputs; k++)
            is = is || node->input[k] == tensor;
        for (int k = 0; k < node->n_outputs; k++)
            is = is || node->output[k] == tensor;
    }
    return is;
}

/* The step of the layer's pass; *n_reorders counts the reorders for it. Reorders of the dense layer after it
 * depend on measurements and are ignored. */
static const struct pdnn_call *find_step(const struct pdnn_plan *plan, enum pdnn_pass pass, int *n_reorders) {
    const struct pdnn_call *found = NULL;
    *n_reorders = 0;
    for (size_t i = 0; i < plan->program.n_calls; i++) {
        const struct pdnn_call *call = &plan->program.calls[i];
        if (call->node == PDNN_NONE && call->pass == pass && is_of_layer(plan->graph, call->tensor, pass))
            (*n_reorders)++;
        if (call->node == PDNN_NONE || plan->graph->nodes[call->node].op != &pdnn_op_rnn ||
            plan->graph->nodes[call->node].pass != pass)
            continue;
        assert_null(found);
        found = call;
    }
    assert_non_null(found);
    return found;
}

static const struct pdnn_node *node_of(const struct pdnn_plan *plan, const struct pdnn_call *call) {
    return &plan->graph->nodes[call->node];
}

/* Forward uses the weights in place, and the update uses the result of backward in place. Backward reads
 * copies of the weights, made by visible reorder steps. What forward saves is not in the graph's memory. */
static void test_compile_shows_reorders(void **state) {
    (void)state;
    const struct layer layer = {.dims = {3, 4, 24, 40}, .cell = PDNN_CELL_LSTM};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    int n_reorders;
    build_layer(&layer, true, PDNN_RECURRENCE_FUSED, &arena, &graph);
    compile_plan(&backend, &graph, true, &plan);
    const struct pdnn_call *forward = find_step(&plan, PDNN_FORWARD, &n_reorders);
    const struct pdnn_node *node = node_of(&plan, forward);
    assert_true(uses(forward, node->input[PDNN_RNN_W]) && uses(forward, node->input[PDNN_RNN_U]));
    assert_int_equal(n_reorders, 0);
    for (uint32_t i = 0; i < graph.n_tensors; i++)
        assert_int_equal(pdnn_plan_has(&plan, i), i != node->output[PDNN_RNN_SAVED]);
    const struct pdnn_call *backward = find_step(&plan, PDNN_BACKWARD_DATA, &n_reorders);
    node = node_of(&plan, backward);
    assert_int_equal(n_reorders, 2);
    assert_false(uses(backward, node->input[PDNN_RNN_BACK_W]) ||
                 uses(backward, node->input[PDNN_RNN_BACK_U]));
    assert_true(uses(backward, node->output[PDNN_RNN_BACK_DW]) &&
                uses(backward, node->output[PDNN_RNN_BACK_DU]));
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* Two bias vectors per gate cost one step forward, and one backward for their gradients. */
static void test_compile_shows_bias_sums(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    int n_reorders[2][2];
    for (int pair = 0; pair < 2; pair++) {
        const struct layer layer = {
            .dims = {3, 4, 24, 40}, .cell = PDNN_CELL_LBR_GRU, .has_two_biases = pair != 0};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_plan plan;
        build_layer(&layer, true, PDNN_RECURRENCE_FUSED, &arena, &graph);
        compile_plan(&backend, &graph, false, &plan);
        find_step(&plan, PDNN_FORWARD, &n_reorders[pair][0]);
        find_step(&plan, PDNN_BACKWARD_DATA, &n_reorders[pair][1]);
        pdnn_plan_destroy(&plan);
        pdnn_arena_finish(&arena);
    }
    assert_int_equal(n_reorders[1][0], n_reorders[0][0] + 1);
    assert_int_equal(n_reorders[1][1], n_reorders[0][1] + 1);
    close_backend(&backend);
}

/* The implementation names the choice, the same in all passes, and it stays while the backend is open. */
static void test_compile_keeps_choice(void **state) {
    (void)state;
    const struct layer layer = {.dims = {2, 8, 32, 32}, .cell = PDNN_CELL_GRU};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    char chosen[PDNN_IMPLEMENTATION_TEXT] = "";
    for (int i = 0; i < 4; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_plan plan;
        int n_reorders;
        build_layer(&layer, true, PDNN_RECURRENCE_AUTO, &arena, &graph);
        compile_plan(&backend, &graph, false, &plan);
        const char *forward = find_step(&plan, PDNN_FORWARD, &n_reorders)->implementation;
        const char *backward = find_step(&plan, PDNN_BACKWARD_DATA, &n_reorders)->implementation;
        assert_non_null(strstr(forward, ", auto"));
        assert_non_null(strstr(backward, ", auto"));
        assert_int_equal(strstr(forward, "unrolled") != NULL, strstr(backward, "unrolled") != NULL);
        if (i)
            assert_string_equal(forward, chosen);
        snprintf(chosen, sizeof chosen, "%s", forward);
        pdnn_plan_destroy(&plan);
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* One layer's weights used twice: they stay plain, and their gradients add up. */
static void test_run_shared_weights(void **state) {
    (void)state;
    static const enum pdnn_recurrence ways[] = {PDNN_RECURRENCE_FUSED, PDNN_RECURRENCE_UNROLLED};
    const struct layer layer = {.dims = {3, 5, 24, 24}, .cell = PDNN_CELL_LSTM};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < 2; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        uint32_t inputs[PDNN_RNN_INPUTS];
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        graph.rnn = ways[i];
        inputs[PDNN_RNN_X] = new_data(&graph, layer.dims.T * layer.dims.N, layer.dims.I);
        new_weights(&graph, &layer, inputs);
        inputs[PDNN_RNN_X] = apply_layer(&graph, &layer, true, inputs);
        train(&graph, apply_layer(&graph, &layer, true, inputs));
        must(pdnn_graph_status(&graph, &err), &err);
        assert_true(check_graph(&backend, &graph, CHECK_STEPS, 2 * check_whole_step_slack, "shared"));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* Whole steps of several micro-steps, with recomputed layers. */
static void test_run_micro_steps(void **state) {
    (void)state;
    static const char *const ids[] = {
        "rnn/cell=lstm,layers=2,embedding=24,length=4,vocabulary=11,batch=3,dropout=20,optimizer=sgd",
        "rnn/cell=gru,layers=2,embedding=7,length=4,vocabulary=11,batch=2,bidirectional=yes,optimizer=lamb",
        "gnmt/hidden=9,layers=3,vocabulary=12,source=4,target=5,batch=2,optimizer=adamw",
    };
    static const char *const settings[] = {"accumulate=2", "checkpoint=layer",
                                           "accumulate=3,checkpoint=layer,fuse=post-ops"};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < 6; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[320];
        snprintf(id, sizeof id, "%s,%s,rnn=%s", ids[i % 3], settings[(i + i / 3) % 3],
                 i < 3 ? "fused" : "unrolled");
        pdnn_arena_init(&arena);
        build_instance(id, &arena, &graph);
        take_level((size_t)i);
        assert_true(check_graph(&backend, &graph, CHECK_STEPS, 2 * check_whole_step_slack, id));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* Later micro-steps and recomputed layers use the weights where the first micro-step put them. */
static void test_compile_micro_steps_share_weights(void **state) {
    (void)state;
    static const char *const settings[] = {"accumulate=1", "accumulate=3", "checkpoint=layer"};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < 3; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_plan plan;
        char id[320];
        snprintf(id, sizeof id, "rnn/cell=lstm,embedding=40,length=3,vocabulary=5,batch=4,rnn=fused,%s",
                 settings[i]);
        pdnn_arena_init(&arena);
        build_instance(id, &arena, &graph);
        compile_plan(&backend, &graph, true, &plan);
        for (size_t k = 0; k < plan.program.n_calls; k++) {
            const struct pdnn_call *call = &plan.program.calls[k];
            if (call->node != PDNN_NONE && graph.nodes[call->node].op == &pdnn_op_rnn &&
                graph.nodes[call->node].pass == PDNN_FORWARD)
                assert_true(uses(call, graph.nodes[call->node].input[PDNN_RNN_W]));
        }
        pdnn_plan_destroy(&plan);
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* Without the forward pass in the graph, the library's saved data is missing. */
static void test_compile_backward_alone(void **state) {
    (void)state;
    const struct layer layer = {.dims = {2, 3, 8, 8}, .cell = PDNN_CELL_RNN};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    uint32_t inputs[PDNN_RNN_INPUTS];
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    inputs[PDNN_RNN_X] = new_data(&graph, 6, 8);
    new_weights(&graph, &layer, inputs);
    uint32_t in[] = {new_data(&graph, 6, 8), inputs[PDNN_RNN_X], new_data(&graph, 6, 8), inputs[PDNN_RNN_W],
                     inputs[PDNN_RNN_U]},
             out[PDNN_RNN_INPUTS];
    struct pdnn_node node = {.op = &pdnn_op_rnn,
                             .pass = PDNN_BACKWARD_DATA,
                             .n_inputs = sizeof in / sizeof *in,
                             .input = in,
                             .output = out,
                             .attr = {[PDNN_RNN_STEPS] = 2, [PDNN_RNN_TRAIN] = 1}};
    for (int i = PDNN_RNN_W; i <= PDNN_RNN_B; i++)
        node.output[node.n_outputs++] = pdnn_graph_like(&graph, inputs[i], PDNN_ROLE_WEIGHT_GRADIENT);
    pdnn_graph_node(&graph, &node);
    graph.rnn = PDNN_RECURRENCE_FUSED;
    expect_graph_unsupported(&backend, &graph, "needs what forward leaves");
    graph.rnn = PDNN_RECURRENCE_AUTO;
    assert_true(check_graph(&backend, &graph, 1, 100, "backward alone"));
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* What is plain depends on what the weights are, not on their rank: grouped convolutions have five dimensions
 * too. */
static void test_plain_by_kind(void **state) {
    (void)state;
    static const struct {
        enum pdnn_onednn_order order;
        const char *stored, *plain;
    } rows[] = {{PDNN_ONEDNN_ROW_MAJOR, "abcde", "abcde"}, {PDNN_ONEDNN_GATES_FIRST, "abdec", "abdec"}};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_onednn_pool pool = {.library = ((struct pdnn_onednn *)backend.state)->library};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[PDNN_ONEDNN_LAYOUT_TEXT];
        const struct pdnn_onednn_layout *stored =
            pdnn_onednn_layout_create(&pool, PDNN_F32, 5, (const int64_t[]){2, 3, 4, 5, 6}, rows[i].order);
        const struct pdnn_onednn_layout *copy = pdnn_onednn_layout_copy(&pool, stored);
        assert_string_equal(pdnn_onednn_layout_format(stored, text), rows[i].stored);
        assert_string_equal(pdnn_onednn_layout_format(pdnn_onednn_layout_plain(&pool, stored), text),
                            rows[i].plain);
        assert_string_equal(pdnn_onednn_layout_format(pdnn_onednn_layout_plain(&pool, copy), text),
                            rows[i].plain);
    }
    pdnn_onednn_pool_finish(&pool);
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_training),
        cmocka_unit_test(test_run_inference),
        cmocka_unit_test(test_run_padded_weights),
        cmocka_unit_test(test_run_shared_weights),
        cmocka_unit_test(test_compile_shows_reorders),
        cmocka_unit_test(test_compile_shows_bias_sums),
        cmocka_unit_test(test_compile_keeps_choice),
        cmocka_unit_test(test_compile_backward_alone),
        cmocka_unit_test(test_run_micro_steps),
        cmocka_unit_test(test_compile_micro_steps_share_weights),
        cmocka_unit_test(test_plain_by_kind),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
