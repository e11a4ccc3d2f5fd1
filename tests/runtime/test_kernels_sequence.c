/* Kernels of sequence models against the reference kernels of their ops: odd shapes, any number of threads,
 * streaming stores, in place; sums have the same bits with any number of threads. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/kernels/sequence/attention.h"
#include "runtime/kernels/sequence/ctc.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/kernels/rows/moves.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, TENSORS = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS, SEED = 5 };

/* One node: every tensor as the reference sees it, in double, and as a kernel does. */
struct fixture {
    struct pdnn_tensor tensors[TENSORS];
    double *values[TENSORS];
    void *memory[TENSORS];
    struct pdnn_graph graph;
    struct pdnn_node node;
};

static uint32_t new_tensor(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = (uint32_t)f->graph.n_tensors++;
    int64_t elements = rows * columns;
    f->tensors[id] = (struct pdnn_tensor){.rank = 2, .dim = {rows, columns}};
    f->values[id] = new_doubles(elements);
    f->memory[id] = new_floats(elements);
    return id;
}

/* Values in [-2, 2). */
static float *add_input(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = new_tensor(f, rows, columns);
    float *memory = f->memory[id];
    struct pdnn_rng rng = {SEED + id, 0};
    for (int64_t i = 0; i < rows * columns; i++)
        f->values[id][i] = memory[i] = (float)(4 * pdnn_rng_double(&rng) - 2);
    f->node.input[f->node.n_inputs++] = id;
    return memory;
}

/* Class ids, smaller ones more often. */
static int32_t *add_ids(struct fixture *f, int64_t rows, int64_t columns, int64_t classes) {
    uint32_t id = new_tensor(f, rows, columns);
    int32_t *memory = f->memory[id];
    struct pdnn_rng rng = {SEED, 0};
    for (int64_t i = 0; i < rows * columns; i++) {
        double uniform = pdnn_rng_double(&rng);
        f->values[id][i] = memory[i] = (int32_t)(uniform * uniform * (double)classes);
    }
    f->tensors[id].dtype = PDNN_S32;
    f->node.input[f->node.n_inputs++] = id;
    return memory;
}

static float *add_output(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = new_tensor(f, rows, columns);
    f->node.output[f->node.n_outputs++] = id;
    return f->memory[id];
}

static void run_reference(struct fixture *f, const struct pdnn_op_def *op, enum pdnn_pass pass) {
    f->graph.tensors = f->tensors;
    f->node.op = op;
    f->node.pass = pass;
    const struct pdnn_pass_def *def = &op->pass[pass];
    int64_t doubles = def->scratch ? def->scratch(&f->graph, &f->node) : 0;
    struct pdnn_reference r = {.graph = &f->graph, .value = f->values, .scratch = new_doubles(doubles)};
    pdnn_reference_run(&r, &f->node);
    free_from(r.scratch);
}

/* Compares the node's output with a kernel's; the tolerance is relative to the largest value. */
static void check_output(const struct fixture *f, int output, const float *got, double tolerance,
                         const char *what) {
    uint32_t id = f->node.output[output];
    int64_t elements = pdnn_tensor_elements(&f->tensors[id]);
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < elements; i++) {
        double error = fabs((double)got[i] - f->values[id][i]);
        largest = fmax(largest, fabs(f->values[id][i]));
        worst = isfinite(error) ? fmax(worst, error) : INFINITY;
    }
    if (!(worst <= tolerance * largest + 1e-30))
        fail_msg("%s: output %d differs by %g of %g", what, output, worst, largest);
}

