/* Backends in 16 bit: single ops on f32 copies, whole and in pieces; whole steps against `reference`, with
 * and without a fast path; training. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/attributes.h"
#include "models/instance.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"
#include "models/forward.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas, pdnn_backend_reference;

static const struct pdnn_backend_def *const fast_backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas};
static const enum pdnn_dtype halves[] = {PDNN_BF16, PDNN_F16};

/* One op on rows (R, C), forward; further inputs have the same shape or are f32 vectors (C). */
struct row_case {
    const struct pdnn_op_def *op;
    int n_matrices, n_vectors;
    int64_t attr[5];
};

static const struct row_case row_cases[] = {
    {&pdnn_op_relu, 1, 0, {0}},      {&pdnn_op_sigmoid, 1, 0, {0}},     {&pdnn_op_gelu, 1, 0, {0}},
    {&pdnn_op_add, 2, 0, {0}},       {&pdnn_op_scale, 1, 0, {0}},       {&pdnn_op_bias, 1, 1, {0}},
    {&pdnn_op_softmax, 1, 0, {0}},   {&pdnn_op_layernorm, 1, 2, {1}},   {&pdnn_op_layernorm, 1, 2, {0}},
    {&pdnn_op_concat, 3, 0, {0}},    {&pdnn_op_slice, 1, 0, {0, 1}},    {&pdnn_op_cast, 1, 0, {1}},
    {&pdnn_op_hardswish, 1, 0, {0}}, {&pdnn_op_hardsigmoid, 1, 0, {0}}, {&pdnn_op_softplus, 1, 0, {0}},
    {&pdnn_op_mean, 1, 0, {0, 1}},   {&pdnn_op_mean, 1, 0, {1, 1}},     {&pdnn_op_silu, 1, 0, {0}},
    {&pdnn_op_rmsnorm, 1, 1, {1}},   {&pdnn_op_rmsnorm, 1, 1, {0}},     {&pdnn_op_multiply, 2, 0, {0}},
    {&pdnn_op_top_k, 1, 0, {1}},
};

static uint32_t new_input(struct pdnn_graph *graph, int rank, int64_t rows, int64_t columns) {
    const struct pdnn_tensor input = {.role = PDNN_ROLE_INPUT,
                                      .dtype = rank > 1 ? graph->dtype : PDNN_F32,
                                      .rank = rank,
                                      .dim = {rows, columns},
                                      .fill = {PDNN_FILL_UNIFORM, 2},
                                      .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &input);
}

static void check_rows(const struct opened backends[2], const struct row_case *row, enum pdnn_dtype dtype,
                       int64_t R, int64_t C) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    struct pdnn_err err = {0};
    uint32_t inputs[PDNN_NODE_INPUTS];
    int64_t attrs[PDNN_NODE_ATTRS] = {0};
    const bool heads = row->op == &pdnn_op_rmsnorm && row->attr[PDNN_RMSNORM_HEADS]; /* and their gamma */
    char what[160];
    int n = 0;
    memcpy(attrs, row->attr, sizeof row->attr);
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    graph.dtype = dtype;
    for (int i = 0; i < row->n_matrices; i++)
        inputs[n++] = new_input(&graph, 2, R, C);
    for (int i = 0; i < row->n_vectors; i++)
        inputs[n++] = new_input(&graph, 1, heads ? row->attr[PDNN_RMSNORM_WIDTH] : C, 0);
    inputs[n] = PDNN_NONE;
    graph.result = pdnn_graph_forward(&graph, row->op, inputs, attrs);
    must(pdnn_graph_status(&graph, &err), &err);
    snprintf(what, sizeof what, "%s %s R=%d C=%d", row->op->name, pdnn_dtype_name(dtype), (int)R, (int)C);
    open_oracle(&graph, &oracle);
    for (size_t b = 0; b < 2; b++)
        assert_true(check_everything(&backends[b], &oracle, 1, sqrt((double)C), what));
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

/* Less than a piece, one and a part, many on two threads, rows longer than a piece; odd sizes, where pairs of
 * 16-bit values do not fill a float. */
