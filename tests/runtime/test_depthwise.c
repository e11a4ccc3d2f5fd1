/* Convolutions on our own kernels, depthwise weight gradients and groups of four channels: against naive
 * loops in double, and in the backend onednn, where they and the library run in every layout of images,
 * against `reference`. N minibatch, C channels, H W height and width, P Q those of a result. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/near.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/images/depthwise.h"
#include "runtime/kernels/images/grouped.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, LAST = 0 /* instead of a block: channels last */, CLASSES = 5 };

static const int64_t blocks[] = {1, 8, 16, LAST, 4};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

/* The plain array (N, C, pixels) in the job's layout, with zeros as padding. */
static float *new_stored(const struct pdnn_depthwise *job, int64_t pixels, const float *plain) {
    const struct pdnn_channels shape = {job->N, job->C, pixels, job->block, PDNN_STORED_F32};
    const int64_t padded = pdnn_channels_padded(&shape);
    float *values = new_zeros(pdnn_channels_elements(&shape), sizeof *values);
    for (int64_t i = 0; i < job->N * job->C * pixels; i++) {
        const int64_t n = i / pixels / job->C, c = i / pixels % job->C;
        values[(n * padded + c / job->block * job->block) * pixels + i % pixels * job->block +
               c % job->block] = plain[i];
    }
    return values;
}

/* The sum of x * dy over images and outputs, for a tap on channel `from` of the image. */
static double expected_tap(const struct pdnn_depthwise *job, const float *x, const float *dy, int64_t c,
                           int64_t from, int64_t r, int64_t s) {
    const struct pdnn_depthwise_axis *h = &job->rows, *w = &job->columns;
    double sum = 0;
    for (int64_t i = 0; i < job->N * h->output * w->output; i++) {
        const int64_t n = i / (h->output * w->output), p = i / w->output % h->output, q = i % w->output,
                      row = p * h->stride - h->padding + r * h->dilation,
                      column = q * w->stride - w->padding + s * w->dilation;
        if (row >= 0 && row < h->input && column >= 0 && column < w->input)
            sum += (double)x[((n * job->C + from) * h->input + row) * w->input + column] *
                   (double)dy[((n * job->C + c) * h->output + p) * w->output + q];
    }
    return sum;
}

/* dw in any of its layouts, and db, from images in any of theirs; the same bits by any number of threads. */
static void check_depthwise(struct pdnn_depthwise job, int64_t block, int64_t weights_block, bool taps_first,
                            bool has_bias) {
    const int64_t pixels = job.rows.input * job.columns.input, outputs = job.rows.output * job.columns.output,
                  taps = job.rows.kernel * job.columns.kernel, S = job.columns.kernel;
    job.block = block == LAST ? job.C : block;
    const float *x = new_random(job.N * job.C * pixels, 1), *dy = new_random(job.N * job.C * outputs, 1),
                *stored_x = new_stored(&job, pixels, x), *stored_dy = new_stored(&job, outputs, dy);
    const int64_t held = (job.C + weights_block - 1) / weights_block * weights_block * taps;
    float *dw = new_floats(held), *first = new_floats(held), *db = new_floats(job.C);
    job.weights_block = weights_block;
    job.taps_first = taps_first;
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        float *scratch = new_floats(pdnn_depthwise_scratch(&job, threads));
        pdnn_depthwise_weights(&job, stored_x, stored_dy, dw, has_bias ? db : NULL, scratch, threads);
        free_from(scratch);
        if (threads == 1)
            memcpy(first, dw, (size_t)held * sizeof *dw);
        assert_memory_equal(dw, first, (size_t)held * sizeof *dw);
    }
    const double tolerance = 1e-6 * (double)(job.N * outputs);
    for (int64_t i = 0; i < held; i++) {
        const int64_t blocks_of_channels = held / taps / weights_block, at = i / weights_block,
                      c = (job.taps_first ? at % blocks_of_channels : at / taps) * weights_block +
                          i % weights_block,
                      tap = job.taps_first ? at / blocks_of_channels : at % taps;
        const double want = c < job.C ? expected_tap(&job, x, dy, c, c, tap / S, tap % S) : 0;
        assert_near((double)dw[i], want, c < job.C ? tolerance : 0);
    }
    for (int64_t c = 0; has_bias && c < job.C; c++) {
        double want = 0;
        for (int64_t i = 0; i < job.N * outputs; i++)
            want += (double)dy[(i / outputs * job.C + c) * outputs + i % outputs];
        assert_near((double)db[c], want, tolerance);
    }
    free_from(x);
}

