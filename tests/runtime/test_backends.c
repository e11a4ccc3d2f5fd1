/* Every op and pass of every backend against `reference`, through plans: single nodes with odd sizes, then
 * whole training steps, plain and fused, with every layout of weights in onednn. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"

#include "base/rng.h"
#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "models/instance.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"
#include "runtime/backends/onednn/dense/tune.h"
#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/backends/onednn/state.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference, pdnn_backend_openblas;

static const struct pdnn_backend_def *const fast_backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas};
enum { FAST_BACKENDS = sizeof fast_backends / sizeof *fast_backends };

static const int64_t sizes[] = {1, 3, 17, 64, 129};

/* Activations have tests of their own. A node on tensors named by their dims: N, I, O, L for labels (N), 1,
 * and 2 for adam's powers. S is like the first input and never negative; P is like S but only read. Updates
 * write the states they read, and the weights if they have no other output. */
static const struct node_case {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    const char *inputs[PDNN_NODE_INPUTS], *outputs[PDNN_NODE_OUTPUTS];
} node_cases[] = {
    {&pdnn_op_dense, PDNN_FORWARD, {"NI", "OI"}, {"NO"}},
    {&pdnn_op_dense, PDNN_BACKWARD_DATA, {"NO", "OI"}, {"NI"}},
    {&pdnn_op_dense, PDNN_BACKWARD_WEIGHTS, {"NI", "NO"}, {"OI"}},
    {&pdnn_op_bias, PDNN_FORWARD, {"NO", "O"}, {"NO"}},
    {&pdnn_op_bias, PDNN_BACKWARD_WEIGHTS, {"NO"}, {"O"}},
    {&pdnn_op_add, PDNN_FORWARD, {"NO", "NO"}, {"NO"}},
    {&pdnn_op_add, PDNN_BACKWARD_DATA, {"NO", "NO"}, {"NO"}},
    {&pdnn_op_add, PDNN_BACKWARD_WEIGHTS, {"OI", "OI"}, {"OI"}},
    {&pdnn_op_softmax_cross_entropy, PDNN_FORWARD, {"NO", "L"}, {"1", "NO"}},
    {&pdnn_op_softmax_cross_entropy, PDNN_BACKWARD_DATA, {"NO", "L"}, {"NO"}},
    {&pdnn_op_logistic_loss, PDNN_FORWARD, {"N1", "L"}, {"1"}},
    {&pdnn_op_logistic_loss, PDNN_BACKWARD_DATA, {"N1", "L"}, {"N1"}},
    {&pdnn_op_squared_error, PDNN_FORWARD, {"NO", "NO"}, {"1"}},
    {&pdnn_op_squared_error, PDNN_BACKWARD_DATA, {"NO", "NO"}, {"NO"}},
    {&pdnn_op_smooth_l1, PDNN_FORWARD, {"NO", "NO"}, {"1"}},
    {&pdnn_op_smooth_l1, PDNN_BACKWARD_DATA, {"NO", "NO"}, {"NO"}},
    {&pdnn_op_sgd, PDNN_UPDATE, {"OI", "OI"}, {NULL}},
    {&pdnn_op_momentum, PDNN_UPDATE, {"OI", "OI", "S"}, {NULL}},
    {&pdnn_op_rmsprop, PDNN_UPDATE, {"OI", "OI", "S", "S"}, {NULL}},
    {&pdnn_op_adam, PDNN_UPDATE, {"OI", "OI", "S", "S", "2"}, {NULL}},
    {&pdnn_op_norm, PDNN_UPDATE, {"OI"}, {"1"}},
    {&pdnn_op_norm, PDNN_UPDATE, {"OI", "1"}, {"1"}},
    {&pdnn_op_moment, PDNN_UPDATE, {"OI", "OI"}, {NULL}},
    {&pdnn_op_adam_apply, PDNN_UPDATE, {"OI", "OI", "P", "2"}, {NULL}},
    {&pdnn_op_lamb_direction, PDNN_UPDATE, {"OI", "OI", "S", "S", "2", "1"}, {"OI"}},
    {&pdnn_op_lamb_apply, PDNN_UPDATE, {"OI", "OI", "1", "1"}, {NULL}},
};
enum { NODE_CASES = sizeof node_cases / sizeof *node_cases };