static void test_rows(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {3, 7}, {33, 129}, {1031, 64}, {7, 4099}, {5, 5000}};
    struct opened backends[] = {open_backend(fast_backends[0]), open_backend(fast_backends[1])};
    for (size_t i = 0; i < sizeof row_cases / sizeof *row_cases; i++) {
        for (size_t k = 0; k < 2 * sizeof shapes / sizeof *shapes; k++)
            check_rows(backends, &row_cases[i], halves[k % 2], shapes[k / 2][0], shapes[k / 2][1]);
    }
    close_backend(&backends[0]);
    close_backend(&backends[1]);
}

/* Heads at the end of a row, behind an odd number of columns. */
static void test_heads(void **state) {
    (void)state;
    static const struct row_case few = {&pdnn_op_rope, 1, 0, {3, 1, 2, 1, 7}},
                                 many = {&pdnn_op_rope, 1, 0, {2, 3, 42, 3, 0}},
                                 normed = {&pdnn_op_rmsnorm, 1, 1, {1, 3, 42, 3}};
    struct opened backends[] = {open_backend(fast_backends[0]), open_backend(fast_backends[1])};
    for (size_t k = 0; k < 2; k++) {
        check_rows(backends, &few, halves[k], 3, 3);
        check_rows(backends, &many, halves[k], 1030, 129);
        check_rows(backends, &normed, halves[k], 1030, 129);
    }
    close_backend(&backends[0]);
    close_backend(&backends[1]);
}

/* A norm of rows (R, C), whose input has a gradient, and a loss. */
static void check_norm(const struct opened backends[2], const struct row_case *row, enum pdnn_dtype dtype,
                       int64_t R, int64_t C) {
    const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 1};
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    struct pdnn_err err = {0};
    uint32_t inputs[PDNN_NODE_INPUTS];
    char what[160];
    int n = 0;
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    graph.dtype = dtype;
    graph.has_masters = true;
    uint32_t x = new_input(&graph, 2, R, C), b = pdnn_graph_weight(&graph, 1, &C, fill);
    const struct pdnn_tensor far = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {R, C}, .fill = {PDNN_FILL_UNIFORM, 512}, .of = PDNN_NONE};
    const uint32_t wanted = pdnn_graph_tensor(&graph, &far); /* whether y is rounded up or down is nothing */
    inputs[n++] = pdnn_graph_forward(&graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    for (int i = 0; i < row->n_vectors; i++)
        inputs[n++] = pdnn_graph_weight(&graph, 1, row->attr[1] ? &row->attr[PDNN_RMSNORM_WIDTH] : &C, fill);
    inputs[n] = PDNN_NONE;
    int64_t attrs[PDNN_NODE_ATTRS] = {0};
    memcpy(attrs, row->attr, sizeof row->attr);
    x = pdnn_graph_f32(&graph, pdnn_graph_forward(&graph, row->op, inputs, attrs));
    graph.loss = pdnn_graph_forward(&graph, &pdnn_op_squared_error, (uint32_t[]){x, wanted, PDNN_NONE}, NULL);
    pdnn_backward_derive(&graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
    must(pdnn_graph_status(&graph, &err), &err);
    snprintf(what, sizeof what, "%s %s trained R=%d C=%d", row->op->name, pdnn_dtype_name(dtype), (int)R,
             (int)C);
    open_oracle(&graph, &oracle);
    for (size_t i = 0; i < 2; i++)
        assert_true(check_kept(&backends[i], &oracle, 1, 500, what));
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

/* Gradients of weights, which are sums over pieces of the rows: one piece, one and a part, as many parts as
 * there may be and more pieces, rows longer than a piece. As many rows as columns, where the rows' statistics
 * look like weights. */
static void test_norm_gradients(void **state) {
    (void)state;
    static const struct row_case rows[] = {{&pdnn_op_layernorm, 1, 2, {1}},
                                           {&pdnn_op_layernorm, 1, 0, {1}},
                                           {&pdnn_op_rmsnorm, 1, 1, {1}},
                                           {&pdnn_op_rmsnorm, 1, 1, {1, 3, 8, 3}}};
    static const int64_t shapes[][2] = {{3, 29}, {300, 33}, {2571, 256}, {5, 9001}, {64, 64}};
    struct opened backends[] = {open_backend(fast_backends[0]), open_backend(fast_backends[1])};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            check_norm(backends, &rows[i], halves[(i + k) % 2], shapes[k][0], shapes[k][1]);
    close_backend(&backends[0]);
    close_backend(&backends[1]);
}

/* Vectors in a row, few long ones and many short ones; pairs of them, and all with all. */
static void test_interaction(void **state) {
    (void)state;
    static const struct row_case rows[] = {{&pdnn_op_interaction, 1, 0, {43, PDNN_INTERACTION_BELOW}},
                                           {&pdnn_op_interaction, 1, 0, {3, PDNN_INTERACTION_ALL}}};
    struct opened backends[] = {open_backend(fast_backends[0]), open_backend(fast_backends[1])};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 2; i++)
            check_rows(backends, &rows[i], halves[k], 131, 129);
    close_backend(&backends[0]);
    close_backend(&backends[1]);
}

/* From f32 to 16 bit: copies of master weights. */
static void test_masters(void **state) {
    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct opened backend = open_backend(fast_backends[b]);
        for (size_t h = 0; h < 2; h++) {
            struct pdnn_arena arena;
            struct pdnn_graph graph;
            pdnn_arena_init(&arena);
            pdnn_graph_init(&graph, &arena);
            graph.dtype = halves[h];
            graph.has_masters = true;
            graph.result =
                pdnn_graph_weight(&graph, 2, (int64_t[]){171, 301}, (struct pdnn_fill){PDNN_FILL_UNIFORM, 3});
            assert_true(check_graph(&backend, &graph, 1, 1, "cast of a master"));
            pdnn_arena_finish(&arena);
        }
        close_backend(&backend);
    }
}

