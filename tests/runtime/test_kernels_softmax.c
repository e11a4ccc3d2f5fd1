/* Masks and softmax of rows against the reference kernels of their ops, over odd sizes and all attributes:
 * the same bits with any number of threads, with streaming stores and in place; the accuracy of exp, and NaN.
 * B sequences, h heads, n queries, m keys. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"
#include "runtime/kernels/rows/softmax.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, HEADS = 2, MATRICES = B * HEADS, THREADS = 3, SEED = 3 };

/* Ways to run: threads, streaming stores, in place. */
static const struct {
    int64_t threads;
    bool bypass, in_place;
} ways[] = {
    {1, false, false}, {2, false, false}, {1, true, false}, {THREADS, true, false}, {THREADS, false, true}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Rows of whole vectors and others, one too long to be streamed; more queries than keys. */
static const int64_t shapes[][2] = {{1, 1},   {3, 5},    {5, 3},    {4, 8},    {7, 20},  {16, 64},
                                    {2, 257}, {33, 100}, {3, 4096}, {2, 4100}, {1, 512}, {130, 136}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A network of attention_softmax and a loss, after one step of the reference. */
struct net {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    double **values;
    const struct pdnn_node *forward, *backward;
    uint32_t bias;
    int64_t elements;
    struct pdnn_softmax job; /* shared by both passes; the test owns its bias */
};

static uint32_t new_data(struct net *net, enum pdnn_role role, enum pdnn_dtype dtype, int rank, int64_t rows,
                         int64_t columns, struct pdnn_fill fill) {
    struct pdnn_tensor data = {
        .role = role, .dtype = dtype, .rank = rank, .dim = {rows, columns}, .fill = fill, .of = PDNN_NONE};
    return pdnn_graph_tensor(&net->graph, &data);
}

/* Without a bias, what is causal has a window, too. */
enum { CAUSAL = 1, BIASED = 2, DROPPING = 4, VARIANTS = 8, PERCENT = 30, WINDOW = 5 };

static int64_t window_of(int variant) {
    return variant & CAUSAL && !(variant & BIASED) ? WINDOW : 0;
}

static uint32_t append_softmax(struct net *net, uint32_t x, int variant) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = B,
                                            [PDNN_ATTENTION_SOFTMAX_CAUSAL] = net->job.is_causal,
                                            [PDNN_ATTENTION_SOFTMAX_WINDOW] = net->job.window,
                                            [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = (variant & BIASED) > 0,
                                            [PDNN_ATTENTION_SOFTMAX_PERCENT] = net->job.percent,
                                            [PDNN_ATTENTION_SOFTMAX_TRAIN] = 1};
    const double coefs[PDNN_NODE_COEFS] = {(double)net->job.factor};
    const struct pdnn_fill lengths = {PDNN_FILL_SEQUENCE_MASK, -10000};
    uint32_t inputs[4] = {x, PDNN_NONE, PDNN_NONE, PDNN_NONE}, n = 1;
    if (variant & BIASED)
        inputs[n++] = net->bias = new_data(net, PDNN_ROLE_INPUT, PDNN_F32, 2, B, net->job.m, lengths);
    if (variant & DROPPING)
        inputs[n++] = pdnn_graph_state(&net->graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
    net->job.seed = pdnn_rng_at(inputs[n - 1], 1); /* of the first step */
    return pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax, inputs, attrs, coefs);
}

/* A loss that gives each element a different gradient. */
static void append_loss(struct net *net, uint32_t y) {
    struct pdnn_graph *graph = &net->graph;
    const struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1}, classes = {PDNN_FILL_CLASS, 2};
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){2, net->job.n * net->job.m}, uniform);
    uint32_t label = new_data(net, PDNN_ROLE_LABEL, PDNN_S32, 1, MATRICES, 0, classes);
    y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
}