struct dims {
    int64_t N, I, O;
};

static uint32_t new_tensor(struct pdnn_graph *graph, const char *name, const struct dims *dims,
                           enum pdnn_role role, const struct pdnn_tensor *like) {
    struct pdnn_tensor tensor = {.role = role, .of = PDNN_NONE, .fill = {PDNN_FILL_UNIFORM, 2}};
    if (*name == 'S' || *name == 'P') {
        tensor = *like;
        tensor.role = PDNN_ROLE_STATE;
        tensor.fill = (struct pdnn_fill){PDNN_FILL_CONSTANT, 0.3};
        return pdnn_graph_tensor(graph, &tensor);
    }
    if (*name == 'L') {
        tensor.dtype = PDNN_S32;
        tensor.fill = (struct pdnn_fill){PDNN_FILL_CLASS, (double)dims->O};
    }
    if (*name == '2')
        tensor.fill = (struct pdnn_fill){PDNN_FILL_CONSTANT, 1};
    for (; *name; name++) {
        int64_t dim = *name == 'N' || *name == 'L' ? dims->N
                      : *name == 'I'               ? dims->I
                      : *name == 'O'               ? dims->O
                                                   : *name - '0';
        tensor.dim[tensor.rank++] = dim;
    }
    return pdnn_graph_tensor(graph, &tensor);
}

static void build_node(const struct node_case *row, const struct dims *dims, struct pdnn_graph *graph) {
    bool update = row->pass == PDNN_UPDATE;
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_NODE_OUTPUTS];
    struct pdnn_node node = {.op = row->op,
                             .pass = row->pass,
                             .input = input,
                             .output = output,
                             .coef = {0.1, 0.9, 0.8, 0.5, 0.25}};
    for (int i = 0; i < PDNN_NODE_INPUTS && row->inputs[i]; i++) {
        const struct pdnn_tensor *like = i ? &graph->tensors[node.input[0]] : NULL;
        enum pdnn_role role = update && i == 0         ? PDNN_ROLE_WEIGHT
                              : *row->inputs[i] == 'L' ? PDNN_ROLE_LABEL
                                                       : PDNN_ROLE_INPUT;
        node.input[node.n_inputs++] = new_tensor(graph, row->inputs[i], dims, role, like);
    }
    for (int i = 0; i < PDNN_NODE_OUTPUTS && row->outputs[i]; i++)
        node.output[node.n_outputs++] = new_tensor(graph, row->outputs[i], dims, PDNN_ROLE_ACTIVATION, NULL);
    for (int i = 0; update && i < node.n_inputs; i++) {
        if ((i == 0 && !row->outputs[0]) || *row->inputs[i] == 'S' || *row->inputs[i] == '2')
            node.output[node.n_outputs++] = node.input[i];
    }
    pdnn_graph_node(graph, &node);
}

static void open_fast(struct opened backends[FAST_BACKENDS]) {
    for (size_t b = 0; b < FAST_BACKENDS; b++)
        backends[b] = open_backend(fast_backends[b]);
}

static void close_fast(struct opened backends[FAST_BACKENDS]) {
    for (size_t b = 0; b < FAST_BACKENDS; b++)
        close_backend(&backends[b]);
}

