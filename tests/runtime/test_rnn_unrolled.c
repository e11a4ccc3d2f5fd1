/* Unrolled recurrent layers against the op's reference kernel, forward and backward: all cells, directions
 * and biases, odd shapes, one thread and two. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/cell.h"
#include "models/op.h"
#include "models/forward.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_openblas;

/* T steps, N sequences, I inputs, H hidden units. */
struct dims {
    int64_t T, N, I, H;
};

struct variant {
    int64_t cell;
    bool is_reverse, has_two_biases, is_train, wants_dx;
};

static uint32_t new_tensor(struct pdnn_graph *graph, enum pdnn_role role, int64_t rows, int64_t columns) {
    struct pdnn_tensor tensor = {.role = role,
                                 .rank = columns ? 2 : 1,
                                 .dim = {rows, columns},
                                 .fill = {PDNN_FILL_UNIFORM, 0.7},
                                 .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &tensor);
}

static void append_backward(struct pdnn_graph *graph, const struct variant *v) {
    const struct pdnn_node forward = graph->nodes[0];
    const struct pdnn_tensor *y = pdnn_node_out(graph, &forward, PDNN_RNN_Y);
    const int targets[] = {PDNN_RNN_W, PDNN_RNN_U, PDNN_RNN_B, PDNN_RNN_X};
    uint32_t inputs[] = {new_tensor(graph, PDNN_ROLE_INPUT, y->dim[0], y->dim[1]),
                         forward.input[PDNN_RNN_X],
                         forward.output[PDNN_RNN_Y],
                         forward.input[PDNN_RNN_W],
                         forward.input[PDNN_RNN_U],
                         forward.output[PDNN_RNN_SAVED]};
    uint32_t outputs[sizeof targets / sizeof *targets];
    struct pdnn_node node = {
        .op = &pdnn_op_rnn, .pass = PDNN_BACKWARD_DATA, .input = inputs, .output = outputs};
    memcpy(node.attr, forward.attr, sizeof node.attr);
    node.n_inputs = forward.n_outputs > PDNN_RNN_SAVED ? 6 : 5;
    node.n_outputs = v->wants_dx ? 4 : 3;
    for (int i = 0; i < node.n_outputs; i++)
        node.output[i] = pdnn_graph_like(graph, forward.input[targets[i]], PDNN_ROLE_ACTIVATION);
    pdnn_graph_node(graph, &node);
}

static void build_layer(struct pdnn_graph *graph, const struct dims *d, const struct variant *v) {
    const struct pdnn_cell_def *cell = &pdnn_cells[v->cell];
    int64_t gates = cell->n_gates * d->H;
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = v->cell,
                                      [PDNN_RNN_STEPS] = d->T,
                                      [PDNN_RNN_REVERSE] = v->is_reverse,
                                      [PDNN_RNN_TRAIN] = v->is_train};
    const uint32_t inputs[] = {
        new_tensor(graph, PDNN_ROLE_INPUT, d->T * d->N, d->I),
        new_tensor(graph, PDNN_ROLE_INPUT, gates, d->I), new_tensor(graph, PDNN_ROLE_INPUT, gates, d->H),
        new_tensor(graph, PDNN_ROLE_INPUT, v->has_two_biases ? 2 * gates : cell->n_biases * d->H, 0),
        PDNN_NONE};
    pdnn_graph_forward(graph, &pdnn_op_rnn, inputs, attrs);
    if (v->is_train)
        append_backward(graph, v);
}

/* On each number of threads. */
static void check_layer(const struct opened backends[CHECK_THREADS], const struct dims *d,
                        const struct variant *v) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    struct pdnn_err err = {0};
    char what[160];
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    build_layer(&graph, d, v);
    must(pdnn_graph_status(&graph, &err), &err);
    double terms = (double)(d->T * d->N + d->I + d->H);
    open_oracle(&graph, &oracle);
    for (int threads = 1; threads <= CHECK_THREADS; threads++) {
        snprintf(what, sizeof what, "%s%s%s%s T=%d N=%d I=%d H=%d, %d threads", pdnn_cells[v->cell].name,
                 v->is_reverse ? " reverse" : "", v->has_two_biases ? " two biases" : "",
                 v->is_train ? " train" : "", (int)d->T, (int)d->N, (int)d->I, (int)d->H, threads);
        omp_set_num_threads(threads);
        assert_true(check_everything(&backends[threads - 1], &oracle, 2, sqrt(terms), what));
    }
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

static void test_run_every_variant(void **state) {
    (void)state;
    static const struct dims all_dims[] = {{1, 1, 1, 1},   {3, 1, 5, 17},  {2, 5, 3, 33},
                                           {4, 2, 16, 64}, {5, 7, 12, 19}, {2, 67, 31, 70}};
    struct opened backends[CHECK_THREADS];
    struct pdnn_err err = {0};
    for (int i = 0; i < CHECK_THREADS; i++) {
        backends[i].def = &pdnn_backend_openblas;
        const struct pdnn_call_options options = pdnn_call_options(&(struct pdnn_host){0}, i + 1, 0);
        must(backends[i].def->open(&options, &backends[i].state, &err), &err);
    }
    for (int bits = 0; bits < 16 * PDNN_CELL_COUNT; bits++) {
        const struct variant variant = {bits / 16, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                                        (bits & 8) != 0};
        for (size_t i = 0; i < sizeof all_dims / sizeof *all_dims; i++)
            check_layer(backends, &all_dims[i], &variant);
    }
    for (int i = 0; i < CHECK_THREADS; i++)
        close_backend(&backends[i]);
}

static void test_compile_fused_is_unsupported(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_openblas);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    graph.rnn = PDNN_RECURRENCE_FUSED;
    build_layer(&graph, &(struct dims){2, 2, 2, 2}, &(struct variant){.cell = PDNN_CELL_LSTM});
    expect_graph_unsupported(&backend, &graph, "use rnn=unrolled");
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* Whole training steps of small networks: stacked layers, both directions, dropout, and gnmt's attention. */
static void test_run_whole_nets(void **state) {
    (void)state;
    static const char *const nets[] = {
        "rnn/cell=rnn,layers=2,embedding=7,length=5,vocabulary=11,batch=3",
        "rnn/cell=lstm,layers=2,embedding=7,length=5,vocabulary=11,batch=3,bidirectional=yes,output_at=last",
        "rnn/cell=gru,layers=1,embedding=18,hidden=33,length=6,vocabulary=11,batch=2,dropout=10",
        "rnn/cell=lbr_gru,layers=2,embedding=16,length=4,vocabulary=11,batch=1,output_at=none",
        "gnmt/hidden=9,layers=3,vocabulary=12,source=4,target=5,batch=2",
        "rnn/cell=lstm,layers=2,embedding=7,length=5,vocabulary=11,batch=3,accumulate=2,checkpoint=layer",
    };
    struct opened backend = open_backend(&pdnn_backend_openblas);
    for (size_t i = 0; i < 2 * sizeof nets / sizeof *nets; i++) {
        char id[256];
        if (!(i % 2) && strstr(nets[i / 2], "accumulate")) /* training only */
            continue;
        snprintf(id, sizeof id, "%s,mode=%s,rnn=unrolled", nets[i / 2],
                 i % 2 ? "train,optimizer=sgd" : "infer");
        check_instance(&backend, 1, id);
    }
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_every_variant),
        cmocka_unit_test(test_compile_fused_is_unsupported),
        cmocka_unit_test(test_run_whole_nets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