static const char *const nets[] = {
    "fc/layers=2,nodes=32,input=20,output=10,batch=8",
    "cnn/block=plain,image=32,filters=4,blocks=1,batch=2,output=10",
    "rnn/cell=lstm,embedding=24,length=3,vocabulary=20,batch=4",
    "transformer/layers=1,hidden=32,heads=2,ffn=40,length=6,batch=2,vocabulary=30,dropout=0",
    "dlrm/dim=7,bottom=12,top=8,features=4,pooling=5,rows_cap=30,batch=6",
};
enum { NETS = sizeof nets / sizeof *nets };

/* The backend refuses where it has no fast path, and only there; what then
 * runs by request is flagged slow. */
static void check_net(const struct opened *backend, const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    size_t slow = 0;
    pdnn_arena_init(&arena);
    build_instance(id, &arena, &graph);
    enum pdnn_status status =
        pdnn_plan_create(&plan, backend->def, backend->state, &graph, &(struct pdnn_plan_options){0}, &err);
    if (status == PDNN_OK) {
        for (size_t i = 0; i < plan.program.n_calls; i++)
            slow += plan.program.calls[i].is_slow;
        assert_int_equal(slow, 0);
        pdnn_plan_destroy(&plan);
        pdnn_arena_finish(&arena);
        return;
    }
    assert_int_equal(status, PDNN_UNSUPPORTED);
    const struct pdnn_plan_options options = {.allow_slow = true};
    if (!strstr(err.text, "no fast ") && !strstr(err.text, "conv2d")) /* openblas has no convolutions */
        fail_msg("%s %s: %s", backend->def->name, id, err.text);
    if (pdnn_plan_create(&plan, backend->def, backend->state, &graph, &options, &err) == PDNN_OK) {
        for (size_t i = 0; i < plan.program.n_calls; i++)
            slow += plan.program.calls[i].is_slow;
        assert_true(slow > 0);
        assert_int_equal(pdnn_plan_run(&plan), 0);
        pdnn_plan_destroy(&plan);
    } else if (!strstr(err.text, "conv2d")) {
        fail_msg("%s %s: %s", backend->def->name, id, err.text);
    }
    pdnn_arena_finish(&arena);
}