static void check_node_case(const struct opened backends[FAST_BACKENDS], const struct node_case *row,
                            const struct dims *dims) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct oracle oracle;
    struct pdnn_err err = {0};
    char what[160];
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    build_node(row, dims, &graph);
    must(pdnn_graph_status(&graph, &err), &err);
    snprintf(what, sizeof what, "%s %s N=%d I=%d O=%d", row->op->name, pdnn_pass_name(row->pass),
             (int)dims->N, (int)dims->I, (int)dims->O);
    double terms = (double)(dims->N > dims->I ? dims->N : dims->I);
    terms = fmax(terms, (double)dims->O);
    open_oracle(&graph, &oracle);
    for (size_t b = 0; b < FAST_BACKENDS; b++)
        assert_true(check_everything(&backends[b], &oracle, 1, sqrt(terms), what));
    close_oracle(&oracle);
    pdnn_arena_finish(&arena);
}

static void test_compile_single_nodes(void **state) {
    (void)state;
    const struct dims large = {129, 190, 301}; /* enough for all threads, and multiples of nothing */
    struct pdnn_rng rng = {CHECK_SEED, 0};
    struct opened backends[FAST_BACKENDS];
    open_fast(backends);
    for (size_t i = 0; i < NODE_CASES; i++) {
        for (size_t draw = 0; draw < 12; draw++) {
            const struct dims dims = {sizes[pdnn_rng_below(&rng, 5)], sizes[pdnn_rng_below(&rng, 5)],
                                      sizes[pdnn_rng_below(&rng, 5)]};
            take_level(draw);
            check_node_case(backends, &node_cases[i], draw < PDNN_LEVEL_COUNT ? &large : &dims);
        }
    }
    close_fast(backends);
}

static const char *const instances[] = {
    "fc/layers=2,nodes=17,input=33,output=5,batch=9,mode=train,optimizer=sgd",
    "fc/layers=3,nodes=64,input=20,output=10,batch=17,mode=train,optimizer=momentum,activation=sigmoid",
    "fc/layers=1,nodes=129,input=3,output=2,batch=1,mode=train,optimizer=adam,activation=tanh",
    "fc/layers=2,nodes=67,input=20,output=10,batch=17,mode=train,optimizer=adamw,accumulate=2",
    "fc/layers=3,nodes=130,input=64,output=29,batch=33,mode=train,optimizer=lamb,accumulate=3",
    "fc/layers=3,nodes=130,input=257,output=129,batch=65,mode=train,optimizer=rmsprop",
    "fc/layers=3,nodes=65,input=3,output=7,batch=64,mode=infer",
};
enum { INSTANCES = sizeof instances / sizeof *instances };

static void test_run_whole_steps(void **state) {
    (void)state;
    struct opened backends[FAST_BACKENDS];
    open_fast(backends);
    for (size_t i = 0; i < INSTANCES; i++) {
        take_level(i);
        check_instance(backends, FAST_BACKENDS, instances[i]);
    }
    close_fast(backends);
}

static void test_run_fused_steps(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < INSTANCES; i++) {
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "%s,fuse=post-ops", instances[i]);
        take_level(i + 1);
        check_instance(&backend, 1, id);
    }
    close_backend(&backend);
}

/* Every home layout of the weights times every way to run each pass; sizes are odd,
 * so that transposing matters. */
static void check_forced_graph(struct opened *backend, const struct pdnn_graph *graph, const char *what) {
    struct pdnn_onednn *onednn = backend->state;
    struct oracle oracle;
    int ran = 0;
    open_oracle(graph, &oracle);
    for (int i = 0; i < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT * PDNN_ONEDNN_DENSE_VARIANTS; i++) {
        const struct pdnn_onednn_dense_variant variant =
            pdnn_onednn_dense_variant_at(i / PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT);
        struct pdnn_onednn_dense_choice choice = {
            .stored = (enum pdnn_onednn_weights_format)(i % PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT)};
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
            choice.variant[pass] = variant;
            /* The small-batch way has only a forward pass. */
            if (pass != PDNN_FORWARD && variant.way == PDNN_ONEDNN_DENSE_SMALL_BATCH)
                choice.variant[pass].way = PDNN_ONEDNN_DENSE_INNER_PRODUCT;
        }
        onednn->forced_dense = &choice;
        take_level((size_t)i + (size_t)i / PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT);
        ran += check_everything(backend, &oracle, CHECK_STEPS, check_whole_step_slack, what);
        ran += check_kept(backend, &oracle, CHECK_STEPS, check_whole_step_slack, what);
    }
    close_oracle(&oracle);
    onednn->forced_dense = NULL;
    assert_true(ran >= 2 * PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT * PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT);
}