/* Runs a step without the updates. */
static void run_reference(struct net *net) {
    struct pdnn_err err = {0};
    size_t last = 0;
    if (pdnn_graph_status(&net->graph, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < net->graph.n_nodes; i++) {
        const struct pdnn_node *node = &net->graph.nodes[i];
        last = node->pass == PDNN_UPDATE ? last : i + 1;
        if (node->op == &pdnn_op_attention_softmax)
            *(node->pass == PDNN_FORWARD ? &net->forward : &net->backward) = node;
    }
    net->values = reference_values(&net->graph);
    reference_fill(&net->graph, net->values, SEED);
    reference_run(&net->graph, net->values, 0, last);
}

static void begin(struct net *net, const int64_t shape[2], int variant) {
    *net = (struct net){.elements = MATRICES * shape[0] * shape[1]};
    net->job = (struct pdnn_softmax){.matrices = MATRICES,
                                     .n = shape[0],
                                     .m = shape[1],
                                     .is_causal = variant & CAUSAL,
                                     .window = window_of(variant),
                                     .heads = HEADS,
                                     .factor = 6,
                                     .percent = variant & DROPPING ? PERCENT : 0};
    pdnn_arena_init(&net->arena);
    pdnn_graph_init(&net->graph, &net->arena);
    uint32_t x = pdnn_graph_weight(&net->graph, 3, (int64_t[]){MATRICES, shape[0], shape[1]},
                                   (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    append_loss(net, append_softmax(net, x, variant));
    run_reference(net);
}

static void finish(struct net *net) {
    reference_values_free(&net->graph, net->values);
    pdnn_arena_finish(&net->arena);
}

/* Tolerance relative to the largest value. */
static void check_values(const float *got, const double *expected, int64_t count, double tolerance,
                         const char *what) {
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < count; i++) {
        double error = fabs((double)got[i] - expected[i]);
        largest = fmax(largest, fabs(expected[i]));
        worst = isfinite(error) ? fmax(worst, error) : INFINITY;
        /* Zeros must match, except for tiny values. */
        if ((expected[i] == 0) != (got[i] == 0) && largest > 1e-30)
            worst = fmax(worst, fabs(expected[i]) < 1e-37 ? 0 : INFINITY);
    }
    if (!(worst <= tolerance * largest + 1e-30))
        fail_msg("%s differs by %g of %g", what, worst, largest);
}

/* Must have the same bits as the first way. */
static void check_way(size_t way, float **first, float *got, int64_t count) {
    if (way == 0) {
        *first = got;
        return;
    }
    assert_memory_equal(*first, got, (size_t)count * sizeof *got);
}

static void check_forward(const struct net *net, int variant, const char *what) {
    const struct pdnn_node *node = net->forward;
    struct pdnn_softmax job = net->job;
    float *y = NULL, *p = NULL, *all = new_floats(0);
    if (variant & BIASED)
        job.bias = new_rounded(net->values[net->bias], B * job.m);
    for (size_t way = 0; way < WAYS; way++) {
        float *x = new_rounded(net->values[node->input[0]], net->elements);
        job.x = x;
        job.y = (struct pdnn_softmax_result){ways[way].in_place ? x : new_floats(net->elements),
                                             ways[way].bypass};
        job.saved = (struct pdnn_softmax_result){new_floats(net->elements), ways[way].bypass};
        pdnn_softmax_forward(&job, ways[way].threads);
        check_way(way, &y, job.y.to, net->elements);
        if (variant & DROPPING)
            check_way(way, &p, job.saved.to, net->elements);
    }
    check_values(y, net->values[node->output[0]], net->elements, 3e-6, what);
    if (variant & DROPPING)
        check_values(p, net->values[node->output[1]], net->elements, 3e-6, what);
    free_from(all);
}

static void check_backward(const struct net *net, const char *what) {
    const struct pdnn_node *node = net->backward;
    struct pdnn_softmax job = net->job;
    float *dx = NULL, *p = new_rounded(net->values[node->input[1]], net->elements);
    job.p = p;
    for (size_t way = 0; way < WAYS; way++) {
        float *dy = new_rounded(net->values[node->input[0]], net->elements);
        job.x = dy;
        job.y = (struct pdnn_softmax_result){ways[way].in_place ? dy : new_floats(net->elements),
                                             ways[way].bypass};
        pdnn_softmax_backward(&job, ways[way].threads);
        check_way(way, &dx, job.y.to, net->elements);
    }
    check_values(dx, net->values[node->output[0]], net->elements, 3e-6, what);
    free_from(p);
}

static void test_softmax(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES * VARIANTS; i++) {
        const int64_t *shape = shapes[i / VARIANTS];
        int variant = i % VARIANTS;
        struct net net;
        char what[80];
        snprintf(what, sizeof what, "%d x %d%s%s%s", (int)shape[0], (int)shape[1],
                 variant & CAUSAL ? " causal" : "", variant & BIASED ? " biased" : "",
                 variant & DROPPING ? " dropping" : "");
        begin(&net, shape, variant);
        check_forward(&net, variant, what);
        check_backward(&net, what);
        finish(&net);
    }
}

/* x + bias exactly, and `beyond` where it is masked. */
static void check_mask(const struct pdnn_softmax *job, float beyond, const float *x) {
    for (int64_t k = 0; k < job->matrices * job->n * job->m; k++) {
        int64_t j = k % job->m, i = k / job->m % job->n, sequence = k / job->m / job->n / job->heads;
        float sum = job->bias ? x[k] + job->bias[sequence * job->m + j] : x[k];
        int64_t place = i + job->m - job->n;
        bool is_seen = !job->is_causal || (j <= place && (!job->window || j > place - job->window));
        assert_true(job->y.to[k] == (is_seen ? sum : beyond));
    }
}

static void test_mask(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES * 4 * WAYS; i++) {
        const int64_t *shape = shapes[i / WAYS / 4];
        int variant = i / WAYS % 4, way = i % WAYS;
        int64_t elements = MATRICES * shape[0] * shape[1];
        float *x = new_random(elements, 1), *copy = new_copy(x, elements),
              *bias = new_random(B * shape[1], 1);
        struct pdnn_softmax job = {.matrices = MATRICES,
                                   .n = shape[0],
                                   .m = shape[1],
                                   .is_causal = variant & CAUSAL,
                                   .window = window_of(variant),
                                   .x = x,
                                   .bias = variant & BIASED ? bias : NULL,
                                   .heads = HEADS};
        job.y = (struct pdnn_softmax_result){ways[way].in_place ? x : new_floats(elements), ways[way].bypass};
        float beyond = way % 2 ? 0 : -INFINITY;
        pdnn_softmax_mask(&job, beyond, ways[way].threads);
        check_mask(&job, beyond, copy);
        free_from(x);
    }
}