/* dw (C, 4, R, S) of groups of four channels. */
static void check_fours_weights(struct pdnn_depthwise job, int64_t block) {
    const int64_t pixels = job.rows.input * job.columns.input, outputs = job.rows.output * job.columns.output,
                  taps = job.rows.kernel * job.columns.kernel, S = job.columns.kernel, n = job.C * 4 * taps;
    job.block = block == LAST ? job.C : block;
    const float *x = new_random(job.N * job.C * pixels, 1), *dy = new_random(job.N * job.C * outputs, 1),
                *stored_x = new_stored(&job, pixels, x), *stored_dy = new_stored(&job, outputs, dy);
    float *dw = new_floats(n), *first = new_floats(n), *db = new_floats(job.C);
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        float *scratch = new_floats(pdnn_depthwise_scratch(&job, threads));
        pdnn_depthwise_weights(&job, stored_x, stored_dy, dw, threads > 1 ? db : NULL, scratch, threads);
        free_from(scratch);
        if (threads == 1)
            memcpy(first, dw, (size_t)n * sizeof *dw);
        assert_memory_equal(dw, first, (size_t)n * sizeof *dw);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / taps / 4, tap = i % taps;
        assert_near((double)dw[i], expected_tap(&job, x, dy, c, c / 4 * 4 + i / taps % 4, tap / S, tap % S),
                    1e-6 * (double)(job.N * outputs));
    }
    for (int64_t c = 0; c < job.C; c++) {
        double want = 0;
        for (int64_t i = 0; i < job.N * outputs; i++)
            want += (double)dy[(i / outputs * job.C + c) * outputs + i % outputs];
        assert_near((double)db[c], want, 1e-6 * (double)(job.N * outputs));
    }
    free_from(x);
}

/* One output of a convolution, or one of its gradient by x, where w is met from the other side. */
static double expected_pixel(const struct pdnn_depthwise *job, const float *from, const float *w, bool back,
                             int64_t n, int64_t c, int64_t row, int64_t column) {
    const struct pdnn_depthwise_axis *h = &job->rows, *v = &job->columns;
    double sum = 0;
    for (int64_t i = 0; i < 4 * h->kernel * v->kernel; i++) {
        const int64_t other = c / 4 * 4 + i % 4, r = i / 4 / v->kernel, s = i / 4 % v->kernel;
        const int64_t o = back ? other : c, k = back ? c % 4 : i % 4;
        int64_t p = row * h->stride - h->padding + r * h->dilation,
                q = column * v->stride - v->padding + s * v->dilation, H = h->input, W = v->input;
        if (back) {
            p = row + h->padding - r * h->dilation, q = column + v->padding - s * v->dilation;
            if (p % h->stride || q % v->stride)
                continue;
            p /= h->stride, q /= v->stride, H = h->output, W = v->output;
        }
        if (p >= 0 && q >= 0 && p < H && q < W)
            sum += (double)from[((n * job->C + other) * H + p) * W + q] *
                   (double)w[((o * 4 + k) * h->kernel + r) * v->kernel + s];
    }
    return sum;
}

static struct pdnn_depthwise_axis reverse(const struct pdnn_depthwise_axis *axis) {
    return (struct pdnn_depthwise_axis){(axis->output - 1) * axis->stride + 1,
                                        axis->input,
                                        axis->kernel,
                                        1,
                                        (axis->kernel - 1) * axis->dilation - axis->padding,
                                        axis->dilation};
}

/* Forward, or the gradient of x, with the same bits by any number of threads. */
static void check_fours(struct pdnn_depthwise job, int64_t block, bool back) {
    const int64_t pixels = job.rows.input * job.columns.input, outputs = job.rows.output * job.columns.output,
                  from = back ? outputs : pixels, to = back ? pixels : outputs,
                  Q = back ? job.columns.input : job.columns.output,
                  taps = job.rows.kernel * job.columns.kernel;
    job.block = block == LAST ? job.C : block;
    const struct pdnn_channels shape = {job.N, job.C, to, job.block, PDNN_STORED_F32};
    struct pdnn_grouped grouped = {job, 1, 1, back};
    if (back) {
        grouped.images.rows = reverse(&job.rows), grouped.images.columns = reverse(&job.columns);
        grouped.row_spread = job.rows.stride, grouped.column_spread = job.columns.stride;
    }
    const float *x = new_random(job.N * job.C * from, 1), *w = new_random(job.C * 4 * taps, 1),
                *stored = new_stored(&job, from, x);
    float *y = new_zeros(pdnn_channels_elements(&shape), sizeof *y),
          *first = new_zeros(pdnn_channels_elements(&shape), sizeof *y);
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        float *scratch = new_floats(pdnn_grouped_scratch(&grouped, threads));
        pdnn_grouped_run(&grouped, stored, w, threads == 1 ? first : y, scratch, threads);
        free_from(scratch);
    }
    assert_memory_equal(y, first, (size_t)pdnn_channels_elements(&shape) * sizeof *y);
    for (int64_t i = 0; i < job.N * job.C * to; i++) {
        const int64_t n = i / to / job.C, c = i / to % job.C, pixel = i % to;
        const float got = y[(n * pdnn_channels_padded(&shape) + c / job.block * job.block) * to +
                            pixel * job.block + c % job.block];
        assert_near((double)got, expected_pixel(&job, x, w, back, n, c, pixel / Q, pixel % Q),
                    1e-6 * (double)(4 * taps));
    }
    free_from(x);
}