/* Ways to run: threads, streaming stores. */
static const struct {
    int64_t threads;
    bool bypass;
} ways[] = {{1, false}, {2, false}, {THREADS, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static const int64_t embedding_shapes[][3] = {{1, 1, 1},      {7, 3, 5},      {300, 40, 129},
                                              {64, 600, 100}, {2000, 2, 50},  {257, 70, 1032},
                                              {90, 40, 2060}, {1100, 9, 300}, {40, 700, 36}};
enum { EMBEDDING_SHAPES = sizeof embedding_shapes / sizeof *embedding_shapes };

static void test_embedding_forward(void **state) {
    (void)state;
    for (size_t i = 0; i < EMBEDDING_SHAPES; i++) {
        const int64_t *shape = embedding_shapes[i];
        struct fixture f = {0};
        struct pdnn_embedding job = {.R = shape[0], .V = shape[1], .E = shape[2]};
        job.ids = add_ids(&f, 1, job.R, job.V);
        f.tensors[f.node.input[0]] = (struct pdnn_tensor){.dtype = PDNN_S32, .rank = 1, .dim = {job.R}};
        job.from = add_input(&f, job.V, job.E);
        job.to = add_output(&f, job.R, job.E);
        run_reference(&f, &pdnn_op_embedding, PDNN_FORWARD);
        for (int way = 0; way < WAYS; way++) {
            memset(job.to, 0xff, (size_t)(job.R * job.E) * sizeof *job.to);
            job.bypass = ways[way].bypass;
            pdnn_embedding_forward(&job, ways[way].threads);
            check_output(&f, 0, job.to, 0, "embedding");
        }
        free_from(f.values[0]);
    }
}

/* Sums that start from 0, from other rows, and from rows updated in place. */
static void check_embedding_backward(const int64_t *shape, bool has_rest, bool in_place) {
    struct fixture f = {0};
    struct pdnn_embedding job = {.R = shape[0], .V = shape[1], .E = shape[2]};
    size_t bytes = (size_t)(job.V * job.E) * sizeof(float);
    float *first = new_floats(job.V * job.E);
    job.ids = add_ids(&f, 1, job.R, job.V);
    f.tensors[f.node.input[0]] = (struct pdnn_tensor){.dtype = PDNN_S32, .rank = 1, .dim = {job.R}};
    job.from = add_input(&f, job.R, job.E);
    const float *rest = has_rest ? add_input(&f, job.V, job.E) : NULL;
    job.to = add_output(&f, job.V, job.E);
    job.rest = in_place ? job.to : rest;
    job.scratch = new_array(pdnn_embedding_scratch(job.R, job.V), sizeof *job.scratch);
    run_reference(&f, &pdnn_op_embedding, PDNN_BACKWARD_WEIGHTS);
    for (int way = 0; way <= WAYS; way++) {
        memset(job.to, 0xff, bytes);
        if (in_place)
            memcpy(job.to, rest, bytes);
        job.bypass = way < WAYS && ways[way].bypass;
        pdnn_embedding_backward(&job, way < WAYS ? ways[way].threads : 64 /* more threads than rows */);
        check_output(&f, 0, job.to, 1e-5, "embedding backward");
        if (way == 0)
            memcpy(first, job.to, bytes);
        assert_memory_equal(job.to, first, bytes);
    }
    free_from(first);
}

static void test_embedding_backward(void **state) {
    (void)state;
    for (size_t i = 0; i < EMBEDDING_SHAPES; i++) {
        check_embedding_backward(embedding_shapes[i], false, false);
        check_embedding_backward(embedding_shapes[i], true, false);
        check_embedding_backward(embedding_shapes[i], true, true);
    }
}

/* The mask is the reference's, so the same elements are 0 in both. */
static void test_dropout(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 3, 4, 257, 5000, 70001};
    static const int64_t percents[] = {0, 20, 99};
    for (size_t i = 0; i < 6 * 3 * WAYS; i++) {
        int64_t n = lengths[i / WAYS / 3];
        struct fixture f = {0};
        float *x = add_input(&f, 1, n), *counter = add_input(&f, 1, 1), *y = add_output(&f, 1, n);
        f.node.output[f.node.n_outputs++] = f.node.input[1]; /* it counts steps */
        f.node.attr[PDNN_DROPOUT_PERCENT] = percents[i / WAYS % 3];
        *counter = 41;
        f.values[1][0] = 41;
        run_reference(&f, &pdnn_op_dropout, PDNN_FORWARD);
        assert_true(f.values[1][0] == 42);
        struct pdnn_dropout job = {.x = x,
                                   .y = y,
                                   .elements = n,
                                   .seed = pdnn_rng_at(f.node.input[1], 42),
                                   .percent = f.node.attr[PDNN_DROPOUT_PERCENT],
                                   .bypass = ways[i % WAYS].bypass};
        pdnn_dropout_run(&job, ways[i % WAYS].threads);
        check_output(&f, 0, y, 2e-7, "dropout");
        for (int64_t k = 0; k < n; k++)
            assert_true((y[k] == 0) == (f.values[2][k] == 0)); /* no x is 0 */
        job.y = x;
        job.bypass = false;
        pdnn_dropout_run(&job, ways[i % WAYS].threads);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
        free_from(f.values[0]);
    }
}

/* The first and the last rows, all of them, and one. */
static void test_moves_slice(void **state) {
    (void)state;
    static const int64_t rows[][4] = {{9, 5, 0, 2}, {9, 1, 8, 1}, {40, 1000, 0, 40}, {70, 2052, 30, 33}};
    for (size_t i = 0; i < 4 * WAYS; i++) {
        int64_t R = rows[i / WAYS][0], C = rows[i / WAYS][1], first = rows[i / WAYS][2];
        int64_t count = rows[i / WAYS][3];
        struct fixture f = {.node.attr = {[PDNN_SLICE_FIRST] = first, [PDNN_SLICE_ROWS] = count}};
        const float *dy = add_input(&f, count, C);
        float *dx = add_output(&f, R, C);
        const struct pdnn_move moves[] = {{NULL, C, dx, C, first, C},
                                          {dy, C, dx + first * C, C, count, C},
                                          {NULL, C, dx + (first + count) * C, C, R - first - count, C}};
        run_reference(&f, &pdnn_op_slice, PDNN_BACKWARD_DATA);
        pdnn_moves_run(moves, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        check_output(&f, 0, dx, 0, "slice backward");
        free_from(f.values[0]);
    }
}

/* Three matrices; the columns of some are not a multiple of a vector. */
static void test_moves_concat(void **state) {
    (void)state;
    static const int64_t widths[][3] = {{1, 2, 3}, {64, 32, 256}, {5, 64, 64}, {400, 4, 8}};
    for (size_t i = 0; i < 4 * WAYS; i++) {
        const int64_t *width = widths[i / WAYS];
        int64_t R = 211, whole = width[0] + width[1] + width[2], at = 0;
        struct fixture f = {0}, back = {0};
        struct pdnn_move moves[3], parts[3];
        float *y = NULL, *dx[3];
        const float *dy = add_input(&back, R, whole);
        for (int k = 0; k < 3; k++) {
            moves[k] = (struct pdnn_move){add_input(&f, R, width[k]), width[k], NULL, whole, R, width[k]};
            dx[k] = add_output(&back, R, width[k]);
            parts[k] = (struct pdnn_move){dy + at, whole, dx[k], width[k], R, width[k]};
            at += width[k];
        }
        y = add_output(&f, R, whole);
        moves[0].to = y;
        moves[1].to = y + width[0];
        moves[2].to = y + width[0] + width[1];
        run_reference(&f, &pdnn_op_concat, PDNN_FORWARD);
        run_reference(&back, &pdnn_op_concat, PDNN_BACKWARD_DATA);
        pdnn_moves_run(moves, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        pdnn_moves_run(parts, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        check_output(&f, 0, y, 0, "concat");
        for (int k = 0; k < 3; k++)
            check_output(&back, k, dx[k], 0, "concat backward");
        free_from(back.values[0]);
    }
}

/* There and back in every layout: sequences match the reference, padding is 0. */
static void test_sequence_layouts(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{1, 1, 1, 1}, {2, 3, 5, 17}, {3, 20, 4, 33}, {2, 32, 21, 30}};
    for (size_t i = 0; i < 4 * 4 * WAYS; i++) {
        const int64_t *dim = shapes[i / WAYS / 4], blocks[] = {1, 8, 16, dim[1]};
        struct pdnn_sequence s = {dim[0], dim[1], dim[2], dim[3], blocks[i / WAYS % 4]};
        int64_t padded = (s.C + s.block - 1) / s.block * s.block, pixels = s.F * s.T;
        int64_t room = s.N * padded * pixels;
        struct fixture f = {0};
        const float *x = add_input(&f, s.N * s.C, pixels);
        float *y = add_output(&f, s.T * s.N, s.C * s.F);
        float *stored = new_zeros(room, sizeof *stored), *back = new_floats(room);
        f.tensors[0] = (struct pdnn_tensor){.rank = 4, .dim = {dim[0], dim[1], dim[2], dim[3]}};
        for (int64_t k = 0; k < s.N * s.C * pixels; k++) {
            int64_t c = k / pixels % s.C, n = k / pixels / s.C, first = c / s.block * s.block;
            stored[(n * padded + first) * pixels + k % pixels * s.block + c - first] = x[k];
        }
        run_reference(&f, &pdnn_op_sequence, PDNN_FORWARD);
        pdnn_sequence_forward(&s, stored, y, ways[i % WAYS].threads);
        check_output(&f, 0, y, 0, "sequence");
        pdnn_sequence_backward(&s, y, back, ways[i % WAYS].threads);
        assert_memory_equal(back, stored, (size_t)room * sizeof *back);
        free_from(f.values[0]);
    }
}

static void test_hardtanh(void **state) {
    (void)state;
    for (size_t i = 0; i < 3 * WAYS; i++) {
        static const int64_t lengths[] = {1, 1000, 40001};
        int64_t n = lengths[i / WAYS];
        for (int backward = 0; backward < 2; backward++) {
            struct fixture f = {.node.coef = {[PDNN_HARDTANH_LOW] = -0.5, [PDNN_HARDTANH_HIGH] = 1.25}};
            struct pdnn_elementwise_job job = {.function =
                                                   backward ? PDNN_HARDTANH_BACKWARD : PDNN_HARDTANH_FORWARD,
                                               .elements = n,
                                               .coef = {-0.5F, 1.25F},
                                               .bypass = ways[i % WAYS].bypass};
            job.a = add_input(&f, 1, n);
            if (backward)
                job.b = add_input(&f, 1, n);
            job.y = add_output(&f, 1, n);
            run_reference(&f, &pdnn_op_hardtanh, backward ? PDNN_BACKWARD_DATA : PDNN_FORWARD);
            pdnn_elementwise_run(&job, ways[i % WAYS].threads);
            check_output(&f, 0, job.y, 0, "hardtanh");
            free_from(f.values[0]);
        }
    }
}

static const struct pdnn_attention attention_shapes[] = {
    {.T = 1, .S = 1, .N = 1, .H = 1, .D = 1},    {.T = 3, .S = 5, .N = 2, .H = 7, .D = 9},
    {.T = 6, .S = 1, .N = 3, .H = 129, .D = 17}, {.T = 5, .S = 9, .N = 1, .H = 300, .D = 260},
    {.T = 9, .S = 18, .N = 5, .H = 64, .D = 33},
};
enum { ATTENTION_SHAPES = sizeof attention_shapes / sizeof *attention_shapes };

static void add_attention_inputs(struct fixture *f, struct pdnn_attention *job) {
    f->node.attr[PDNN_ATTENTION_SEQUENCES] = job->N;
    f->node.attr[PDNN_ATTENTION_TRAIN] = 1;
    job->q = add_input(f, job->T * job->N, job->H);
    job->k = add_input(f, job->S * job->N, job->H);
    job->values = add_input(f, job->S * job->N, job->D);
    job->v = add_input(f, 1, job->H);
    job->g = add_input(f, 1, 1);
}

static void test_attention_forward(void **state) {
    (void)state;
    for (size_t i = 0; i < ATTENTION_SHAPES; i++) {
        struct pdnn_attention job = attention_shapes[i];
        struct fixture f = {0};
        add_attention_inputs(&f, &job);
        float *context = add_output(&f, job.T * job.N, job.D), *p = add_output(&f, job.T * job.N, job.S);
        job.scratch = new_floats(pdnn_attention_scratch(&job, THREADS));
        run_reference(&f, &pdnn_op_attention, PDNN_FORWARD);
        for (int way = 0; way < WAYS; way++) {
            pdnn_attention_forward(&job, context, p, ways[way].threads);
            check_output(&f, 1, p, 5e-6, "attention");
            memset(context, 0xff, (size_t)(job.T * job.N * job.D) * sizeof *context);
            pdnn_attention_forward(&job, context, NULL, ways[way].threads); /* NULL as in inference */
            check_output(&f, 0, context, 5e-6, "attention");
        }
        free_from(f.values[0]);
    }
}

/* p is arbitrary: backward uses it as given. */
static void test_attention_backward(void **state) {
    (void)state;
    for (size_t i = 0; i < ATTENTION_SHAPES; i++) {
        struct pdnn_attention job = attention_shapes[i];
        struct pdnn_attention_gradients gradients;
        struct fixture f = {0};
        gradients.dcontext = add_input(&f, job.T * job.N, job.D);
        add_attention_inputs(&f, &job);
        gradients.p = add_input(&f, job.T * job.N, job.S);
        gradients.dq = add_output(&f, job.T * job.N, job.H);
        gradients.dk = add_output(&f, job.S * job.N, job.H);
        gradients.dvalues = add_output(&f, job.S * job.N, job.D);
        gradients.dv = add_output(&f, 1, job.H);
        gradients.dg = add_output(&f, 1, 1);
        job.scratch = new_floats(pdnn_attention_scratch(&job, THREADS));
        float *first = new_floats(job.H);
        run_reference(&f, &pdnn_op_attention, PDNN_BACKWARD_DATA);
        for (int way = 0; way < WAYS; way++) {
            pdnn_attention_backward(&job, &gradients, ways[way].threads);
            for (int k = 0; k < 5; k++)
                check_output(&f, k, f.memory[f.node.output[k]], 2e-5, "attention backward");
            if (way == 0)
                memcpy(first, gradients.dv, (size_t)job.H * sizeof *first);
            assert_memory_equal(first, gradients.dv, (size_t)job.H * sizeof *first);
        }
        free_from(f.values[0]);
    }
}

static void check_ctc(struct pdnn_ctc *job, const int64_t *lengths, double tolerance) {
    struct fixture f = {0};
    float *logits = add_input(&f, job->T * job->N, job->C);
    int32_t *labels = add_ids(&f, job->L, job->N, job->C - 1);
    for (int64_t i = 0; i < job->L * job->N; i++) {
        if (i / job->N >= lengths[i % job->N])
            f.values[1][i] = labels[i] = -1;
    }
    for (int64_t i = 0; i < job->T * job->N * job->C; i++)
        f.values[0][i] = logits[i] *= 3;
    job->logits = logits;
    job->labels = labels;
    job->loss = add_output(&f, 1, 1);
    job->dlogits = add_output(&f, job->T * job->N, job->C);
    job->scale = f.node.coef[0] = 0.5;
    job->scratch = new_doubles(pdnn_ctc_scratch(job, THREADS));
    run_reference(&f, &pdnn_op_ctc_loss, PDNN_FORWARD);
    for (int way = 0; way < WAYS; way++) {
        pdnn_ctc_run(job, ways[way].threads);
        check_output(&f, 0, job->loss, tolerance, "ctc loss");
        check_output(&f, 1, job->dlogits, tolerance, "ctc gradient");
    }
    free_from(f.values[0]);
}

/* A gradient is the difference of two numbers up to 1. Short sequences, empty ones, repeated labels (with two
 * classes nearly all repeat), and the length of a recording. */
static void test_ctc(void **state) {
    (void)state;
    check_ctc(&(struct pdnn_ctc){.T = 1, .N = 1, .C = 2, .L = 1}, (int64_t[]){1}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 1, .N = 2, .C = 3, .L = 4}, (int64_t[]){0, 1}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 9, .N = 3, .C = 2, .L = 5}, (int64_t[]){5, 0, 3}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 40, .N = 5, .C = 29, .L = 11}, (int64_t[]){11, 1, 4, 0, 7}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 480, .N = 2, .C = 29, .L = 100}, (int64_t[]){100, 63}, 5e-5);
}