/* A row (0, x) gives exp(x) as the ratio of its results, within vectors and in the remainder;
 * x times ln 2 may be rounded. */
static void test_exp(void **state) {
    (void)state;
    static const int64_t columns[] = {2, 8, 40};
    for (int i = 0; i < 3; i++) {
        float row[40];
        struct pdnn_softmax job = {.matrices = 1, .n = 1, .m = columns[i], .x = row, .heads = 1, .factor = 1};
        job.y.to = row;
        for (float x = -90; x <= 0; x += 0.0137F) {
            row[0] = 0;
            for (int64_t k = 1; k < columns[i]; k++)
                row[k] = x;
            pdnn_softmax_forward(&job, 1);
            double expected = x < -87.0F ? 0 : exp((double)x);
            for (int64_t k = 1; k < columns[i]; k++)
                assert_near((double)row[k] / (double)row[0], expected, (4e-7 - 7e-8 * (double)x) * expected);
        }
    }
}

/* Scores of any size: only their distance to the largest matters. */
static void test_large(void **state) {
    (void)state;
    enum { COLUMNS = 21 };
    for (int biased = 0; biased < 2; biased++) {
        float x[COLUMNS], y[COLUMNS], bias[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            x[j] = 1 - (float)(j % 2);
            bias[j] = 30000;
        }
        struct pdnn_softmax job = {.matrices = 1, .n = 1, .m = COLUMNS, .x = x, .heads = 1, .factor = 1000};
        job.bias = biased ? bias : NULL;
        job.y.to = y;
        pdnn_softmax_forward(&job, 1);
        for (int j = 0; j < COLUMNS; j++)
            assert_near((double)y[j], j % 2 ? 0 : 2.0 / (COLUMNS + 1), 1e-7);
    }
}

/* NaN makes its own row NaN, wherever it is; a row of -infinity becomes 0. */
static void test_not_finite(void **state) {
    (void)state;
    static const struct {
        float some, others;
        bool is_number;
    } rows[] = {
        {NAN, 1, false},         {1, NAN, false},      {NAN, NAN, false},           {INFINITY, 1, false},
        {NAN, -INFINITY, false}, {-INFINITY, 1, true}, {-INFINITY, -INFINITY, true}};
    enum { COLUMNS = 21, COUNT = sizeof rows / sizeof *rows };
    for (int place = 0; place < COLUMNS; place++) {
        float x[COUNT][COLUMNS];
        for (int k = 0; k < COUNT * COLUMNS; k++)
            x[k / COLUMNS][k % COLUMNS] =
                k % COLUMNS == place ? rows[k / COLUMNS].some : rows[k / COLUMNS].others;
        struct pdnn_softmax job = {.matrices = 1, .n = COUNT, .m = COLUMNS, .x = *x, .heads = 1, .factor = 1};
        job.y.to = *x;
        pdnn_softmax_forward(&job, 1);
        for (int k = 0; k < COUNT * COLUMNS; k++) {
            bool is_masked =
                (k % COLUMNS == place ? rows[k / COLUMNS].some : rows[k / COLUMNS].others) == -INFINITY;
            assert_true(isnan(x[k / COLUMNS][k % COLUMNS]) == !rows[k / COLUMNS].is_number);
            assert_true(!rows[k / COLUMNS].is_number || (x[k / COLUMNS][k % COLUMNS] == 0) == is_masked);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax), cmocka_unit_test(test_mask),       cmocka_unit_test(test_exp),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_not_finite),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
