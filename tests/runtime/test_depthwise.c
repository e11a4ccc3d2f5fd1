/* Depthwise weight gradients: our kernel against naive loops in double, and in the backend onednn, where it
 * and the library run in every layout of images, against `reference`. N minibatch, C channels, H W height and
 * width, P Q those of a result. */
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

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, LAST = 0 /* instead of a block: channels last */, CLASSES = 5 };

static const int64_t blocks[] = {1, 8, 16, LAST, 4};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

/* The plain array (N, C, pixels) in the job's layout, with zeros as padding. */
static float *new_stored(const struct pdnn_depthwise *job, int64_t pixels, const float *plain) {
    const struct pdnn_channels shape = {job->N, job->C, pixels, job->block};
    const int64_t padded = pdnn_channels_padded(&shape);
    float *values = new_zeros(pdnn_channels_elements(&shape), sizeof *values);
    for (int64_t i = 0; i < job->N * job->C * pixels; i++) {
        const int64_t n = i / pixels / job->C, c = i / pixels % job->C;
        values[(n * padded + c / job->block * job->block) * pixels + i % pixels * job->block +
               c % job->block] = plain[i];
    }
    return values;
}

/* The sum of x * dy over images and outputs, for a tap on the image. */
static double expected_tap(const struct pdnn_depthwise *job, const float *x, const float *dy, int64_t c,
                           int64_t r, int64_t s) {
    const struct pdnn_depthwise_axis *h = &job->rows, *w = &job->columns;
    double sum = 0;
    for (int64_t i = 0; i < job->N * h->output * w->output; i++) {
        const int64_t n = i / (h->output * w->output), p = i / w->output % h->output, q = i % w->output,
                      row = p * h->stride - h->padding + r * h->dilation,
                      column = q * w->stride - w->padding + s * w->dilation;
        if (row >= 0 && row < h->input && column >= 0 && column < w->input)
            sum += (double)x[((n * job->C + c) * h->input + row) * w->input + column] *
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
        const double want = c < job.C ? expected_tap(&job, x, dy, c, tap / S, tap % S) : 0;
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

static void test_depthwise_weights(void **state) {
    (void)state;
    static const struct pdnn_depthwise jobs[] = {
        {2, 3, 0, {9, 9, 3, 1, 1, 1}, {7, 7, 3, 1, 1, 1}, 0, false},     /* few channels */
        {3, 20, 0, {6, 6, 5, 1, 2, 1}, {11, 11, 5, 1, 2, 1}, 0, false},  /* padding on all sides */
        {1, 33, 0, {9, 5, 7, 2, 3, 1}, {13, 7, 7, 2, 3, 1}, 0, false},   /* strides */
        {17, 16, 0, {5, 5, 3, 1, 1, 1}, {5, 3, 3, 2, 1, 1}, 0, false},   /* more images than shares of them */
        {2, 40, 0, {12, 8, 3, 1, 0, 2}, {12, 12, 3, 1, 2, 2}, 0, false}, /* dilation */
        {1, 8, 0, {13, 13, 4, 1, 3, 1}, {1, 1, 1, 1, 0, 1}, 0, false},   /* causal over rows */
        {2, 17, 0, {3, 3, 9, 1, 4, 1}, {20, 20, 15, 1, 7, 1}, 0, false}, /* more taps than one strip has */
        {1, 24, 0, {8, 2, 1, 5, 0, 1}, {9, 3, 2, 4, 0, 1}, 0, false},    /* a stride beyond the kernel */
    };
    static const int64_t weights_blocks[] = {1, 8, 16};
    for (size_t i = 0; i < BLOCKS * sizeof jobs / sizeof *jobs; i++)
        for (size_t k = 0; k < sizeof weights_blocks / sizeof *weights_blocks; k++)
            check_depthwise(jobs[i / BLOCKS], blocks[i % BLOCKS], weights_blocks[k], (i + k) % 2, k == i % 3);
}

/* A depthwise convolution, with a bias, of images that have a gradient, and a loss. */
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
             w = pdnn_graph_weight(graph, 4, (int64_t[]){net->C, 1, net->kernel_h, net->kernel_w}, uniform),
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
        is_own = is_own || strncmp(program.calls[i].implementation, "paradnn:conv2d depthwise", 24) == 0;
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
    const struct CMUnitTest kernels[] = {cmocka_unit_test(test_depthwise_weights)};
    const struct CMUnitTest backends[] = {cmocka_unit_test(test_either_way)};
    int failed = 0;
    omp_set_num_threads(THREADS);
    RUN_AT_EVERY_LEVEL(kernels, failed);
    omp_set_num_threads(CHECK_THREADS);
    return failed + cmocka_run_group_tests(backends, NULL, NULL);
}