/* Two equal labels need three steps. */
static void test_ctc_impossible(void **state) {
    (void)state;
    enum { T = 2, C = 3, L = 2 };
    float logits[T * C] = {0.5F, 0, 1, 0, 2, 0}, loss, dlogits[T * C];
    const int32_t labels[L] = {1, 1};
    struct pdnn_ctc job = {.T = T,
                           .N = 1,
                           .C = C,
                           .L = L,
                           .logits = logits,
                           .labels = labels,
                           .loss = &loss,
                           .dlogits = dlogits,
                           .scale = 1};
    job.scratch = new_doubles(pdnn_ctc_scratch(&job, 1));
    pdnn_ctc_run(&job, 1);
    assert_true(isinf(loss) && loss > 0);
    for (int i = 0; i < T * C; i++)
        assert_true(isnan(dlogits[i]));
    free_from(job.scratch);
}

static void test_log_precision(void **state) {
    (void)state;
    for (float x = 1.2e-38F; x < 1e38F; x *= 1.0003F) {
        double expected = log((double)x), error = fabs((double)pdnn_log(x) - expected);
        assert_true(error <= 2e-7 * fmax(fabs(expected), 1e-2));
    }
    assert_true(pdnn_log(1.0F) == 0.0F);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedding_forward),
        cmocka_unit_test(test_embedding_backward),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_moves_slice),
        cmocka_unit_test(test_moves_concat),
        cmocka_unit_test(test_sequence_layouts),
        cmocka_unit_test(test_hardtanh),
        cmocka_unit_test(test_attention_forward),
        cmocka_unit_test(test_attention_backward),
        cmocka_unit_test(test_ctc),
        cmocka_unit_test(test_ctc_impossible),
        cmocka_unit_test(test_log_precision),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