static void check_forced(struct opened *backend, const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    build_instance(id, &arena, &graph);
    check_forced_graph(backend, &graph, id);
    pdnn_arena_finish(&arena);
}

static void test_run_every_layout(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    check_forced(&backend, instances[1]);
    check_forced(&backend,
                 "fc/layers=2,nodes=17,input=33,output=5,batch=9,mode=train,optimizer=adam,fuse=post-ops");
    close_backend(&backend);
}

/* A small batch may go through our own kernel, whatever the weights' home layout. */
static void test_run_small_batch(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=2,nodes=17,input=33,output=5,batch=1,mode=infer,fuse=post-ops",
        "fc/layers=3,nodes=130,input=257,output=29,batch=2,mode=infer,fuse=post-ops,activation=sigmoid",
        "fc/layers=2,nodes=67,input=20,output=10,batch=3,mode=train,optimizer=sgd",
        "fc/layers=2,nodes=300,input=20,output=10,batch=4,mode=infer,fuse=post-ops,activation=tanh",
    };
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check_forced(&backend, ids[i]);
    close_backend(&backend);
}

/* Counts the steps whose implementation begins like this. */
static size_t count_calls(const struct opened *backend, const char *id, const char *like) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    size_t count = 0;
    pdnn_arena_init(&arena);
    build_instance(id, &arena, &graph);
    enum pdnn_status status =
        pdnn_plan_create(&plan, backend->def, backend->state, &graph, &(struct pdnn_plan_options){0}, &err);
    if (status == PDNN_OK) {
        for (size_t i = 0; i < plan.program.n_calls; i++)
            count += strncmp(plan.program.calls[i].implementation, like, strlen(like)) == 0;
        pdnn_plan_destroy(&plan);
    } else {
        assert_int_equal(status, PDNN_UNSUPPORTED);
    }
    pdnn_arena_finish(&arena);
    return count;
}

static size_t count_small_batch(const struct opened *backend, const char *id) {
    return count_calls(backend, id, "paradnn:dense");
}

/* Every pass by sgemm: 3 forward, 2 of data, 3 of weights; none for a few rows, in 16 bit, or with the
 * gradient of a bias. */
static void test_compile_gemm(void **state) {
    (void)state;
    static const struct {
        const char *id;
        size_t count;
    } cases[] = {{"fc/layers=2,nodes=17,batch=5,mode=infer", 3},
                 {"fc/layers=2,nodes=17,batch=5,mode=infer,fuse=post-ops", 3},
                 {"fc/layers=2,nodes=17,batch=5,mode=train", 8},
                 {"fc/layers=2,nodes=17,batch=4,mode=infer", 0},
                 {"fc/layers=2,nodes=17,batch=5,mode=train,fuse=post-ops", 0}};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct pdnn_onednn_dense_choice choice = {.stored = PDNN_ONEDNN_WEIGHTS_ROW_MAJOR};
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++)
            choice.variant[pass] = (struct pdnn_onednn_dense_variant){
                PDNN_ONEDNN_DENSE_GEMM,
                i % 2 ? PDNN_ONEDNN_WEIGHTS_ROW_MAJOR : PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR};
        ((struct pdnn_onednn *)backend.state)->forced_dense = &choice;
        assert_int_equal(count_calls(&backend, cases[i / 2].id, "onednn:sgemm"), cases[i / 2].count);
    }
    close_backend(&backend);
}