static void test_fours(void **state) {
    (void)state;
    static const struct pdnn_depthwise jobs[] = {
        {2, 16, 0, {9, 9, 3, 1, 1, 1}, {7, 7, 3, 1, 1, 1}, 1, false, 4},    /* outputs one by one */
        {1, 32, 0, {6, 6, 5, 1, 2, 1}, {22, 22, 5, 1, 2, 1}, 1, false, 4},  /* many taps */
        {3, 16, 0, {9, 5, 3, 2, 1, 1}, {13, 7, 3, 2, 1, 1}, 1, false, 4},   /* strides */
        {1, 48, 0, {12, 6, 7, 2, 3, 1}, {29, 10, 4, 3, 2, 1}, 1, false, 4}, /* of which the last windows end
                                                                               early */
        {2, 16, 0, {12, 8, 3, 1, 0, 2}, {15, 15, 3, 1, 2, 2}, 1, false, 4}, /* dilation */
        {1, 16, 0, {1, 1, 1, 1, 0, 1}, {37, 37, 4, 1, 3, 1}, 1, false, 4},  /* causal along a row */
        {17, 16, 0, {5, 5, 3, 1, 1, 1}, {19, 19, 3, 1, 1, 1}, 1, false, 4}, /* more images than shares of them
                                                                             */
    };
    for (size_t i = 0; i < BLOCKS * sizeof jobs / sizeof *jobs; i++) {
        check_fours_weights(jobs[i / BLOCKS], blocks[i % BLOCKS]);
        check_fours(jobs[i / BLOCKS], blocks[i % BLOCKS], false);
        check_fours(jobs[i / BLOCKS], blocks[i % BLOCKS], true);
    }
}

static void test_depthwise_weights(void **state) {
    (void)state;
    static const struct pdnn_depthwise jobs[] = {
        {2, 3, 0, {9, 9, 3, 1, 1, 1}, {7, 7, 3, 1, 1, 1}, 0, false, 1},     /* few channels */
        {3, 20, 0, {6, 6, 5, 1, 2, 1}, {11, 11, 5, 1, 2, 1}, 0, false, 1},  /* padding on all sides */
        {1, 33, 0, {9, 5, 7, 2, 3, 1}, {13, 7, 7, 2, 3, 1}, 0, false, 1},   /* strides */
        {17, 16, 0, {5, 5, 3, 1, 1, 1}, {5, 3, 3, 2, 1, 1}, 0, false, 1},   /* more images than shares of them
                                                                             */
        {2, 40, 0, {12, 8, 3, 1, 0, 2}, {12, 12, 3, 1, 2, 2}, 0, false, 1}, /* dilation */
        {1, 8, 0, {13, 13, 4, 1, 3, 1}, {1, 1, 1, 1, 0, 1}, 0, false, 1},   /* causal over rows */
        {2, 17, 0, {3, 3, 9, 1, 4, 1}, {20, 20, 15, 1, 7, 1}, 0, false, 1}, /* more taps than one strip has */
        {1, 24, 0, {8, 2, 1, 5, 0, 1}, {9, 3, 2, 4, 0, 1}, 0, false, 1},    /* a stride beyond the kernel */
    };
    static const int64_t weights_blocks[] = {1, 8, 16};
    for (size_t i = 0; i < BLOCKS * sizeof jobs / sizeof *jobs; i++)
        for (size_t k = 0; k < sizeof weights_blocks / sizeof *weights_blocks; k++)
            check_depthwise(jobs[i / BLOCKS], blocks[i % BLOCKS], weights_blocks[k], (i + k) % 2, k == i % 3);
}

/* A convolution in groups, with a bias, of images that have a gradient, and a loss. */
struct net {
    int64_t C, H, W, kernel_h, kernel_w, attr[PDNN_NODE_ATTRS];
};

