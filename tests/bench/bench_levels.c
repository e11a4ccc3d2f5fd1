/* Every kind of kernel on data that fits a core's own caches, on one thread, at each instruction-set level of
 * the processor: the time at the widest level, and the other times as multiples of it. An argument selects
 * kernels by name. */
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/gemm/dense_few.h"
#include "runtime/kernels/gemm/rnn_product.h"
#include "runtime/kernels/images/batchnorm.h"
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/images/pool.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/rows/layernorm.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/rows/moves.h"
#include "runtime/kernels/rows/quantize.h"
#include "runtime/kernels/rows/softmax.h"
#include "runtime/kernels/sequence/attention.h"
#include "runtime/kernels/sequence/ctc.h"
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/kernels/sequence/rnn_cell.h"
#include "runtime/kernels/simd/denormals.h"
#include "runtime/kernels/simd/half.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/update/lamb.h"
#include "runtime/kernels/update/optimizer.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 4096, ROOM = 1 << 18, ARRAYS = 8, ROUNDS = 9, AT_LEAST_NS = 200000, CASES_MAX = 192 };

static float *array[ARRAYS];
static double *scratch;
static int32_t labels[LABELS];
static struct bench_case cases[CASES_MAX];
static size_t n_cases;

static void add(const char *name, void (*run)(void *user), const void *job, size_t size) {
    void *user = malloc(size);
    if (!user || n_cases == CASES_MAX)
        bench_fail("too many cases");
    memcpy(user, job, size);
    cases[n_cases++] =
        (struct bench_case){.name = name, .run = run, .user = user, .work = 1, .at_least_ns = AT_LEAST_NS};
}

static const char *named(const char *what, int64_t size) {
    enum { ROOM_OF_NAME = 40 };
    char *name = malloc(ROOM_OF_NAME);
    if (!name)
        bench_fail("out of memory");
    snprintf(name, ROOM_OF_NAME, "%s %d", what, (int)size);
    return name;
}

#define ADD(name, run, job) add(name, run, &(job), sizeof(job))

static void run_elementwise(void *user) {
    pdnn_elementwise_run(user, 1);
}

static void add_elementwise(void) {
    static const char *const names[PDNN_ELEMENTWISE_COUNT] = {
        "relu", "relu backward", "sigmoid",   "sigmoid backward",   "tanh",     "tanh backward",
        "gelu", "gelu backward", "gelu_tanh", "gelu_tanh backward", "hardtanh", "hardtanh backward",
        "add",  "scale"};
    static const int64_t sizes[] = {2048, 32768};
    for (int i = 0; i < 2 * PDNN_ELEMENTWISE_COUNT; i++) {
        const struct pdnn_elementwise_job job = {.function = (enum pdnn_elementwise)(i / 2),
                                                 .a = array[0],
                                                 .b = array[1],
                                                 .y = array[2],
                                                 .elements = sizes[i % 2],
                                                 .coef = {-0.5F, 0.5F}};
        ADD(named(names[i / 2], sizes[i % 2]), run_elementwise, job);
    }
}

static void run_update(void *user) {
    pdnn_update_run(user, 1);
}

static void run_norm(void *user) {
    pdnn_norm_run(user, 1);
}

static void run_direction(void *user) {
    pdnn_lamb_direction_run(user, 1);
}

static void add_update(void) {
    static const char *const names[PDNN_UPDATE_COUNT] = {
        "sgd", "momentum", "rmsprop", "adam", "moment", "square_moment", "adam_apply", "lamb_apply"};
    for (int k = 0; k < PDNN_UPDATE_COUNT; k++) {
        static float power[2], norm = 1;
        const struct pdnn_update_job job = {.rule = (enum pdnn_update)k,
                                            .w = array[0],
                                            .g = array[1],
                                            .state = {array[2], array[3]},
                                            .power = power,
                                            .norm = {&norm, &norm},
                                            .coef = {1e-9, 0.9, 0.9, 1e-6, 0},
                                            .elements = 16384};
        ADD(names[k], run_update, job);
    }
    static float norm[1];
    const struct pdnn_norm_job squares = {.x = array[0], .norm = norm, .scratch = scratch, .elements = 65536};
    ADD("norm", run_norm, squares);
    static float power[2] = {0.5F, 0.5F};
    const struct pdnn_lamb_direction_job direction = {.w = array[0],
                                                      .g = array[1],
                                                      .u = array[2],
                                                      .m = array[3],
                                                      .v = array[4],
                                                      .power = power,
                                                      .norm = norm,
                                                      .beta1 = 0.9,
                                                      .beta2 = 0.9,
                                                      .epsilon = 1e-6,
                                                      .decay = 0.01,
                                                      .limit = 1,
                                                      .elements = 16384};
    ADD("lamb_direction", run_direction, direction);
}

