/* Convolutions on our own Winograd kernel: against naive loops in double, and in the backend onednn, where it
 * runs in every layout of images that it takes, against `reference`. N minibatch, C channels, H W height and
 * width, O P Q those of the result. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"
#include "tests/runtime/stored_images.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/kernels/images/winograd.h"
#include "runtime/plan/plan.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { TAPS = 9, CLASSES = 5 };

static struct pdnn_channels stored_as(int64_t N, const struct pdnn_winograd_images *images) {
    return (struct pdnn_channels){N, images->channels, images->rows * images->columns, images->block,
                                  PDNN_STORED_F32};
}

/* Row-major, in blocks of both channels, or of O with C inside of the taps. */
static struct pdnn_winograd_weights weights_of(int64_t C, int64_t block, bool is_inside) {
    if (block == 1)
        return (struct pdnn_winograd_weights){1, C * TAPS, 1, TAPS, 0, 1};
    return is_inside ? (struct pdnn_winograd_weights){block, C * TAPS * block, 1, block, 0, C * block}
                     : (struct pdnn_winograd_weights){block, C * TAPS * block, block, TAPS * block * block,
                                                      block, block * block};
}

/* w (O, C, taps) in a layout without padding: every element is set. */
static float *new_weights(const struct pdnn_winograd_weights *as, const float *plain, int64_t O, int64_t C) {
    float *w = new_floats(O * C * TAPS);
    for (int64_t i = 0; i < O * C * TAPS; i++) {
        const int64_t o = i / TAPS / C, c = i / TAPS % C, tap = i % TAPS;
        w[o / as->o_block * as->o_step + o % as->o_block + c / as->c_block * as->c_step +
          c % as->c_block * as->c_inner + tap * as->tap_step] = plain[i];
    }
    return w;
}

/* One result; back: of the gradient, which meets w from the other side. */
static double expected_at(const struct pdnn_winograd *job, const float *x, const float *w, int64_t i) {
    const struct pdnn_winograd_images *from = &job->from, *to = &job->to;
    const int64_t pixels = to->rows * to->columns, n = i / pixels / to->channels,
                  o = i / pixels % to->channels, p = i % pixels / to->columns, q = i % to->columns;
    double sum = 0;
    for (int64_t k = 0; k < from->channels * TAPS; k++) {
        const int64_t c = k / TAPS, tap = k % TAPS, row = p - job->top + tap / 3,
                      column = q - job->left + tap % 3;
        const int64_t at = job->is_gradient ? (c * to->channels + o) * TAPS + TAPS - 1 - tap
                                            : (o * from->channels + c) * TAPS + tap;
        if (row >= 0 && column >= 0 && row < from->rows && column < from->columns)
            sum += (double)w[at] *
                   (double)x[((n * from->channels + c) * from->rows + row) * from->columns + column];
    }
    return sum;
}

/* x and w are within +-1, so that sums of the channels are within channels * taps. */
static void check_job(const struct pdnn_winograd *job, bool has_bias, bool has_summand, bool is_relu) {
    const struct pdnn_channels x_as = stored_as(job->N, &job->from), y_as = stored_as(job->N, &job->to);
    const int64_t C = job->from.channels, O = job->to.channels, n = plain_elements(&y_as);
    const float *x = new_random(plain_elements(&x_as), 1), *w = new_random(O * C * TAPS, 1),
                *bias = new_random(O, 1), *summand = new_random(n, 1), *stored_x = new_stored(&x_as, x),
                *stored_summand = new_stored(&y_as, summand),
                *stored_w = job->is_gradient ? new_weights(&job->weights, w, C, O)
                                             : new_weights(&job->weights, w, O, C);
    double *expected = new_array(n, sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        expected[i] = expected_at(job, x, w, i);
        expected[i] += has_bias ? (double)bias[i / y_as.pixels % O] : 0;
        expected[i] += has_summand ? (double)summand[i] : 0;
        expected[i] = is_relu ? fmax(0, expected[i]) : expected[i];
    }
    for (int64_t threads = 1; threads <= THREADS; threads += THREADS - 1) {
        float *y = new_stored(&y_as, summand), *room = new_floats(pdnn_winograd_scratch(job, threads)),
              *u = new_floats(pdnn_winograd_weights_floats(job));
        /* The summand may lie where the results go. */
        const struct pdnn_winograd_end end = {
            has_bias ? bias : NULL, has_summand ? (threads > 1 ? y : stored_summand) : NULL, is_relu};
        pdnn_winograd_transform(job, stored_w, u, threads);
        pdnn_winograd_run(job, stored_x, u, y, &end, room, threads);
        check_stored(&y_as, y, expected, 5e-6 * (double)C);
        free_from(y);
    }
    free_from(x);
}