static void test_compile_small_batch(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_onednn_dense_choice choice = {.stored = PDNN_ONEDNN_WEIGHTS_ROW_MAJOR};
    choice.variant[PDNN_FORWARD].way = PDNN_ONEDNN_DENSE_SMALL_BATCH;
    ((struct pdnn_onednn *)backend.state)->forced_dense = &choice;
    assert_int_equal(count_small_batch(&backend, "fc/layers=2,nodes=17,batch=1,mode=infer,fuse=post-ops"), 3);
    assert_int_equal(count_small_batch(&backend, "fc/layers=2,nodes=17,batch=4,mode=train"), 3);
    assert_int_equal(count_small_batch(&backend, "fc/layers=2,nodes=17,batch=5,mode=infer"), 0);
    choice.variant[PDNN_FORWARD].format = PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR;
    assert_int_equal(count_small_batch(&backend, "fc/layers=2,nodes=17,batch=1,mode=infer"), 0);
    close_backend(&backend);
}

static bool has_reorder(const struct opened *backend, const struct pdnn_graph *graph) {
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    bool found = false;
    must(pdnn_plan_create(&plan, backend->def, backend->state, graph, &(struct pdnn_plan_options){0}, &err),
         &err);
    for (size_t i = 0; i < plan.program.n_calls; i++) {
        const struct pdnn_call *call = &plan.program.calls[i];
        assert_true(call->implementation[0] != '\0');
        if (call->node != PDNN_NONE)
            continue;
        found = true;
        assert_true(call->tensor < graph->n_tensors);
        assert_true(call->reorder_bytes >= 2 * pdnn_tensor_bytes(&graph->tensors[call->tensor]));
    }
    pdnn_plan_destroy(&plan);
    return found;
}

static void test_compile_shows_reorders(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_onednn *onednn = backend.state;
    struct pdnn_onednn_dense_choice choice = {.stored = PDNN_ONEDNN_WEIGHTS_ROW_MAJOR};
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    build_instance(instances[0], &arena, &graph);
    onednn->forced_dense = &choice;
    assert_false(has_reorder(&backend, &graph));
    choice.variant[PDNN_BACKWARD_DATA].format = PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR;
    assert_true(has_reorder(&backend, &graph));
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* Two dense ops on one weight with a tanh between them. The second works on `rows` rows; if that differs from
 * the first, it has its own input. */
static void build_shared(struct pdnn_arena *arena, struct pdnn_graph *graph, bool fused, int64_t rows) {
    const struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1};
    struct pdnn_tensor input = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {9, 17}, .fill = uniform, .of = PDNN_NONE};
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {rows},
                                 .fill = {PDNN_FILL_CLASS, 17},
                                 .of = PDNN_NONE};
    struct pdnn_err err = {0};
    pdnn_arena_init(arena);
    pdnn_graph_init(graph, arena);
    uint32_t x = pdnn_graph_tensor(graph, &input), label = pdnn_graph_tensor(graph, &labels);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){17, 17}, uniform);
    uint32_t h = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    uint32_t a = pdnn_graph_forward(graph, &pdnn_op_tanh, (uint32_t[]){h, PDNN_NONE}, NULL);
    if (rows != input.dim[0]) {
        input.dim[0] = rows;
        a = pdnn_graph_tensor(graph, &input);
    }
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){a, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    if (fused)
        pdnn_fuse_post_ops(graph);
    must(pdnn_graph_status(graph, &err), &err);
}

static void check_shared(struct opened *backend, bool fused) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_shared(&arena, &graph, fused, 9);
    assert_true(check_graph(backend, &graph, CHECK_STEPS, check_whole_step_slack, "shared weight"));
    if (backend->def == &pdnn_backend_onednn)
        check_forced_graph(backend, &graph, "shared weight");
    pdnn_arena_finish(&arena);
}

