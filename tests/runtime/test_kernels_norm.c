/* Kernels that normalize rows against the reference kernels of their ops: odd shapes, any number of threads,
 * streaming stores, in place; gradients of gamma and beta have the same bits with any number of threads. Rows
 * of 16-bit elements give what those in f32 give, rounded. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/models/reference_run.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"
#include "runtime/kernels/rows/layernorm.h"
#include "runtime/kernels/rows/rmsnorm.h"
#include "runtime/kernels/simd/half.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, SEED = 5, CLASSES = 2 };

static const double tolerance = 2e-6;

/* R rows, H columns, percentage dropped, a residual, whether its sum is used again. */
struct row {
    int64_t R, H, percent;
    bool adds, uses_sum;
};

static const struct row cases[] = {
    {1, 3, 0, false, false},     {1, 2, 50, true, true},      {3, 5, 0, true, false},
    {7, 31, 30, true, false},    {33, 64, 0, false, false},   {65, 100, 10, true, true},
    {20, 1023, 0, true, true},   {130, 257, 99, true, false}, {40, 1028, 10, true, true},
    {600, 36, 0, false, false},  {2100, 12, 20, true, false}, {301, 768, 10, true, true},
    {64, 1024, 0, false, false}, {37, 1600, 0, true, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Ways to run: threads, streaming stores, results in place of inputs. */
static const struct {
    int64_t threads;
    bool bypass, in_place;
} ways[] = {{1, false, false}, {2, false, true}, {THREADS, true, false}, {2, true, true}, {64, false, false}};
enum { WAYS = sizeof ways / sizeof *ways };

/* One op and its tensors in double, after the reference ran it. */
struct fixture {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    double **values;
    struct pdnn_node forward, backward;
};

static uint32_t new_weight(struct fixture *f, int rank, int64_t first, int64_t second) {
    return pdnn_graph_weight(&f->graph, rank, (int64_t[]){first, second},
                             (struct pdnn_fill){PDNN_FILL_UNIFORM, 2});
}

static uint32_t append_op(struct fixture *f, const struct row *row) {
    uint32_t x = new_weight(f, 2, row->R, row->H), residual = new_weight(f, 2, row->R, row->H);
    uint32_t gamma = new_weight(f, 1, row->H, 0), beta = new_weight(f, 1, row->H, 0), counter = PDNN_NONE;
    if (!row->adds)
        return pdnn_graph_forward(&f->graph, &pdnn_op_layernorm, (uint32_t[]){x, gamma, beta, PDNN_NONE},
                                  (int64_t[PDNN_NODE_ATTRS]){[PDNN_LAYERNORM_TRAIN] = 1});
    if (row->percent)
        counter = pdnn_graph_state(&f->graph, 1, (int64_t[]){1}, (struct pdnn_fill){PDNN_FILL_CONSTANT, 41});
    const int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_DROPOUT_ADD_NORM_PERCENT] = row->percent, [PDNN_DROPOUT_ADD_NORM_TRAIN] = 1};
    return pdnn_graph_forward(&f->graph, &pdnn_op_dropout_add_norm,
                              (uint32_t[]){x, residual, gamma, beta, counter, PDNN_NONE}, attrs);
}