static void test_kernel(void **state) {
    (void)state;
    /* Few tiles and many weights, many tiles, rows and columns that tiles do not fill, each padding. */
    static const int64_t sizes[][6] = {/* N, H, W, top, left, end */
                                       {1, 4, 4, 1, 1, 1},
                                       {2, 20, 17, 1, 1, 1},
                                       {1, 9, 5, 0, 2, 1},
                                       {2, 3, 40, 2, 0, 0},
                                       {1, 1, 3, 1, 1, 1}};
    static const int64_t channels[][2] = {{32, 48}, {16, 32}, {64, 16}};
    for (size_t i = 0; i < 24 * sizeof sizes / sizeof *sizes; i++) {
        const int64_t *size = sizes[i / 24], *between = channels[i % 3];
        const int64_t block = (int64_t[]){8, 16, LAST, 16}[i % 4];
        struct pdnn_winograd job = {
            .N = size[0],
            .from = {between[0], block == LAST ? between[0] : block, size[1], size[2]},
            .to = {between[1], block == LAST ? between[1] : block, size[1] + size[3] + size[5] - 2,
                   size[2] + size[4] + size[5] - 2},
            .top = size[3],
            .left = size[4],
            .is_gradient = i / 12 % 2,
        };
        const int64_t weights_block = (int64_t[]){1, 16, 8, 16}[i / 4 % 4];
        job.weights = weights_of(job.is_gradient ? between[1] : between[0], weights_block, i / 16 % 2);
        const int64_t lanes = 4 << pdnn_level_in_force;
        assert_int_equal(pdnn_winograd_fits(&job), block == LAST || block % lanes == 0);
        if (pdnn_winograd_fits(&job) && job.to.rows > 0)
            check_job(&job, i & 1, i & 2, i & 4);
    }
}

static void test_does_not_fit(void **state) {
    (void)state;
    const struct pdnn_winograd_images even = {32, 16, 8, 8}, odd = {40, 40, 8, 8}, plain = {32, 1, 8, 8};
    const struct pdnn_winograd fits = {1, even, even, 1, 1, weights_of(32, 16, false), false};
    const bool is_vector = 40 % (4 << pdnn_level_in_force) == 0;
    struct pdnn_winograd job = fits;
    assert_true(pdnn_winograd_fits(&job));
    job.from = plain;
    assert_false(pdnn_winograd_fits(&job));
    job = fits;
    job.to = odd;
    assert_false(pdnn_winograd_fits(&job)); /* blocks of weights are not whole */
    job.weights = weights_of(32, 1, false);
    assert_int_equal(pdnn_winograd_fits(&job), is_vector);
}

/* Two convolutions with what is fused behind them, trained: forward, and the gradient of the images between.
 */
static void build_net(enum pdnn_algorithm algorithm, bool is_fused, bool trains, struct pdnn_arena *arena,
                      struct pdnn_graph *graph) {
    enum { N = 2, C = 32, SIDE = 10 };
    const struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1}, small = {PDNN_FILL_UNIFORM, 0.1};
    const struct pdnn_tensor images = {.role = PDNN_ROLE_INPUT,
                                       .dtype = PDNN_F32,
                                       .rank = 4,
                                       .dim = {N, C, SIDE, SIDE},
                                       .fill = uniform,
                                       .of = PDNN_NONE},
                             labels = {.role = PDNN_ROLE_LABEL,
                                       .dtype = PDNN_S32,
                                       .rank = 1,
                                       .dim = {N},
                                       .fill = {PDNN_FILL_CLASS, CLASSES},
                                       .of = PDNN_NONE};
    const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = 1,
                                           [PDNN_CONV2D_STRIDE_W] = 1,
                                           [PDNN_CONV2D_PADDING_H] = 1,
                                           [PDNN_CONV2D_PADDING_W] = 1},
                  channels = C;
    pdnn_graph_init(graph, arena);
    graph->algorithm = algorithm;
    uint32_t x = pdnn_graph_tensor(graph, &images), label = pdnn_graph_tensor(graph, &labels),
             first = PDNN_NONE;
    for (int i = 0; i < 2; i++) {
        const uint32_t w = pdnn_graph_weight(graph, 4, (int64_t[]){C, C, 3, 3}, small),
                       b = pdnn_graph_weight(graph, 1, &channels, uniform);
        x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attr);
        x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
        if (i)
            x = pdnn_graph_forward(graph, &pdnn_op_add, (uint32_t[]){x, first, PDNN_NONE}, NULL);
        first = x =
            pdnn_graph_forward(graph, i ? &pdnn_op_silu : &pdnn_op_relu, (uint32_t[]){x, PDNN_NONE}, NULL);
    }
    const uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){CLASSES, C * SIDE * SIDE}, small);
    x = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    if (trains) {
        graph->loss = pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy,
                                         (uint32_t[]){x, label, PDNN_NONE}, NULL);
        pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
    } else
        graph->result = x;
    if (is_fused)
        pdnn_fuse_post_ops(graph);
}