/* Experts in inference, whose weights may be stored in blocks: rows for the kernel of a few rows, and more,
 * evenly and not, and outputs that fill blocks and do not. */
static void test_experts(void **state) {
    (void)state;
    static const struct {
        int64_t tokens, experts, O, skew;
    } cases[] = {{4, 4, 64, 0}, {40, 4, 64, 0}, {40, 6, 128, 150}, {40, 4, 50, 0}, {41, 3, 192, 30}};
    for (size_t i = 0; i < 4 * (sizeof cases / sizeof *cases); i++) {
        const int64_t I = 96, R = 2 * cases[i / 4].tokens,
                      w_dim[] = {cases[i / 4].experts, cases[i / 4].O, I};
        const int64_t attrs[PDNN_NODE_ATTRS] = {
            [PDNN_EXPERTS_ACTIVE] = 2, [PDNN_EXPERTS_SKEW] = cases[i / 4].skew};
        struct opened backend = open_backend(fast_backends[i % 2]);
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct oracle oracle;
        struct pdnn_err err = {0};
        char what[80];
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        graph.dtype = halves[i / 2 % 2];
        uint32_t x = new_input(&graph, 2, R, I);
        uint32_t w = pdnn_graph_weight(&graph, 3, w_dim, (struct pdnn_fill){PDNN_FILL_UNIFORM, 0.5});
        graph.result = pdnn_graph_forward(&graph, &pdnn_op_experts, (uint32_t[]){x, w, PDNN_NONE}, attrs);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "experts %s, case %zu", pdnn_dtype_name(graph.dtype), i / 4);
        open_oracle(&graph, &oracle);
        check_everything(&backend, &oracle, 1, sqrt((double)I), what);
        close_oracle(&oracle);
        close_backend(&backend);
        pdnn_arena_finish(&arena);
    }
}

static void test_slow_is_said(void **state) {
    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct opened backend = open_backend(fast_backends[b]);
        for (size_t i = 0; i < 4 * NETS; i++) {
            char id[PDNN_ID_TEXT];
            snprintf(id, sizeof id, "%s,dtype=%s,mode=%s", nets[i / 4], pdnn_dtype_name(halves[i % 2]),
                     i / 2 % 2 ? "train" : "infer");
            check_net(&backend, id);
        }
        close_backend(&backend);
    }
}

/* Errors of a few layers add up to some units in the last place. */
static const double net_slack = 2e4;

static bool check_result(const struct opened *backend, const struct pdnn_graph *graph, const char *what) {
    struct oracle oracle;
    open_oracle(graph, &oracle);
    bool runs = check_kept(backend, &oracle, 1, net_slack, what);
    close_oracle(&oracle);
    return runs;
}

/* Two convolutions in groups or with taps apart, behind a plain one, on 16-bit copies of their weights:
 * images (2, 16, 9, 8). */
static void build_grouped(struct pdnn_graph *graph, enum pdnn_dtype dtype, int64_t groups, int64_t dilation,
                          bool trains) {
    const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 0.5};
    const int64_t plain[PDNN_NODE_ATTRS] = {1, 1, 1, 1},
                  attrs[PDNN_NODE_ATTRS] = {1, 1, dilation + 1, dilation, groups, dilation, dilation, -2};
    graph->dtype = dtype;
    graph->has_masters = true;
    struct pdnn_tensor images = {.role = PDNN_ROLE_INPUT,
                                 .dtype = dtype,
                                 .rank = 4,
                                 .dim = {2, 16, 9, 8},
                                 .fill = fill,
                                 .of = PDNN_NONE};
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {2},
                                 .fill = {PDNN_FILL_CLASS, 5},
                                 .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(graph, &images), label = pdnn_graph_tensor(graph, &labels);
    uint32_t w = pdnn_graph_weight(graph, 4, (int64_t[]){16, 16, 3, 3}, fill);
    x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, plain);
    for (int i = 0; i < 2; i++) {
        w = pdnn_graph_weight(graph, 4, (int64_t[]){16, 16 / groups, 3, 3}, fill);
        x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
    }
    w = pdnn_graph_weight(graph, 2, (int64_t[]){5, 16 * 9 * 8}, fill);
    graph->result = x = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    if (!trains)
        return;
    x = pdnn_graph_f32(graph, x);
    graph->result = PDNN_NONE;
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){x, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
}