/* Fused, the first product has a post-op and the second has none. */
static void test_run_shared_weight(void **state) {
    (void)state;
    for (size_t b = 0; b < FAST_BACKENDS; b++) {
        struct opened backend = open_backend(fast_backends[b]);
        check_shared(&backend, false);
        if (backend.def == &pdnn_backend_onednn)
            check_shared(&backend, true);
        close_backend(&backend);
    }
}

static void test_compile_shared_weight_unsupported(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_shared(&arena, &graph, false, 5);
    expect_graph_unsupported(&backend, &graph,
                             "onednn: one weight used by nodes of different shape or bias gradients");
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* Data is generated directly in slots with a plain layout; only the others need `put`. */
static void test_is_plain_by_layout(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_onednn *onednn = backend.state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    build_instance(instances[0], &arena, &graph);
    for (int stored = 0; stored <= PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR; stored++) {
        struct pdnn_onednn_dense_choice choice = {.stored = (enum pdnn_onednn_weights_format)stored};
        struct pdnn_plan plan;
        struct pdnn_err err = {0};
        size_t moved = 0;
        onednn->forced_dense = &choice;
        must(
            pdnn_plan_create(&plan, backend.def, backend.state, &graph, &(struct pdnn_plan_options){0}, &err),
            &err);
        for (uint32_t i = 0; i < graph.n_tensors; i++)
            moved += !backend.def->is_plain(&plan.program, i);
        assert_true(stored == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR ? moved == 0 : moved > 0);
        pdnn_plan_destroy(&plan);
    }
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

static void test_compile_unsupported(void **state) {
    (void)state;
    struct opened onednn = open_backend(&pdnn_backend_onednn),
                  openblas = open_backend(&pdnn_backend_openblas);
    expect_unsupported(&openblas, "fc/dtype=int8,mode=infer",
                       "openblas: no implementation of dense forward for int8");
    expect_unsupported(&openblas, "fc/dtype=f16,mode=infer",
                       "openblas: no fast f16 code for dense forward with sgemm; --allow-slow runs it");
    expect_unsupported(&openblas, "fc/fuse=post-ops", "use fuse=none");
    expect_unsupported(&(struct opened){&pdnn_backend_reference, NULL}, "fc/dtype=int8",
                       "int8 is for inference");
    close_backend(&onednn);
    close_backend(&openblas);
}

/* Integers cannot be trained: every backend refuses before anything is filled. */
static void test_compile_unsupported_dtypes(void **state) {
    (void)state;
    static const char *const dtypes[] = {"int8"};
    static const char *const settings[] = {"mode=train", "mode=train,fuse=post-ops",
                                           "mode=train,optimizer=adam"};
    struct opened backends[] = {open_backend(&pdnn_backend_onednn),
                                open_backend(&pdnn_backend_openblas),
                                {&pdnn_backend_reference, NULL}};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
            char id[160];
            snprintf(id, sizeof id, "fc/layers=2,nodes=16,input=8,output=4,batch=4,dtype=%s,%s", dtypes[d],
                     settings[s]);
            for (size_t b = 0; b < sizeof backends / sizeof *backends; b++)
                expect_unsupported(&backends[b], id, "int8 is for inference");
        }
    }
    for (size_t b = 0; b < 2; b++)
        close_backend(&backends[b]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_single_nodes), cmocka_unit_test(test_run_whole_steps),
        cmocka_unit_test(test_run_fused_steps),      cmocka_unit_test(test_run_every_layout),
        cmocka_unit_test(test_run_small_batch),      cmocka_unit_test(test_compile_small_batch),
        cmocka_unit_test(test_compile_gemm),         cmocka_unit_test(test_compile_shows_reorders),
        cmocka_unit_test(test_compile_unsupported),  cmocka_unit_test(test_compile_unsupported_dtypes),
        cmocka_unit_test(test_run_shared_weight),    cmocka_unit_test(test_compile_shared_weight_unsupported),
        cmocka_unit_test(test_is_plain_by_layout),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