static int count_own(const struct opened *backend, const struct pdnn_graph *graph) {
    struct pdnn_program program;
    struct pdnn_err err = {0};
    int n = 0;
    pdnn_program_init(&program, graph);
    must(backend->def->compile(backend->state, graph, &program, &err), &err);
    for (size_t i = 0; i < program.n_calls; i++)
        n += strncmp(program.calls[i].implementation, "paradnn:conv2d winograd", 23) == 0;
    pdnn_program_finish(&program);
    return n;
}

static void test_backend(void **state) {
    (void)state;
    static const enum pdnn_onednn_order orders[] = {PDNN_ONEDNN_ROW_MAJOR, PDNN_ONEDNN_CHANNELS_LAST,
                                                    PDNN_ONEDNN_BLOCKED_8, PDNN_ONEDNN_BLOCKED_16};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    int n_own = 0;
    for (size_t i = 0; i < 16; i++) {
        const struct pdnn_onednn_conv2d_choice choice = {
            .is_own = true, .order = orders[i % 4], .keeps_weights = i & 1};
        const bool is_fused = i & 4, trains = i & 8;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char what[64];
        build_net(PDNN_ALGORITHM_AUTO, is_fused, trains, &arena, &graph);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "way %zu", i);
        ((struct pdnn_onednn *)backend.state)->forced_conv2d = &choice;
        if (!check_graph(&backend, &graph, 1, check_whole_step_slack, what))
            fail_msg("%s: unsupported", what);
        const int n = count_own(&backend, &graph);
        assert_true(n == 0 ||
                    n == (trains ? 3 : 2)); /* all, or the library's weights are in no known layout */
        n_own += n;
        ((struct pdnn_onednn *)backend.state)->forced_conv2d =
            &(struct pdnn_onednn_conv2d_choice){.is_own = false, .order = orders[i % 4]};
        assert_int_equal(count_own(&backend, &graph), 0);
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
    assert_true(n_own > 0);
}

/* The first number of the result after `runs` runs with the weights as drawn, and one with those of the first
 * convolution halved. */
static double run_halved(const struct opened *backend, const struct pdnn_graph *graph, int runs) {
    const struct pdnn_plan_options options = {0};
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    uint32_t weights = 0;
    must(pdnn_plan_create(&plan, backend->def, backend->state, graph, &options, &err), &err);
    while (graph->tensors[weights].role != PDNN_ROLE_WEIGHT || graph->tensors[weights].rank != 4)
        weights++;
    const int64_t n = pdnn_tensor_elements(&graph->tensors[weights]),
                  n_results = pdnn_tensor_elements(&graph->tensors[graph->result]);
    float *w = new_floats(n), *result = new_floats(n_results);
    for (int i = 0; i < runs; i++)
        assert_int_equal(pdnn_plan_run(&plan), 0);
    must(pdnn_plan_get(&plan, weights, w, &err), &err);
    for (int64_t i = 0; i < n; i++)
        w[i] /= 2;
    must(pdnn_plan_put(&plan, weights, w, &err), &err);
    assert_int_equal(pdnn_plan_run(&plan), 0);
    must(pdnn_plan_get(&plan, graph->result, result, &err), &err);
    const double first = (double)result[0];
    free_from(w);
    pdnn_plan_destroy(&plan);
    return first;
}

/* In inference transformed weights are kept from run to run, but not when others are given. */
static void test_new_weights(void **state) {
    (void)state;
    static const struct pdnn_onednn_conv2d_choice choice = {
        .is_own = true, .order = PDNN_ONEDNN_BLOCKED_16, .keeps_weights = true};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    build_net(PDNN_ALGORITHM_AUTO, true, false, &arena, &graph);
    ((struct pdnn_onednn *)backend.state)->forced_conv2d = &choice;
    const double before_any = run_halved(&backend, &graph, 0);
    assert_near(run_halved(&backend, &graph, 2), before_any, 0);
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest kernels[] = {cmocka_unit_test(test_kernel), cmocka_unit_test(test_does_not_fit)};
    const struct CMUnitTest backends[] = {cmocka_unit_test(test_backend), cmocka_unit_test(test_new_weights)};
    int failed = 0;
    omp_set_num_threads(THREADS);
    RUN_AT_EVERY_LEVEL(kernels, failed);
    omp_set_num_threads(CHECK_THREADS);
    return failed + cmocka_run_group_tests(backends, NULL, NULL);
}
