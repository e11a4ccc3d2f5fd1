/* Optimizer updates and norms, ReLU, normalization and softmax of rows on tensors of 256 MB,
 * against the copy bandwidth of DRAM. */
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/update/lamb.h"
#include "runtime/kernels/rows/layernorm.h"
#include "runtime/kernels/update/optimizer.h"
#include "runtime/kernels/rows/softmax.h"
#include "runtime/kernels/roofs/stream.h"
#include "tests/bench/bench.h"

#include <stdio.h>

enum { ELEMENTS = 64 << 20, ROUNDS = 9, ARRAYS = 4, WIDTH = 1024 };
enum { GAP_BYTES = 17 * 4096 + 5 * 64 }; /* between arrays, as in models/cost/memory.c */

static int64_t threads;

struct stream_case {
    struct pdnn_stream stream;
    struct pdnn_stream_job job;
};

static void run_stream(void *user) {
    const struct stream_case *c = user;
    float result;
    pdnn_stream_run(&c->stream, &c->job, &result);
}

static void run_elementwise(void *user) {
    pdnn_elementwise_run(user, threads);
}

static void run_update(void *user) {
    pdnn_update_run(user, threads);
}

static void run_norm(void *user) {
    pdnn_norm_run(user, threads);
}

static void run_lamb_direction(void *user) {
    pdnn_lamb_direction_run(user, threads);
}

static void run_layernorm(void *user) {
    pdnn_layernorm_forward(user, threads);
}

static void run_layernorm_backward(void *user) {
    pdnn_layernorm_backward(user, threads);
}

static void run_softmax(void *user) {
    pdnn_softmax_forward(user, threads);
}

static void run_softmax_backward(void *user) {
    pdnn_softmax_backward(user, threads);
}

static void run_mask(void *user) {
    pdnn_softmax_mask(user, 0, threads);
}

/* Directions overwrite gradients, as in plans. */
struct lamb {
    struct pdnn_norm_job norm;
    struct pdnn_lamb_direction_job direction;
};

static struct lamb lamb_of(float *const *a) {
    static float norm = 2, power[2] = {1, 1};
    struct lamb l = {
        .norm = {.x = a[0], .norm = &norm, .elements = ELEMENTS},
        .direction = {.w = a[0],
                      .g = a[1],
                      .u = a[1],
                      .m = a[2],
                      .v = a[3],
                      .power = power,
                      .norm = &norm,
                      .beta1 = 0.9,
                      .beta2 = 0.999,
                      .epsilon = 1e-6,
                      .decay = 0.01,
                      .limit = 1,
                      .elements = ELEMENTS},
    };
    l.norm.scratch = bench_memory((uint64_t)pdnn_norm_scratch(ELEMENTS) * sizeof(double));
    return l;
}

/* Rows of WIDTH, plain and after dropout and a residual sum. */
struct norms {
    struct pdnn_layernorm alone, fused;
    struct pdnn_layernorm_gradients alone_backward, fused_backward;
};

static struct norms norms_of(float *const *a) {
    enum { ROWS = ELEMENTS / WIDTH, PERCENT = 10 };
    static float gamma[WIDTH], beta[WIDTH], mean[ROWS], inverse_std[ROWS], dgamma[WIDTH], dbeta[WIDTH];
    const int64_t forward = pdnn_layernorm_scratch(WIDTH, threads);
    const int64_t backward = pdnn_layernorm_backward_scratch(ROWS, WIDTH);
    struct norms n = {.alone = {.R = ROWS,
                                .H = WIDTH,
                                .x = a[0],
                                .gamma = gamma,
                                .beta = beta,
                                .y = {a[2], true},
                                .mean = mean,
                                .inverse_std = inverse_std,
                                .epsilon = 1e-5F},
                      .alone_backward = {.R = ROWS,
                                         .H = WIDTH,
                                         .dy = a[0],
                                         .x = a[1],
                                         .gamma = gamma,
                                         .mean = mean,
                                         .inverse_std = inverse_std,
                                         .dx = {a[2], true},
                                         .dgamma = dgamma,
                                         .dbeta = dbeta}};
    n.alone.scratch = bench_memory((uint64_t)forward * sizeof(float));
    n.alone_backward.scratch = bench_memory((uint64_t)backward * sizeof(float));
    n.fused = n.alone;
    n.fused.residual = a[1];
    n.fused.z = (struct pdnn_layernorm_result){a[3], true};
    n.fused_backward = n.alone_backward;
    n.fused_backward.masked = (struct pdnn_layernorm_result){a[3], true};
    n.fused.percent = n.fused_backward.percent = PERCENT;
    return n;
}

/* Square matrices of scores: the op alone, with mask and dropout, and causal. Training
 * steps run in place, as in plans. */
struct softmaxes {
    struct pdnn_softmax alone, fused, causal, mask, backward, fused_backward, causal_backward;
};

static struct softmaxes softmaxes_of(float *const *a) {
    enum { LENGTH = 512, PERCENT = 10 };
    static float bias[LENGTH];
    struct softmaxes s = {.alone = {.matrices = ELEMENTS / LENGTH / LENGTH,
                                    .n = LENGTH,
                                    .m = LENGTH,
                                    .x = a[0],
                                    .heads = ELEMENTS / LENGTH / LENGTH,
                                    .factor = 0.125F,
                                    .y = {a[2], true}}};
    s.mask = s.alone;
    s.mask.bias = bias;
    s.fused = s.mask;
    s.fused.percent = PERCENT;
    s.fused.y = (struct pdnn_softmax_result){a[0], false};
    s.fused.saved = s.alone.y;
    s.causal = s.alone;
    s.causal.is_causal = true;
    s.backward = s.alone;
    s.backward.p = a[1];
    s.backward.y = s.fused.y;
    s.fused_backward = s.causal_backward = s.backward;
    s.fused_backward.percent = PERCENT;
    s.causal_backward.is_causal = true;
    return s;
}