static void run_layernorm(void *user) {
    pdnn_layernorm_forward(user, 1);
}

static void run_layernorm_backward(void *user) {
    pdnn_layernorm_backward(user, 1);
}

static void run_softmax(void *user) {
    pdnn_softmax_forward(user, 1);
}

static void run_softmax_backward(void *user) {
    pdnn_softmax_backward(user, 1);
}

static void run_loss(void *user) {
    pdnn_loss_forward(user, 1);
}

static void run_dropout(void *user) {
    pdnn_dropout_run(user, 1);
}

static void run_quantize(void *user) {
    pdnn_quantize_run(user, 1);
}

struct matrix {
    const float *x;
    float *y;
    int64_t N, C;
};

static void run_bias(void *user) {
    const struct matrix *m = user;
    pdnn_bias_forward(m->x, array[5], m->y, m->N, m->C, 1);
}

static void run_column_sums(void *user) {
    const struct matrix *m = user;
    pdnn_column_sums(m->x, m->y, array[5], m->N, m->C, 1);
}

static void run_widen(void *user) {
    const struct matrix *m = user;
    pdnn_half_widen(PDNN_HALF_BF16, (const uint16_t *)(const void *)m->x, m->y, m->N * m->C);
}

static void run_narrow(void *user) {
    const struct matrix *m = user;
    pdnn_half_narrow(PDNN_HALF_BF16, m->x, (uint16_t *)(void *)m->y, m->N * m->C);
}

static void run_widen_f16(void *user) {
    const struct matrix *m = user;
    pdnn_half_widen(PDNN_HALF_F16, (const uint16_t *)(const void *)m->x, m->y, m->N * m->C);
}

static void run_narrow_f16(void *user) {
    const struct matrix *m = user;
    pdnn_half_narrow(PDNN_HALF_F16, m->x, (uint16_t *)(void *)m->y, m->N * m->C);
}

static void add_matrix(void) {
    const struct matrix wide = {array[0], array[1], 32, 512}, narrow = {array[0], array[1], 512, 32},
                        odd = {array[0], array[1], 100, 100};
    ADD("bias 32x512", run_bias, wide);
    ADD("bias 512x32", run_bias, narrow);
    ADD("bias 100x100", run_bias, odd);
    ADD("column sums 32x512", run_column_sums, wide);
    ADD("column sums 512x32", run_column_sums, narrow);
    ADD("widen bf16", run_widen, wide);
    ADD("narrow bf16", run_narrow, wide);
    ADD("widen f16", run_widen_f16, wide);
    ADD("narrow f16", run_narrow_f16, wide);
}

static void add_softmax(int64_t m) {
    struct pdnn_softmax job = {.matrices = 32768 / (m * m) + 1,
                               .n = m,
                               .m = m,
                               .x = array[0],
                               .heads = 1,
                               .factor = 0.1F,
                               .y = {array[1], false},
                               .p = array[2]};
    if (m == 512)
        job.n = 64;
    ADD(named("softmax", m), run_softmax, job);
    ADD(named("softmax backward", m), run_softmax_backward, job);
    job.percent = 10;
    job.saved.to = array[3];
    ADD(named("attention_softmax", m), run_softmax, job);
    job.percent = 0;
    job.is_causal = true;
    job.n = m;
    job.matrices = m == 512 ? 1 : job.matrices;
    ADD(named("causal softmax", m), run_softmax, job);
    ADD(named("causal backward", m), run_softmax_backward, job);
}

static void add_layernorm(int64_t H) {
    struct pdnn_layernorm f = {.R = 24576 / H,
                               .H = H,
                               .x = array[0],
                               .gamma = array[1],
                               .beta = array[2],
                               .y = {array[3], false},
                               .mean = array[4],
                               .inverse_std = array[4] + 8192,
                               .epsilon = 1e-5F,
                               .scratch = (float *)scratch};
    struct pdnn_layernorm_gradients b = {.R = f.R,
                                         .H = f.H,
                                         .dy = array[0],
                                         .x = array[5],
                                         .gamma = array[1],
                                         .mean = array[4],
                                         .inverse_std = array[4] + 8192,
                                         .dx = {array[3], false},
                                         .dgamma = array[6],
                                         .dbeta = array[6] + 8192,
                                         .scratch = (float *)scratch};
    ADD(named("layernorm", H), run_layernorm, f);
    ADD(named("layernorm backward", H), run_layernorm_backward, b);
    f.residual = array[5];
    f.percent = b.percent = 10;
    f.z.to = array[7];
    b.masked.to = array[7];
    ADD(named("dropout_add_norm", H), run_layernorm, f);
    ADD(named("dropout_add_norm backward", H), run_layernorm_backward, b);
}