static void begin(struct fixture *f, const struct row *row) {
    struct pdnn_err err = {0};
    pdnn_arena_init(&f->arena);
    pdnn_graph_init(&f->graph, &f->arena);
    uint32_t y = append_op(f, row);
    if (row->uses_sum)
        y = pdnn_graph_forward(&f->graph, &pdnn_op_add,
                               (uint32_t[]){y, pdnn_graph_last_output(&f->graph, 1), PDNN_NONE}, NULL);
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {row->R},
                                 .fill = {PDNN_FILL_CLASS, CLASSES},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(&f->graph, &labels), w = new_weight(f, 2, CLASSES, row->H);
    y = pdnn_graph_forward(&f->graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
    f->graph.loss = pdnn_graph_forward(&f->graph, &pdnn_op_softmax_cross_entropy,
                                       (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(&f->graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(pdnn_graph_status(&f->graph, &err), PDNN_OK);
    f->values = reference_values(&f->graph);
    reference_fill(&f->graph, f->values, SEED);
    size_t n = 0;
    while (f->graph.nodes[n].pass != PDNN_UPDATE)
        n++;
    reference_run(&f->graph, f->values, 0, n);
    f->forward = f->graph.nodes[0];
    while (f->graph.nodes[n].op != f->forward.op)
        n--;
    f->backward = f->graph.nodes[n];
}

static void finish(struct fixture *f) {
    reference_values_free(&f->graph, f->values);
    pdnn_arena_finish(&f->arena);
}

static float *copy_of(const struct fixture *f, uint32_t tensor) {
    return new_rounded(f->values[tensor], pdnn_tensor_elements(&f->graph.tensors[tensor]));
}

static void compare(const struct fixture *f, uint32_t tensor, const float *got, const char *what) {
    int64_t elements = pdnn_tensor_elements(&f->graph.tensors[tensor]);
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < elements; i++) {
        double error = fabs((double)got[i] - f->values[tensor][i]);
        largest = fmax(largest, fabs(f->values[tensor][i]));
        worst = isfinite(error) ? fmax(worst, error) : INFINITY;
    }
    if (!(worst <= tolerance * sqrt((double)elements) * largest + 1e-30))
        fail_msg("%s of %ld elements differs by %g of %g", what, (long)elements, worst, largest);
}

static uint64_t seed_of(const struct fixture *f, const struct row *row) {
    return row->percent ? pdnn_rng_at(f->forward.input[4], 42) : 0;
}

static void check_forward(const struct row *row, int way) {
    struct fixture f = {0};
    begin(&f, row);
    int first = row->adds ? 2 : 1, statistics = first;
    bool bypass = ways[way].bypass;
    float *x = copy_of(&f, f.forward.input[0]), *z = new_floats(row->R * row->H);
    float *y = ways[way].in_place ? x : new_floats(row->R * row->H);
    struct pdnn_layernorm job = {
        .R = row->R,
        .H = row->H,
        .x = x,
        .residual = row->adds ? copy_of(&f, f.forward.input[1]) : NULL,
        .gamma = copy_of(&f, f.forward.input[first]),
        .beta = copy_of(&f, f.forward.input[first + 1]),
        .y = {y, bypass && !ways[way].in_place},
        .z = {row->adds ? z : NULL, bypass},
        .mean = new_floats(row->R),
        .inverse_std = new_floats(row->R),
        .epsilon = 1e-5F,
        .seed = seed_of(&f, row),
        .percent = row->percent,
        .scratch = new_floats(pdnn_layernorm_scratch(row->H, ways[way].threads)),
    };
    pdnn_layernorm_forward(&job, ways[way].threads);
    compare(&f, f.forward.output[0], y, "y");
    compare(&f, f.forward.output[statistics], job.mean, "mean");
    compare(&f, f.forward.output[statistics + 1], job.inverse_std, "inverse_std");
    if (row->adds)
        compare(&f, f.forward.output[1], z, "z");
    if (row->adds && !ways[way].in_place) { /* y alone, from the same inputs */
        job.z.to = NULL;
        job.mean = job.inverse_std = NULL;
        memset(y, 0xff, (size_t)(row->R * row->H) * sizeof *y);
        pdnn_layernorm_forward(&job, ways[way].threads);
        compare(&f, f.forward.output[0], y, "y alone");
    }
    free_from(x);
    finish(&f);
}

static void test_layernorm_forward(void **state) {
    (void)state;
    for (int i = 0; i < CASES * WAYS; i++)
        check_forward(&cases[i / WAYS], i % WAYS);
}

/* `sums` gets the sums over rows: dgamma, dbeta. */
static void check_backward(const struct row *row, int way, float *sums) {
    struct fixture f = {0};
    begin(&f, row);
    const uint32_t *in = f.backward.input, *out = f.backward.output;
    bool bypass = ways[way].bypass, in_place = ways[way].in_place;
    float *dy = copy_of(&f, in[0]), *dx = in_place ? dy : new_floats(row->R * row->H);
    float *masked = row->percent ? new_floats(row->R * row->H) : NULL;
    struct pdnn_layernorm_gradients job = {
        .R = row->R,
        .H = row->H,
        .dy = dy,
        .x = copy_of(&f, in[1]),
        .gamma = copy_of(&f, in[2]),
        .mean = copy_of(&f, in[3]),
        .inverse_std = copy_of(&f, in[4]),
        .dz = row->uses_sum ? copy_of(&f, in[5]) : NULL,
        .dx = {dx, bypass && !in_place},
        .masked = {masked, bypass},
        .dgamma = sums,
        .dbeta = sums + row->H,
        .seed = seed_of(&f, row),
        .percent = row->percent,
        .scratch = new_floats(pdnn_layernorm_backward_scratch(row->R, row->H)),
    };
    pdnn_layernorm_backward(&job, ways[way].threads);
    compare(&f, out[0], dx, "dx");
    compare(&f, out[1], job.dgamma, "dgamma");
    compare(&f, out[2], job.dbeta, "dbeta");
    if (masked)
        compare(&f, out[3], masked, "masked dx");
    free_from(dy);
    finish(&f);
}

static void test_layernorm_backward(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        size_t bytes = (size_t)(2 * cases[i].H) * sizeof(float);
        float *first = new_floats(2 * cases[i].H), *sums = new_floats(2 * cases[i].H);
        for (int way = 0; way < WAYS; way++) {
            check_backward(&cases[i], way, way ? sums : first);
            if (way)
                assert_memory_equal(sums, first, bytes);
        }
        free_from(first);
    }
}

/* Rows whose mean is far from 0, and rows of equal values. */
static void test_layernorm_far_rows(void **state) {
    (void)state;
    enum { R = 4, H = 512 };
    static const float means[R] = {0, 100, -3000, 5};
    static float x[R * H], y[R * H], gamma[H], beta[H], mean[R], inverse_std[R], scratch[H];
    for (int64_t i = 0; i < R * H; i++)
        x[i] = means[i / H] + (i / H < R - 1 ? (float)(i % H % 5) - 2 : 0);
    for (int64_t i = 0; i < H; i++)
        gamma[i] = 1;
    struct pdnn_layernorm job = {.R = R,
                                 .H = H,
                                 .x = x,
                                 .gamma = gamma,
                                 .beta = beta,
                                 .y = {y, false},
                                 .mean = mean,
                                 .inverse_std = inverse_std,
                                 .epsilon = 1e-5F,
                                 .scratch = scratch};
    pdnn_layernorm_forward(&job, 1);
    for (int64_t i = 0; i < (R - 1) * H; i++)
        assert_true(fabsf(y[i] - ((float)(i % H % 5) - 2) / sqrtf(2)) < 0.01F);
    for (int64_t i = (R - 1) * H; i < R * H; i++)
        assert_true(y[i] == 0);
}

/* Random values that the type represents. */
static float *new_representable(int64_t n, enum pdnn_stored stored) {
    const enum pdnn_half type = pdnn_half_of_stored(stored);
    float *values = new_random(n, 30);
    uint16_t *halves = new_array(n, sizeof *halves);
    pdnn_half_narrow(type, values, halves, n);
    pdnn_half_widen(type, halves, values, n);
    return values;
}

static uint16_t *new_narrowed(const float *values, int64_t n, enum pdnn_stored stored) {
    uint16_t *halves = new_array(n, sizeof *halves);
    pdnn_half_narrow(pdnn_half_of_stored(stored), values, halves, n);
    return halves;
}

static void check_narrowed(const void *got, const float *expected, int64_t n, enum pdnn_stored stored) {
    assert_memory_equal(got, new_narrowed(expected, n, stored), (size_t)n * sizeof(uint16_t));
}

static void check_stored_forward(const struct row *row, int way, enum pdnn_stored stored) {
    const int64_t R = row->R, H = row->H, n = R * H, threads = ways[way].threads;
    const bool in_place = ways[way].in_place, bypass = ways[way].bypass;
    float *x = new_representable(n, stored), *residual = new_representable(n, stored), *y = new_floats(n),
          *z = new_floats(n), *scratch = new_floats(pdnn_layernorm_scratch(H, threads));
    struct pdnn_layernorm wide = {.R = R,
                                  .H = H,
                                  .x = x,
                                  .residual = row->adds ? residual : NULL,
                                  .gamma = new_random(H, 2),
                                  .beta = new_random(H, 2),
                                  .y = {y, false},
                                  .z = {row->adds ? z : NULL, false},
                                  .mean = new_floats(R),
                                  .inverse_std = new_floats(R),
                                  .epsilon = 1e-5F,
                                  .seed = SEED,
                                  .percent = row->percent,
                                  .scratch = scratch};
    struct pdnn_layernorm job = wide;
    uint16_t *half_x = new_narrowed(x, n, stored), *half_z = new_array(n, sizeof *half_z);
    job.stored = stored;
    job.x = half_x;
    job.residual = row->adds ? new_narrowed(residual, n, stored) : NULL;
    job.y =
        (struct pdnn_layernorm_result){in_place ? half_x : new_array(n, sizeof *half_x), bypass && !in_place};
    job.z = (struct pdnn_layernorm_result){row->adds ? half_z : NULL, bypass};
    job.mean = new_floats(R);
    job.inverse_std = new_floats(R);
    pdnn_layernorm_forward(&wide, 1);
    pdnn_layernorm_forward(&job, threads);
    check_narrowed(job.y.to, y, n, stored);
    if (row->adds)
        check_narrowed(half_z, z, n, stored);
    assert_memory_equal(job.mean, wide.mean, (size_t)R * sizeof(float));
    assert_memory_equal(job.inverse_std, wide.inverse_std, (size_t)R * sizeof(float));
    free_from(x);
}

static void check_stored_backward(const struct row *row, int way, enum pdnn_stored stored) {
    const int64_t R = row->R, H = row->H, n = R * H;
    const bool in_place = ways[way].in_place, bypass = ways[way].bypass;
    float *dy = new_representable(n, stored), *x = new_representable(n, stored),
          *dz = row->uses_sum ? new_representable(n, stored) : NULL, *dx = new_floats(n),
          *masked = row->percent ? new_floats(n) : NULL;
    const bool is_plain = way == 0 && !row->adds;
    struct pdnn_layernorm_gradients wide = {.R = R,
                                            .H = H,
                                            .dy = dy,
                                            .x = x,
                                            .dz = dz,
                                            .gamma = is_plain ? NULL : new_random(H, 2),
                                            .mean = new_random(R, 1),
                                            .inverse_std = new_random(R, 2),
                                            .dx = {dx, false},
                                            .masked = {masked, false},
                                            .dgamma = is_plain ? NULL : new_floats(H),
                                            .dbeta = is_plain ? NULL : new_floats(H),
                                            .seed = SEED,
                                            .percent = row->percent,
                                            .scratch = new_floats(pdnn_layernorm_backward_scratch(R, H))};
    struct pdnn_layernorm_gradients job = wide;
    uint16_t *half_dy = new_narrowed(dy, n, stored), *half_masked = new_array(n, sizeof *half_masked);
    job.stored = stored;
    job.dy = half_dy;
    job.x = new_narrowed(x, n, stored);
    job.dz = dz ? new_narrowed(dz, n, stored) : NULL;
    job.dx = (struct pdnn_layernorm_result){in_place ? half_dy : new_array(n, sizeof *half_dy),
                                            bypass && !in_place};
    job.masked = (struct pdnn_layernorm_result){masked ? half_masked : NULL, bypass};
    job.dgamma = is_plain ? NULL : new_floats(H);
    job.dbeta = is_plain ? NULL : new_floats(H);
    pdnn_layernorm_backward(&wide, 1);
    pdnn_layernorm_backward(&job, ways[way].threads);
    check_narrowed(job.dx.to, dx, n, stored);
    if (masked)
        check_narrowed(half_masked, masked, n, stored);
    if (!is_plain) {
        assert_memory_equal(job.dgamma, wide.dgamma, (size_t)H * sizeof(float));
        assert_memory_equal(job.dbeta, wide.dbeta, (size_t)H * sizeof(float));
    }
    free_from(dy);
}

static void test_layernorm_stored(void **state) {
    (void)state;
    for (int i = 0; i < CASES * WAYS; i++) {
        check_stored_forward(&cases[i / WAYS], i % WAYS, i % 2 ? PDNN_STORED_F16 : PDNN_STORED_BF16);
        check_stored_backward(&cases[i / WAYS], i % WAYS, i % 2 ? PDNN_STORED_BF16 : PDNN_STORED_F16);
    }
}

/* Whole rows, and heads of rows from a column on. */
static void check_rmsnorm(const int64_t *shape, int way, enum pdnn_stored stored) {
    const int64_t R = shape[0], H = shape[1], heads = shape[2], column = shape[3], ld = shape[4], n = R * ld;
    const bool in_place = ways[way].in_place, bypass = ways[way].bypass && !in_place;
    float *x = new_representable(n, stored), *dy = new_representable(n, stored), *y = new_floats(n),
          *dx = new_floats(n);
    struct pdnn_rmsnorm wide = {.R = R,
                                .H = H,
                                .heads = heads,
                                .column = column,
                                .ld = ld,
                                .x = x,
                                .dy = dy,
                                .gamma = new_random(H, 2),
                                .y = {y, false},
                                .dx = {dx, false},
                                .dgamma = new_floats(H),
                                .scratch = new_floats(pdnn_rmsnorm_backward_scratch(R, H)),
                                .inverse_rms = new_floats(R * heads),
                                .epsilon = 1e-5F};
    struct pdnn_rmsnorm job = wide;
    void *half_x = new_narrowed(x, n, stored), *half_dy = new_narrowed(dy, n, stored);
    job.stored = stored;
    job.x = half_x;
    job.dy = half_dy;
    job.dgamma = new_floats(H);
    job.inverse_rms = new_floats(R * heads);
    job.dx = (struct pdnn_layernorm_result){in_place ? half_dy : new_array(n, sizeof(uint16_t)), bypass};
    pdnn_rmsnorm_forward(&wide, 1);
    pdnn_rmsnorm_backward(&wide, 1);
    job.y = (struct pdnn_layernorm_result){new_array(n, sizeof(uint16_t)), bypass};
    pdnn_rmsnorm_forward(&job, ways[way].threads);
    pdnn_rmsnorm_backward(&job, ways[way].threads);
    check_narrowed(job.y.to, y, n, stored);
    check_narrowed(job.dx.to, dx, n, stored);
    assert_memory_equal(job.dgamma, wide.dgamma, (size_t)H * sizeof(float));
    assert_memory_equal(job.inverse_rms, wide.inverse_rms, (size_t)(R * heads) * sizeof(float));
    /* In f32 with streaming stores, too. */
    float *streamed_y = new_floats(n), *streamed_dx = new_floats(n);
    wide.y = (struct pdnn_layernorm_result){streamed_y, true};
    wide.dx = (struct pdnn_layernorm_result){streamed_dx, true};
    pdnn_rmsnorm_forward(&wide, ways[way].threads);
    pdnn_rmsnorm_backward(&wide, ways[way].threads);
    assert_memory_equal(streamed_y, y, (size_t)n * sizeof *y);
    assert_memory_equal(streamed_dx, dx, (size_t)n * sizeof *dx);
    free_from(x);
}

static void test_rmsnorm_stored(void **state) {
    static const int64_t shapes[][5] = {
        {1, 3, 1, 0, 3},        {65, 100, 1, 0, 100},    {300, 36, 1, 0, 36},
        {64, 1024, 1, 0, 1024}, {37, 515, 1, 0, 515},    {129, 16, 3, 8, 72},
        {40, 128, 8, 0, 1024},  {130, 12, 3, 4, 40 + 1}, {70, 264, 2, 3, 600}};
    (void)state;
    for (size_t i = 0; i < WAYS * (sizeof shapes / sizeof *shapes); i++)
        check_rmsnorm(shapes[i / WAYS], (int)(i % WAYS), i % 2 ? PDNN_STORED_F16 : PDNN_STORED_BF16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layernorm_forward),  cmocka_unit_test(test_layernorm_backward),
        cmocka_unit_test(test_layernorm_far_rows), cmocka_unit_test(test_layernorm_stored),
        cmocka_unit_test(test_rmsnorm_stored),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