static void build_net(const struct net *net, bool fused, struct pdnn_arena *arena, struct pdnn_graph *graph) {
    static const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};
    struct pdnn_tensor images = {.role = PDNN_ROLE_INPUT,
                                 .rank = 4,
                                 .dim = {2, net->C, net->H, net->W},
                                 .fill = uniform,
                                 .of = PDNN_NONE};
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {2},
                                 .fill = {.kind = PDNN_FILL_CLASS, .scale = CLASSES},
                                 .of = PDNN_NONE};
    pdnn_graph_init(graph, arena);
    uint32_t x = pdnn_graph_tensor(graph, &images), label = pdnn_graph_tensor(graph, &labels),
             b = pdnn_graph_weight(graph, 1, &net->C, uniform),
             w = pdnn_graph_weight(
                 graph, 4,
                 (int64_t[]){net->C, net->C / net->attr[PDNN_CONV2D_GROUPS], net->kernel_h, net->kernel_w},
                 uniform),
             shift = pdnn_graph_weight(graph, 1, &net->C, uniform);
    x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, net->attr);
    x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, shift, PDNN_NONE}, NULL);
    const int64_t inputs = pdnn_tensor_elements(&graph->tensors[x]) / 2;
    w = pdnn_graph_weight(graph, 2, (int64_t[]){CLASSES, inputs}, (struct pdnn_fill){PDNN_FILL_UNIFORM, 0.1});
    x = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){x, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
    if (fused)
        pdnn_fuse_post_ops(graph);
}

/* Whether our kernel runs in the compiled graph. */
static bool runs_own(const struct opened *backend, const struct pdnn_graph *graph) {
    struct pdnn_program program;
    struct pdnn_err err = {0};
    bool is_own = false;
    pdnn_program_init(&program, graph);
    must(backend->def->compile(backend->state, graph, &program, &err), &err);
    for (size_t i = 0; i < program.n_calls; i++)
        is_own = is_own || strncmp(program.calls[i].implementation, "paradnn:conv2d ", 15) == 0;
    pdnn_program_finish(&program);
    return is_own;
}

static void test_either_way(void **state) {
    (void)state;
    static const struct net nets[] = {
        {32, 9, 9, 3, 3, {1, 1, 1, 1, 32}},
        {20, 11, 11, 5, 5, {2, 2, 2, 2, 20}},
        {32, 12, 12, 3, 3, {1, 1, 2, 2, 32, 2, 2}},
        {16, 9, 8, 7, 7, {1, 1, 3, 3, 16}},
        {32, 13, 1, 4, 1, {1, 1, 3, 0, 32, 0, 0, -3, 0}},
        {32, 9, 9, 3, 3, {1, 1, 1, 1, 8}},
        {16, 11, 12, 5, 3, {2, 2, 2, 1, 4}},
        {32, 14, 1, 4, 1, {1, 1, 3, 0, 8, 0, 0, -3, 0}},
    };
    static const enum pdnn_onednn_order orders[] = {PDNN_ONEDNN_ROW_MAJOR, PDNN_ONEDNN_CHANNELS_LAST,
                                                    PDNN_ONEDNN_BLOCKED_8, PDNN_ONEDNN_BLOCKED_16};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    int n_own = 0;
    for (size_t i = 0; i < 8 * sizeof nets / sizeof *nets; i++) {
        const struct pdnn_onednn_conv2d_choice choice = {.is_own = i & 1, .order = orders[i / 2 % 4]};
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char what[64];
        build_net(&nets[i / 8], (i ^ i / 2) & 1, &arena, &graph);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "net %zu, way %zu", i / 8, i % 8);
        ((struct pdnn_onednn *)backend.state)->forced_conv2d = &choice;
        if (!check_graph(&backend, &graph, 1, check_whole_step_slack, what))
            fail_msg("%s: unsupported", what);
        const bool is_own = runs_own(&backend, &graph);
        assert_false(is_own && !choice.is_own);
        n_own += is_own;
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
    assert_true(n_own > 0); /* where the library has the weights in a layout that the kernel knows */
}

int main(void) {
    const struct CMUnitTest kernels[] = {cmocka_unit_test(test_depthwise_weights),
                                         cmocka_unit_test(test_fours)};
    const struct CMUnitTest backends[] = {cmocka_unit_test(test_either_way)};
    int failed = 0;
    omp_set_num_threads(THREADS);
    RUN_AT_EVERY_LEVEL(kernels, failed);
    omp_set_num_threads(CHECK_THREADS);
    return failed + cmocka_run_group_tests(backends, NULL, NULL);
}