static void add_rows(void) {
    static const int64_t widths[] = {64, 100, 128, 512}, hidden[] = {100, 512, 768, 1024};
    for (size_t i = 0; i < 4; i++) {
        add_softmax(widths[i]);
        add_layernorm(hidden[i]);
    }
    static float loss_value[1];
    struct pdnn_loss_job loss = {.x = array[0],
                                 .label = labels,
                                 .y = array[1],
                                 .loss = loss_value,
                                 .partial = scratch,
                                 .N = 32,
                                 .C = 1000,
                                 .scale = 1};
    ADD("loss 1000", run_loss, loss);
    loss.N = 1024;
    loss.C = 10;
    ADD("loss 10", run_loss, loss);
    const struct pdnn_dropout dropout = {array[0], array[1], 32768, 1, 10, false};
    ADD("dropout", run_dropout, dropout);
    static float scale[1];
    const struct pdnn_quantize_job quantize = {.x = array[0],
                                               .q = (int8_t *)array[1],
                                               .scale = scale,
                                               .scratch = (int32_t *)scratch,
                                               .elements = 32768};
    ADD("quantize", run_quantize, quantize);
}

struct batchnorm_case {
    struct pdnn_batchnorm_forward forward;
    struct pdnn_batchnorm_backward backward;
    struct pdnn_batchnorm_options options;
};

static void run_batchnorm(void *user) {
    const struct batchnorm_case *c = user;
    pdnn_batchnorm_forward(&c->forward, &c->options);
}

static void run_batchnorm_backward(void *user) {
    const struct batchnorm_case *c = user;
    pdnn_batchnorm_backward(&c->backward, &c->options);
}

static void run_channel_gradient(void *user) {
    pdnn_channel_bias_gradient(user, 1);
}

static void run_channel_bias(void *user) {
    pdnn_channel_bias_forward(user, 1);
}

static void run_max(void *user) {
    pdnn_pool_max_forward(user, array[0], array[1], (int8_t *)array[2], 1);
}

static void run_max_inference(void *user) {
    pdnn_pool_max_forward(user, array[0], array[1], NULL, 1);
}

static void run_max_backward(void *user) {
    pdnn_pool_max_forward(user, array[0], array[1], (int8_t *)array[2], 1);
    pdnn_pool_max_backward(user, array[1], (int8_t *)array[2], array[3], 1);
}

static void run_average(void *user) {
    pdnn_pool_average_forward(user, array[0], array[1], 1);
}

static void run_average_backward(void *user) {
    pdnn_pool_average_backward(user, array[0], array[1], 1);
}

static void add_images(int64_t block) {
    const struct pdnn_channels shape = {2, 64, 14 * 14, block};
    float *c = array[6];
    struct batchnorm_case b = {{.shape = shape,
                                .x = array[0],
                                .gamma = c,
                                .beta = c + 64,
                                .mean = c + 128,
                                .inverse_std = c + 192,
                                .running_mean = c + 256,
                                .running_variance = c + 320,
                                .epsilon = 1e-5,
                                .momentum = 0.1,
                                .relu = true,
                                .y = array[1]},
                               {.shape = shape,
                                .dy = array[0],
                                .x = array[2],
                                .gamma = c,
                                .mean = c + 128,
                                .inverse_std = c + 192,
                                .mask = array[3],
                                .dx = array[1],
                                .dgamma = c + 384,
                                .dbeta = c + 448},
                               {1, 1 << 25, false, scratch}};
    ADD(named("batchnorm training", block), run_batchnorm, b);
    ADD(named("batchnorm backward", block), run_batchnorm_backward, b);
    b.forward.mean = b.forward.inverse_std = NULL;
    ADD(named("batchnorm inference", block), run_batchnorm, b);
    const struct pdnn_channel_bias bias = {shape, array[0], c, array[1], c + 512, false, scratch};
    ADD(named("channel bias", block), run_channel_bias, bias);
    ADD(named("channel sums", block), run_channel_gradient, bias);
    const struct pdnn_pool pool = {1, 64, block, {28, 14, 3, 2, 1}, {28, 14, 3, 2, 1}};
    ADD(named("max pool training", block), run_max, pool);
    ADD(named("max pool inference", block), run_max_inference, pool);
    ADD(named("max pool both ways", block), run_max_backward, pool);
    ADD(named("average pool", block), run_average, pool);
    ADD(named("average pool backward", block), run_average_backward, pool);
}