static void test_grouped_convolutions(void **state) {
    (void)state;
    static const int64_t rows[][2] = {{16, 1}, {4, 1}, {1, 2}, {16, 2}};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 4 * sizeof rows / sizeof *rows; i++) {
        const int64_t *row = rows[i / 4];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char what[160];
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        build_grouped(&graph, halves[i % 2], row[0], row[1], i / 2 % 2);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "%s groups=%d dilation=%d%s", pdnn_dtype_name(halves[i % 2]), (int)row[0],
                 (int)row[1], i / 2 % 2 ? " trained" : "");
        assert_true(check_result(&backend, &graph, what));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

static void test_inference(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 2 * NETS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        pdnn_arena_init(&arena);
        snprintf(id, sizeof id, "%s,dtype=%s,mode=infer", nets[i / 2], pdnn_dtype_name(halves[i % 2]));
        build_instance(id, &arena, &graph);
        assert_true(check_result(&backend, &graph, id));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* The same on the library's own 16-bit kernels; skipped with a message if it has none. */
static void test_fast_inference(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    size_t ran = 0;
    for (size_t i = 0; i < 2 * NETS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_plan plan;
        struct pdnn_err err = {0};
        char id[PDNN_ID_TEXT];
        pdnn_arena_init(&arena);
        snprintf(id, sizeof id, "%s,dtype=%s,mode=infer", nets[i / 2], pdnn_dtype_name(halves[i % 2]));
        build_instance(id, &arena, &graph);
        if (pdnn_plan_create(&plan, backend.def, backend.state, &graph, &(struct pdnn_plan_options){0},
                             &err) == PDNN_OK) {
            pdnn_plan_destroy(&plan);
            assert_true(check_result(&backend, &graph, id));
            ran++;
        } else if (i < 2) {
            print_message("skipped: %s\n", err.text);
        }
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
    if (!ran)
        skip();
}

static float loss_of(const struct pdnn_plan *plan) {
    float *loss = value_of(plan, plan->graph->loss), value = *loss;
    free(loss);
    return value;
}

static void test_training(void **state) {
    (void)state;
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .allow_slow = true};
    const struct pdnn_backend_def *const backends[] = {&pdnn_backend_onednn, &pdnn_backend_reference};
    for (size_t i = 0; i < 4; i++) {
        struct opened backend = open_backend(backends[i / 2]);
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_plan plan;
        struct pdnn_err err = {0};
        char id[PDNN_ID_TEXT];
        float first = 0, last = 0;
        pdnn_arena_init(&arena);
        snprintf(id, sizeof id, "fc/layers=2,nodes=32,input=20,output=10,batch=8,optimizer=adam,dtype=%s",
                 pdnn_dtype_name(halves[i % 2]));
        build_instance(id, &arena, &graph);
        must(pdnn_plan_create(&plan, backend.def, backend.state, &graph, &options, &err), &err);
        for (int step = 0; step < 40; step++) {
            assert_int_equal(pdnn_plan_run(&plan), 0);
            last = loss_of(&plan);
            first = step ? first : last;
        }
        if (!(last < 0.7F * first))
            fail_msg("%s %s: loss %g after %g", backend.def->name, id, (double)last, (double)first);
        pdnn_plan_destroy(&plan);
        pdnn_arena_finish(&arena);
        close_backend(&backend);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_heads),
        cmocka_unit_test(test_interaction),    cmocka_unit_test(test_masters),
        cmocka_unit_test(test_experts),        cmocka_unit_test(test_slow_is_said),
        cmocka_unit_test(test_inference),      cmocka_unit_test(test_fast_inference),
        cmocka_unit_test(test_training),       cmocka_unit_test(test_grouped_convolutions),
        cmocka_unit_test(test_norm_gradients),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