static void fill(float *values) {
    for (int64_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)(i % 97) * 0.01F - 0.4F;
}

/* The first case is the copy. */
static void report(const struct bench_case *cases, size_t count) {
    printf("tensors of 256 MB, %d threads, medians of %d rounds in turns\n", (int)threads, ROUNDS);
    printf("%-20s %8s   of the copy bandwidth (quartiles)\n", "", "GB/s");
    for (size_t i = 0; i < count; i++) {
        struct bench_ratio ratio = bench_rate_ratio(&cases[i], &cases[0], ROUNDS);
        printf("%-20s %8.1f   %.2f (%.2f to %.2f)\n", cases[i].name,
               cases[i].work / bench_median_ns(&cases[i], ROUNDS), ratio.median, ratio.low, ratio.high);
    }
}

int main(void) {
    threads = bench_threads();
    const uint64_t bytes = (uint64_t)ELEMENTS * sizeof(float);
    float *a[ARRAYS], power[2] = {1, 1};
    char *block = bench_memory(ARRAYS * (bytes + GAP_BYTES));
    for (int i = 0; i < ARRAYS; i++)
        a[i] = (float *)(void *)(block + (uint64_t)i * (bytes + GAP_BYTES));
    fill(a[0]);
    fill(a[1]);
    struct stream_case copy = {.job = {PDNN_STREAM_COPY, threads, 1, true}},
                       read = {.job = {PDNN_STREAM_READ, threads, 1, false}};
    if (pdnn_stream_create(&copy.stream, threads, 2 * bytes / (uint64_t)threads, NULL) != PDNN_OK)
        bench_fail("out of memory");
    read.stream = copy.stream;
    struct pdnn_elementwise_job in_place = {PDNN_RELU_FORWARD, a[0], NULL, a[0], ELEMENTS, false, {0}, {0}};
    struct pdnn_elementwise_job out = {PDNN_RELU_FORWARD, a[0], NULL, a[1], ELEMENTS, true, {0}, {0}};
    struct pdnn_elementwise_job backward = {PDNN_RELU_BACKWARD, a[0], a[1], a[0], ELEMENTS, false, {0}, {0}};
    struct pdnn_update_job update[PDNN_UPDATE_COUNT];
    for (int i = 0; i < PDNN_UPDATE_COUNT; i++)
        update[i] = (struct pdnn_update_job){.rule = (enum pdnn_update)i,
                                             .w = a[0],
                                             .g = a[1],
                                             .state = {a[2], a[3]},
                                             .power = power,
                                             .norm = {power, power},
                                             .coef = {1e-3, 0.9, 0.9, 1.0},
                                             .elements = ELEMENTS};
    struct lamb l = lamb_of(a);
    struct norms n = norms_of(a);
    struct softmaxes s = softmaxes_of(a);
    const double array = (double)bytes;
    struct bench_case cases[] = {
        {.name = "DRAM copy", .run = run_stream, .user = &copy, .work = 2 * array},
        {.name = "DRAM read", .run = run_stream, .user = &read, .work = 2 * array},
        {.name = "relu, in place", .run = run_elementwise, .user = &in_place, .work = 2 * array},
        {.name = "relu, out of place", .run = run_elementwise, .user = &out, .work = 2 * array},
        {.name = "relu backward-data", .run = run_elementwise, .user = &backward, .work = 3 * array},
        {.name = "sgd", .run = run_update, .user = &update[PDNN_UPDATE_SGD], .work = 3 * array},
        {.name = "momentum", .run = run_update, .user = &update[PDNN_UPDATE_MOMENTUM], .work = 5 * array},
        {.name = "rmsprop", .run = run_update, .user = &update[PDNN_UPDATE_RMSPROP], .work = 7 * array},
        {.name = "adam", .run = run_update, .user = &update[PDNN_UPDATE_ADAM], .work = 7 * array},
        {.name = "norm", .run = run_norm, .user = &l.norm, .work = array},
        {.name = "lamb_direction", .run = run_lamb_direction, .user = &l.direction, .work = 7 * array},
        {.name = "lamb_apply", .run = run_update, .user = &update[PDNN_UPDATE_LAMB_APPLY], .work = 3 * array},
        {.name = "layernorm", .run = run_layernorm, .user = &n.alone, .work = 2 * array},
        {.name = "layernorm backward",
         .run = run_layernorm_backward,
         .user = &n.alone_backward,
         .work = 3 * array},
        {.name = "dropout_add_norm", .run = run_layernorm, .user = &n.fused, .work = 4 * array},
        {.name = "its backward", .run = run_layernorm_backward, .user = &n.fused_backward, .work = 4 * array},
        {.name = "mask", .run = run_mask, .user = &s.mask, .work = 2 * array},
        {.name = "softmax", .run = run_softmax, .user = &s.alone, .work = 2 * array},
        {.name = "softmax backward", .run = run_softmax_backward, .user = &s.backward, .work = 3 * array},
        {.name = "attention_softmax", .run = run_softmax, .user = &s.fused, .work = 3 * array},
        {.name = "its backward", .run = run_softmax_backward, .user = &s.fused_backward, .work = 3 * array},
        {.name = "causal softmax", .run = run_softmax, .user = &s.causal, .work = 1.5 * array},
        {.name = "its backward", .run = run_softmax_backward, .user = &s.causal_backward, .work = 2 * array},
    };
    const size_t count = sizeof cases / sizeof *cases;
    bench_run(cases, count, ROUNDS);
    report(cases, count);
    pdnn_stream_destroy(&copy.stream);
    return 0;
}