static void run_cell(void *user) {
    pdnn_rnn_cell_run(user, 1);
}

static void run_attention(void *user) {
    pdnn_attention_forward(user, array[5], array[6], 1);
}

static void run_attention_backward(void *user) {
    const struct pdnn_attention_gradients g = {array[0], array[6], array[3],       array[4],
                                               array[5], array[7], array[7] + 4096};
    pdnn_attention_backward(user, &g, 1);
}

static void run_ctc(void *user) {
    pdnn_ctc_run(user, 1);
}

static void run_embedding(void *user) {
    pdnn_embedding_forward(user, 1);
}

static void run_embedding_backward(void *user) {
    pdnn_embedding_backward(user, 1);
}

static void run_to_sequences(void *user) {
    pdnn_sequence_forward(user, array[0], array[1], 1);
}

static void add_sequence(void) {
    static const char *const names[PDNN_RNN_CELL_COUNT] = {
        "rnn tanh",     "its backward",       "lstm",    "lstm backward",   "gru reset", "gru",
        "gru backward", "gru reset backward", "lbr_gru", "lbr_gru backward"};
    for (int k = 0; k < PDNN_RNN_CELL_COUNT; k++) {
        const struct pdnn_rnn_cell_job job = {.cell = (enum pdnn_rnn_cell)k,
                                              .N = 8,
                                              .H = 512,
                                              .gates = array[0],
                                              .gates_stride = 2048,
                                              .bias = array[1],
                                              .h_before = array[2],
                                              .h = array[3],
                                              .c_before = array[4],
                                              .c = array[4],
                                              .c_before_stride = 512,
                                              .c_stride = 512,
                                              .gated = array[5],
                                              .dy = array[6],
                                              .dsums = array[7],
                                              .dsums_stride = 2048,
                                              .dh = array[5] + 16384,
                                              .dc = array[5] + 32768,
                                              .dgated = array[5] + 65536};
        ADD(names[k], run_cell, job);
    }
    const struct pdnn_attention attention = {.T = 10,
                                             .S = 10,
                                             .N = 2,
                                             .H = 256,
                                             .D = 256,
                                             .q = array[0],
                                             .k = array[1],
                                             .values = array[2],
                                             .v = array[3] + 65536,
                                             .g = array[3] + 131072,
                                             .scratch = (float *)scratch};
    ADD("attention", run_attention, attention);
    ADD("attention backward", run_attention_backward, attention);
    static float loss[1];
    const struct pdnn_ctc ctc = {.T = 50,
                                 .N = 2,
                                 .C = 29,
                                 .L = 20,
                                 .logits = array[0],
                                 .labels = labels,
                                 .loss = loss,
                                 .dlogits = array[1],
                                 .scratch = scratch,
                                 .scale = 1};
    ADD("ctc", run_ctc, ctc);
    struct pdnn_embedding embedding = {.ids = labels,
                                       .from = array[0],
                                       .to = array[1],
                                       .R = 64,
                                       .V = 32,
                                       .E = 512,
                                       .scratch = (int64_t *)scratch};
    ADD("embedding", run_embedding, embedding);
    ADD("embedding backward", run_embedding_backward, embedding);
    const struct pdnn_sequence sequence = {2, 32, 16, 32, 16};
    ADD("images to sequences", run_to_sequences, sequence);
}

static void run_batched(void *user) {
    pdnn_batched_run(user, 1);
}

static void run_few(void *user) {
    pdnn_dense_few_run(user, 1);
}

static void run_product(void *user) {
    pdnn_rnn_product_run(user, 1);
}

static void run_pack(void *user) {
    const struct matrix *m = user;
    pdnn_rnn_pack(m->x, m->N, m->C, false, m->y, 1);
}

static void run_pack_transposed(void *user) {
    const struct matrix *m = user;
    pdnn_rnn_pack(m->x, m->N, m->C, true, m->y, 1);
}

static void add_gemm(void) {
    static const char *const heads[] = {"heads b transposed", "heads", "heads a transposed",
                                        "heads few b transposed", "heads few"};
    for (int k = 0; k < 5; k++) {
        bool few = k >= 3, b_transposed = k == 0 || k == 3, a_transposed = k == 2;
        int64_t M = few ? 1 : 128, N = b_transposed ? 128 : 64, K = b_transposed ? 64 : 128;
        const struct pdnn_batched_job job = {
            .B = 1,
            .h = 4,
            .M = M,
            .N = N,
            .K = K,
            .a_place = {65536, a_transposed ? M * K : M * K, a_transposed ? M : K, a_transposed},
            .b_place = {65536, N * K, b_transposed ? K : N, b_transposed},
            .y_place = {65536, M * N, N, false},
            .a = array[0],
            .b = array[1],
            .y = array[2],
            .scratch = array[3]};
        ADD(heads[k], run_batched, job);
    }
    for (int64_t N = 1; N <= 4; N++) {
        const struct pdnn_dense_few_job job = {.N = N,
                                               .I = 512,
                                               .O = 256,
                                               .x = array[0],
                                               .w = array[1],
                                               .b = array[2],
                                               .y = array[3],
                                               .n_functions = 0};
        ADD(named("dense_few", N), run_few, job);
    }
    for (int64_t N = 1; N <= 64; N *= 8) {
        const struct pdnn_rnn_product_job job = {.N = N,
                                                 .K = 256,
                                                 .C = 512,
                                                 .a = array[0],
                                                 .packed = array[2],
                                                 .c = array[3],
                                                 .a_stride = 256,
                                                 .c_stride = 512};
        ADD(named("rnn product", N), run_product, job);
    }
    const struct matrix weights = {array[1], array[2], 256, 512};
    ADD("rnn pack", run_pack, weights);
    ADD("rnn pack transposed", run_pack_transposed, weights);
}

static void add_cases(void) {
    static const int64_t blocks[] = {1, 8, 16, 64};
    add_gemm();
    for (size_t i = 0; i < 4; i++)
        add_images(blocks[i]);
    add_rows();
    add_matrix();
    add_elementwise();
    add_sequence();
    add_update();
}

static void fill_arrays(void) {
    for (int i = 0; i < ARRAYS; i++) {
        array[i] = bench_memory(ROOM * sizeof *array[i]);
        for (int k = 0; k < ROOM; k++)
            array[i][k] = (float)((k * 7919 + i * 104729) % 2001 - 1000) * 1e-3F;
    }
    scratch = bench_memory(ROOM * sizeof *scratch);
    for (int i = 0; i < LABELS; i++)
        labels[i] = i * 7 % 10;
}

/* A case at one level. */
struct level_case {
    const struct bench_case *of;
    int lanes;
};

static void run_at_level(void *user) {
    const struct level_case *c = user;
    pdnn_level_limit(c->lanes);
    c->of->run(c->of->user);
}

/* Runs all levels of one case in turn. */
static void compare(const struct bench_case *c) {
    struct level_case at[PDNN_LEVEL_COUNT];
    struct bench_case levels[PDNN_LEVEL_COUNT];
    int widest = (int)pdnn_level_of_machine;
    for (int level = 0; level <= widest; level++) {
        at[level] = (struct level_case){c, 4 << level};
        levels[level] = *c;
        levels[level].run = run_at_level;
        levels[level].user = &at[level];
    }
    bench_run(levels, (size_t)widest + 1, ROUNDS);
    printf("%-28s %10.0f", c->name, bench_median_ns(&levels[widest], ROUNDS));
    for (int level = widest - 1; level >= 0; level--) {
        struct bench_ratio ratio = bench_rate_ratio(&levels[widest], &levels[level], ROUNDS);
        printf("   %5.2f (%.2f to %.2f)", ratio.median, ratio.low, ratio.high);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    pdnn_flush_denormals(1);
    fill_arrays();
    add_cases();
    printf("one thread, medians of %d rounds in turns\n%-28s %10s", ROUNDS, "", "ns");
    for (int level = (int)pdnn_level_of_machine; level >= 0; level--)
        printf(level == (int)pdnn_level_of_machine ? " at %s" : "   times as fast as %s",
               pdnn_level_names[level]);
    printf("\n");
    for (size_t i = 0; i < n_cases; i++) {
        if (strstr(cases[i].name, only))
            compare(&cases[i]);
    }
    return 0;
}
