/* Kernels on images against naive loops in double: every layout with its padded channels, odd
 * sizes, split among threads in both ways, in place. N minibatch, C channels, H W height and
 * width, P Q those of a result. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/runtime/stored_images.h"

#include "runtime/kernels/images/batchnorm.h"
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/images/pool.h"
#include "runtime/kernels/images/spread.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Batch normalization: plain inputs and expected outputs. */
struct norm {
    int64_t N, C, pixels;
    double epsilon, momentum;
    float *x, *gamma, *beta, *running_mean, *running_variance, *other, *dy, *mask;
    double *y, *mean, *inverse_std, *new_mean, *new_variance; /* y: normalized, before posts */
    double *dx, *dgamma, *dbeta;
};

/* The channel's i-th value of N * pixels, in a plain array. */
static int64_t at(const struct norm *t, int64_t c, int64_t i) {
    return (i / t->pixels * t->C + c) * t->pixels + i % t->pixels;
}

static void expect_forward(struct norm *t, int64_t c) {
    int64_t M = t->N * t->pixels;
    double mean = 0, square = 0;
    for (int64_t i = 0; i < M; i++)
        mean += (double)t->x[at(t, c, i)] / (double)M;
    for (int64_t i = 0; i < M; i++)
        square += pow((double)t->x[at(t, c, i)] - mean, 2);
    double unbiased = square / (double)(M > 1 ? M - 1 : M);
    t->mean[c] = mean;
    t->inverse_std[c] = 1 / sqrt(square / (double)M + t->epsilon);
    t->new_mean[c] = (1 - t->momentum) * (double)t->running_mean[c] + t->momentum * mean;
    t->new_variance[c] = (1 - t->momentum) * (double)t->running_variance[c] + t->momentum * unbiased;
    for (int64_t i = 0; i < M; i++)
        t->y[at(t, c, i)] =
            (double)t->gamma[c] * ((double)t->x[at(t, c, i)] - mean) * t->inverse_std[c] + (double)t->beta[c];
}

enum { NOTHING, RELU, CLIP, CLIPS }; /* what follows */
static const struct pdnn_bounds bounds_of[CLIPS] = {
    [NOTHING] = {-INFINITY, INFINITY}, [RELU] = {0, INFINITY}, [CLIP] = {-0.25F, 0.5F}};

static double masked_dy(const struct norm *t, int64_t i, int clip) {
    return t->mask[i] > bounds_of[clip].low && t->mask[i] < bounds_of[clip].high ? (double)t->dy[i] : 0;
}

static double clipped(double y, int clip) {
    return fmin(fmax(y, (double)bounds_of[clip].low), (double)bounds_of[clip].high);
}

static void expect_backward(struct norm *t, int64_t c, int clip) {
    int64_t M = t->N * t->pixels;
    t->dgamma[c] = t->dbeta[c] = 0;
    for (int64_t i = 0; i < M; i++) {
        double dy = masked_dy(t, at(t, c, i), clip);
        t->dbeta[c] += dy;
        t->dgamma[c] += dy * ((double)t->x[at(t, c, i)] - t->mean[c]) * t->inverse_std[c];
    }
    for (int64_t i = 0; i < M; i++) {
        double xhat = ((double)t->x[at(t, c, i)] - t->mean[c]) * t->inverse_std[c];
        double rest = masked_dy(t, at(t, c, i), clip) - (t->dbeta[c] + xhat * t->dgamma[c]) / (double)M;
        t->dx[at(t, c, i)] = (double)t->gamma[c] * t->inverse_std[c] * rest;
    }
}

static struct norm new_norm(int64_t N, int64_t C, int64_t pixels, float offset, float scale) {
    int64_t n = N * C * pixels;
    struct norm t = {.N = N, .C = C, .pixels = pixels, .epsilon = 1e-5, .momentum = 0.1};
    float **floats[] = {&t.x,     &t.other, &t.dy,           &t.mask,
                        &t.gamma, &t.beta,  &t.running_mean, &t.running_variance};
    double **doubles[] = {&t.y,        &t.dx,           &t.mean,   &t.inverse_std,
                          &t.new_mean, &t.new_variance, &t.dgamma, &t.dbeta};
    for (int i = 0; i < 8; i++) {
        *floats[i] = new_random(i < 4 ? n : C, 1);
        *doubles[i] = new_doubles(i < 2 ? n : C);
    }
    for (int64_t i = 0; i < n; i++)
        t.x[i] = offset + scale * t.x[i];
    for (int64_t c = 0; c < C; c++) {
        t.running_variance[c] = fabsf(t.running_variance[c]) + 0.5F;
        expect_forward(&t, c);
    }
    return t;
}

/* Ways to run the same job: number of threads, assumed cache size, streaming stores. */
static const struct pdnn_batchnorm_options ways[] = {
    {1, 32 << 20, false, NULL}, {THREADS, 32 << 20, false, NULL}, {THREADS, 0, true, NULL}};
enum { WAYS = sizeof ways / sizeof *ways };

static struct pdnn_batchnorm_options new_way(int way, const struct pdnn_channels *shape) {
    struct pdnn_batchnorm_options options = ways[way];
    options.scratch = new_doubles(pdnn_batchnorm_scratch(shape, options.threads));
    return options;
}

static const int64_t norm_shapes[][3] = {{2, 3, 35},   {1, 13, 1},    {3, 20, 49},  {2, 16, 600}, {5, 8, 77},
                                         {2, 40, 300}, {1, 20, 3136}, {20, 24, 90}, {3, 13, 49}};
enum { NORM_SHAPES = sizeof norm_shapes / sizeof *norm_shapes };

/* Where a result goes: its own memory, that of x, or that of a summand if there is one. */
enum { APART, OVER_X, OVER_OTHER, PLACES };

static void check_training(const struct norm *t, const struct pdnn_channels *shape, int way, int target,
                           double tolerance) {
    struct pdnn_batchnorm_options options = new_way(way, shape);
    float *x = new_stored(shape, t->x), *other = new_stored(shape, t->other);
    float *apart = new_floats(pdnn_channels_elements(shape)), *targets[PLACES] = {apart, x, other};
    float *y = targets[target];
    double *expected = new_doubles(plain_elements(shape));
    for (int64_t i = 0; i < plain_elements(shape); i++)
        expected[i] = t->y[i] + (target == OVER_OTHER ? (double)t->other[i] : 0);
    float *mean = new_floats(t->C), *inverse_std = new_floats(t->C);
    float *running_mean = new_copy(t->running_mean, t->C),
          *running_variance = new_copy(t->running_variance, t->C);
    struct pdnn_batchnorm_forward job = {
        *shape,           x,          t->gamma,    t->beta, mean,  inverse_std, running_mean,
        running_variance, t->epsilon, t->momentum, NULL,    false, false,       y};
    job.other = target == OVER_OTHER ? other : NULL;
    pdnn_batchnorm_forward(&job, &options);
    check_stored(shape, y, expected, tolerance);
    check_channels(mean, t->mean, t->C, tolerance);
    check_channels(inverse_std, t->inverse_std, t->C, tolerance);
    check_channels(running_mean, t->new_mean, t->C, tolerance);
    check_channels(running_variance, t->new_variance, t->C, tolerance);
    free_from(options.scratch);
}

static void test_batchnorm_training(void **state) {
    (void)state;
    for (int s = 0; s < NORM_SHAPES; s++) {
        struct norm t = new_norm(norm_shapes[s][0], norm_shapes[s][1], norm_shapes[s][2], 0.3F, 2);
        for (int b = 0; b < BLOCKS * WAYS * PLACES; b++) {
            struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / PLACES / WAYS]);
            check_training(&t, &shape, b / PLACES % WAYS, b % PLACES, 4e-6);
        }
        free_from(t.x);
    }
}

/* A mean of a thousand deviations: with squares in float, nothing would be left of the variance. Then with a
 * first value that is far from all others. */
static void test_batchnorm_training_far_from_0(void **state) {
    (void)state;
    struct norm t = new_norm(4, 20, 1500, 1000, 1);
    for (int b = 0; b < BLOCKS * WAYS * 2; b++) {
        struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / WAYS % BLOCKS]);
        check_training(&t, &shape, b % WAYS, APART, 4e-6);
        for (int64_t c = 0; c < t.C && b == BLOCKS * WAYS - 1; c++) {
            t.x[at(&t, c, 0)] = 0;
            expect_forward(&t, c);
        }
    }
    free_from(t.x);
}

/* A first activation, other, a last activation, each optional. */
enum { POSTS = CLIPS * 2 * CLIPS };
struct posts {
    int first, last;
    bool adds;
};
static struct posts posts_of(int k) {
    return (struct posts){.first = k % CLIPS, .last = k / CLIPS / 2, .adds = k / CLIPS % 2};
}

/* Without x, y and the other summand, which the caller sets. */
static struct pdnn_batchnorm_forward inference_of(const struct norm *t, const struct pdnn_channels *shape,
                                                  struct posts posts) {
    return (struct pdnn_batchnorm_forward){
        .shape = *shape,
        .gamma = t->gamma,
        .beta = t->beta,
        .running_mean = t->running_mean,
        .running_variance = t->running_variance,
        .epsilon = t->epsilon,
        .first = posts.first ? &bounds_of[posts.first] : NULL,
        .last = posts.last ? &bounds_of[posts.last] : NULL,
    };
}

/* Inference with every combination of posts, also in place of x and of the other summand. */
static void test_batchnorm_inference_posts(void **state) {
    (void)state;
    struct norm t = new_norm(3, 20, 150, 0.3F, 2);
    int64_t n = t.N * t.C * t.pixels;
    double *expected = new_doubles(n);
    for (int k = 0; k < POSTS; k++) {
        const struct posts posts = posts_of(k);
        for (int64_t i = 0; i < n; i++) {
            int64_t c = i / t.pixels % t.C;
            double inverse_std = 1 / sqrt((double)t.running_variance[c] + t.epsilon);
            double y = (double)t.gamma[c] * ((double)t.x[i] - (double)t.running_mean[c]) * inverse_std +
                       (double)t.beta[c];
            y = clipped(y, posts.first) + (posts.adds ? (double)t.other[i] : 0);
            expected[i] = clipped(y, posts.last);
        }
        for (int b = 0; b < BLOCKS * WAYS * 3; b++) {
            struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / WAYS / 3]);
            struct pdnn_batchnorm_options options = new_way(b / 3 % WAYS, &shape);
            float *x = new_stored(&shape, t.x), *other = new_stored(&shape, t.other);
            float *apart = new_floats(pdnn_channels_elements(&shape)), *y[] = {apart, x, other};
            struct pdnn_batchnorm_forward job = inference_of(&t, &shape, posts);
            job.x = x;
            job.y = y[b % 3];
            job.other = posts.adds ? other : NULL;
            pdnn_batchnorm_forward(&job, &options);
            check_stored(&shape, job.y, expected, 1e-5);
            free_from(options.scratch);
        }
    }
    free_from(t.x);
}

/* A NaN stays a NaN through clamps and sums, and spoils no other value. */
static void test_batchnorm_not_a_number(void **state) {
    (void)state;
    struct norm t = new_norm(2, 20, 150, 0.3F, 2);
    const int64_t spoilt = 777;
    t.x[spoilt] = NAN;
    for (int k = 0; k < POSTS; k++) {
        const struct posts posts = posts_of(k);
        for (int b = 0; b < BLOCKS; b++) {
            struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b]);
            struct pdnn_batchnorm_options options = new_way(0, &shape);
            float *x = new_stored(&shape, t.x), *other = new_stored(&shape, t.other);
            struct pdnn_batchnorm_forward job = inference_of(&t, &shape, posts);
            job.x = job.y = x;
            job.other = posts.adds ? other : NULL;
            pdnn_batchnorm_forward(&job, &options);
            for (int64_t i = 0; i < plain_elements(&shape); i++)
                assert_true(isnan(x[place(&shape, i)]) == (i == spoilt));
            free_from(options.scratch);
        }
    }
    free_from(t.x);
}

static void check_backward(const struct norm *t, const struct pdnn_channels *shape, int way, int target,
                           int clip) {
    struct pdnn_batchnorm_options options = new_way(way, shape);
    float *mean = new_rounded(t->mean, t->C), *inverse_std = new_rounded(t->inverse_std, t->C);
    float *x = new_stored(shape, t->x), *dy = new_stored(shape, t->dy), *mask = new_stored(shape, t->mask);
    float *dgamma = new_floats(t->C), *dbeta = new_floats(t->C),
          *dx = new_floats(pdnn_channels_elements(shape));
    struct pdnn_batchnorm_backward job = {.shape = *shape,
                                          .dy = dy,
                                          .gamma = t->gamma,
                                          .x = x,
                                          .mean = mean,
                                          .inverse_std = inverse_std,
                                          .clipped = clip ? mask : NULL,
                                          .bounds = bounds_of[clip],
                                          .dx = target == APART ? dx : dy,
                                          .dgamma = dgamma,
                                          .dbeta = dbeta};
    pdnn_batchnorm_backward(&job, &options);
    check_stored(shape, job.dx, t->dx, t->N * t->pixels == 1 ? 0 : 1e-5);
    double sum_tolerance = 1e-5 + 2e-8 * (double)(t->N * t->pixels);
    check_channels(dgamma, t->dgamma, t->C, sum_tolerance);
    check_channels(dbeta, t->dbeta, t->C, sum_tolerance);
    free_from(options.scratch);
}

/* Also in place of dy. */
static void test_batchnorm_backward(void **state) {
    (void)state;
    for (int s = 0; s < NORM_SHAPES * CLIPS; s++) {
        struct norm t =
            new_norm(norm_shapes[s / CLIPS][0], norm_shapes[s / CLIPS][1], norm_shapes[s / CLIPS][2], 5, 2);
        for (int64_t c = 0; c < t.C; c++)
            expect_backward(&t, c, s % CLIPS);
        for (int b = 0; b < BLOCKS * WAYS * 2; b++) {
            struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / 2 / WAYS]);
            check_backward(&t, &shape, b / 2 % WAYS, b % 2, s % CLIPS);
        }
        free_from(t.x);
    }
}

/* With running statistics, with gamma and without, also in place of dy. What padding channels hold, which no
 * variance is known of, stays 0. */
static void test_batchnorm_frozen_backward(void **state) {
    (void)state;
    for (int s = 0; s < NORM_SHAPES * CLIPS * 2; s++) {
        const int64_t *of = norm_shapes[s / CLIPS / 2];
        const int clip = s / 2 % CLIPS;
        struct norm t = new_norm(of[0], of[1], of[2], 5, 2);
        for (int64_t i = 0; i < t.N * t.C * t.pixels; i++) {
            const int64_t c = i / t.pixels % t.C;
            const double scale =
                (s % 2 ? (double)t.gamma[c] : 1) / sqrt((double)t.running_variance[c] + t.epsilon);
            t.dx[i] = scale * masked_dy(&t, i, clip);
        }
        for (int b = 0; b < BLOCKS * WAYS * 2; b++) {
            struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / 2 / WAYS]);
            struct pdnn_batchnorm_options options = new_way(b / 2 % WAYS, &shape);
            float *dy = new_stored(&shape, t.dy), *mask = new_stored(&shape, t.mask),
                  *dx = new_floats(pdnn_channels_elements(&shape));
            struct pdnn_batchnorm_backward job = {.shape = shape,
                                                  .dy = dy,
                                                  .gamma = s % 2 ? t.gamma : NULL,
                                                  .running_variance = t.running_variance,
                                                  .epsilon = t.epsilon,
                                                  .clipped = clip ? mask : NULL,
                                                  .bounds = bounds_of[clip],
                                                  .dx = b % 2 ? dy : dx};
            pdnn_batchnorm_backward(&job, &options);
            check_stored(&shape, job.dx, t.dx, 1e-6);
            free_from(options.scratch);
        }
        free_from(t.x);
    }
}

static void test_channel_bias(void **state) {
    (void)state;
    for (int s = 0; s < NORM_SHAPES; s++) {
        int64_t N = norm_shapes[s][0], C = norm_shapes[s][1], pixels = norm_shapes[s][2], n = N * C * pixels;
        float *x = new_random(n, 1), *b = new_random(C, 1), *db = new_floats(C);
        double *y = new_doubles(n), *sums = new_zeros(C, sizeof *sums);
        for (int64_t i = 0; i < n; i++) {
            y[i] = (double)(x[i] + b[i / pixels % C]);
            sums[i / pixels % C] += (double)x[i];
        }
        for (int k = 0; k < BLOCKS * 2; k++) {
            int64_t threads = k % 2 ? THREADS : 1;
            struct pdnn_channels shape = shape_of(N, C, pixels, blocks[k / 2]);
            double *scratch = new_doubles(pdnn_channel_bias_scratch(&shape, threads));
            float *stored = new_stored(&shape, x), *apart = new_floats(pdnn_channels_elements(&shape));
            struct pdnn_channel_bias gradient = {.shape = shape, .x = stored, .db = db, .scratch = scratch};
            pdnn_channel_bias_gradient(&gradient, threads);
            check_channels(db, sums, C, 1e-6 + 2e-8 * (double)(N * pixels));
            struct pdnn_channel_bias forward = {.shape = shape,
                                                .x = stored,
                                                .b = b,
                                                .y = k % 2 ? apart : stored,
                                                .bypass = k % 2,
                                                .scratch = scratch};
            pdnn_channel_bias_forward(&forward, threads);
            check_stored(&shape, forward.y, y, 0);
            free_from(scratch);
        }
        free_from(x);
    }
}

/* Sums and products with a value for each channel. */
struct spread_case {
    struct pdnn_channels shape;
    int64_t threads, b_stride;
    bool adds, is_shared, is_half, in_place;
};

/* Values that bf16 has, too, as both types. */
static void *new_typed(const float *values, int64_t n, bool is_half) {
    if (!is_half)
        return new_copy(values, n);
    uint16_t *halves = new_array(n, sizeof *halves);
    pdnn_half_narrow(PDNN_HALF_BF16, values, halves, n);
    return halves;
}

static float *new_eighths(int64_t n) {
    float *values = new_floats(n);
    for (int64_t i = 0; i < n; i++)
        values[i] = floorf(8 * random_float()) / 8;
    return values;
}

static const float *widened(const void *typed, int64_t n, bool is_half) {
    float *values = new_floats(n);
    if (is_half)
        pdnn_half_widen(PDNN_HALF_BF16, typed, values, n);
    return is_half ? values : typed;
}

/* b's vectors a stride apart, zeros between them. */
static float *new_strided(const float *b, int64_t images, int64_t C, int64_t stride) {
    float *values = new_zeros(images * stride, sizeof *values);
    for (int64_t i = 0; i < images * C; i++)
        values[i / C * stride + i % C] = b[i];
    return values;
}

static void check_spread(const struct spread_case *t, const float *a, const float *b, const float *dy) {
    const struct pdnn_channels *s = &t->shape;
    int64_t n = plain_elements(s), images = t->is_shared ? 1 : s->N, stored = pdnn_channels_elements(s);
    int64_t vectors = images * t->b_stride;
    double *y = new_doubles(n), *da = new_doubles(n), *sums = new_zeros(images * s->C, sizeof *sums);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i / s->pixels % (images * s->C);
        y[i] = t->adds ? (double)(a[i] + b[at]) : (double)(a[i] * b[at]);
        da[i] = (double)(dy[i] * b[at]);
        sums[at] += t->adds ? (double)dy[i] : (double)(dy[i] * a[i]);
    }
    double rounding = t->is_half ? 4e-3 : 0, summed = 1e-6 + 2e-8 * (double)n + rounding;
    struct pdnn_spread job = {.shape = *s,
                              .adds = t->adds,
                              .is_shared = t->is_shared,
                              .b_stride = t->b_stride,
                              .half = PDNN_HALF_BF16,
                              .is_half = t->is_half,
                              .b_is_half = t->is_half && !t->is_shared};
    job.a = new_typed(new_stored(s, a), stored, t->is_half);
    job.b = new_typed(new_strided(b, images, s->C, t->b_stride), vectors, job.b_is_half);
    void *read = new_typed(new_stored(s, dy), stored, t->is_half);
    job.dy = read;
    job.db = new_typed(new_zeros(vectors, sizeof(float)), vectors, job.b_is_half);
    job.scratch = new_doubles(pdnn_spread_scratch(s, t->is_shared, t->threads));
    job.da = t->adds ? NULL : t->in_place ? read : new_floats(stored);
    job.bypass = !t->in_place && !t->is_half;
    pdnn_spread_backward(&job, t->threads);
    if (job.da)
        check_stored(s, widened(job.da, stored, t->is_half), da, rounding);
    const float *db = widened(job.db, vectors, job.b_is_half);
    for (int64_t i = 0; i < images * s->C; i++)
        assert_near((double)db[i / s->C * t->b_stride + i % s->C], sums[i], summed * (1 + fabs(sums[i])));
    for (int64_t i = 0; i < vectors; i++)
        assert_true(i % t->b_stride < s->C || db[i] == 0);
    job.y = t->in_place ? new_typed(new_stored(s, a), stored, t->is_half) : new_floats(stored);
    job.a = t->in_place ? job.y : job.a;
    pdnn_spread_forward(&job, t->threads);
    check_stored(s, widened(job.y, stored, t->is_half), y, rounding);
    free_from(y);
}

static void test_spread(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1},     {3, 20, 35}, {2, 13, 7},   {7, 16, 49},
                                        {1, 40, 2000}, {3, 5, 513}, {1, 2000, 9}, {19, 1, 1025},
                                        {2, 1030, 11}, {5, 1, 4100}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        int64_t N = shapes[k][0], C = shapes[k][1], pixels = shapes[k][2];
        float *a = new_eighths(N * C * pixels), *dy = new_eighths(N * C * pixels), *b = new_eighths(N * C);
        for (int way = 0; way < BLOCKS * 32; way++) {
            struct spread_case t = {
                .shape = shape_of(N, C, pixels, blocks[way / 32]),
                .threads = way & 1 ? THREADS : 1,
                .adds = way & 2,
                .is_shared = way & 4,
                .is_half = way & 8,
                .in_place = way & 16,
            };
            t.b_stride = way % 3 ? C : pdnn_channels_padded(&t.shape);
            check_spread(&t, a, b, dy);
        }
        free_from(a);
    }
}

/* Chunks of two arrays of 512 KiB each: one for each thread that has one of its own, if the cache holds
 * these; else as many as fit a quarter of it, and one. */
static void test_chunks_at_once(void **state) {
    (void)state;
    static const struct {
        int64_t block, threads;
        uint64_t cache_bytes;
        int64_t expected;
    } rows[] = {{16, 1, 1 << 20, 1}, {16, 2, 2 << 20, 2},  {16, 2, (2 << 20) - 1, 1},
                {16, 3, 4 << 20, 2}, {16, 3, 32 << 20, 4}, {64, 2, 64 << 20, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_channels shape = {2, 64, 4096, rows[i].block, PDNN_STORED_F32};
        const struct pdnn_chunks chunks = pdnn_chunks_of(&shape);
        const struct pdnn_chunk_run run = {&chunks, 2, rows[i].cache_bytes};
        assert_int_equal(pdnn_chunks_at_once(&run, rows[i].threads), rows[i].expected);
    }
}

static void test_channels_clear_padding(void **state) {
    (void)state;
    for (int b = 0; b < BLOCKS; b++) {
        struct pdnn_channels shape = shape_of(3, 13, 700, blocks[b]);
        int64_t n = plain_elements(&shape);
        float *plain = new_random(n, 1), *stored = new_random(pdnn_channels_elements(&shape), 1);
        double *expected = new_doubles(n);
        for (int64_t i = 0; i < n; i++) {
            expected[i] = (double)plain[i];
            stored[place(&shape, i)] = plain[i];
        }
        pdnn_channels_clear_padding(stored, sizeof *stored, &shape, THREADS);
        check_stored(&shape, stored, expected, 0);
        uint16_t *half = new_array(pdnn_channels_elements(&shape), sizeof *half);
        pdnn_channels_clear_padding(half, sizeof *half, &shape, THREADS);
        int64_t kept = 0;
        for (int64_t i = 0; i < pdnn_channels_elements(&shape); i++)
            kept += half[i] == 0xffff;
        assert_int_equal(kept, n);
        free_from(plain);
    }
}

/* Pooling: plain inputs and expected outputs. */
struct pooling {
    struct pdnn_pool pool;
    float *x, *dy;
    int8_t *index;
    double *y[2], *dx[2]; /* for max and average */
};

enum { MAX, AVERAGE };

static int64_t images_in(const struct pdnn_pool *p) {
    return p->rows.input * p->columns.input;
}

static int64_t images_out(const struct pdnn_pool *p) {
    return p->rows.output * p->columns.output;
}

/* One window, from a plane of x to output `out`, and backward. */
static void expect_window(struct pooling *t, int64_t plane, int64_t out) {
    const struct pdnn_pool_window *rows = &t->pool.rows, *columns = &t->pool.columns;
    int64_t to = plane * images_out(&t->pool) + out, best = -1, place_of_best = -1, count = 0;
    int64_t place_of[128];
    double sum = 0;
    for (int64_t tap = 0; tap < rows->kernel * columns->kernel; tap++) {
        int64_t h = out / columns->output * rows->stride - rows->padding + tap / columns->kernel;
        int64_t w = out % columns->output * columns->stride - columns->padding + tap % columns->kernel;
        if (h < 0 || h >= rows->input || w < 0 || w >= columns->input)
            continue;
        int64_t from = plane * images_in(&t->pool) + h * columns->input + w;
        place_of[count++] = from;
        sum += (double)t->x[from];
        if (best < 0 || t->x[from] > t->x[place_of_best] || isnan(t->x[from])) {
            best = tap;
            place_of_best = from;
        }
    }
    t->y[MAX][to] = (double)t->x[place_of_best];
    t->index[to] = (int8_t)best;
    t->y[AVERAGE][to] = sum / (double)count;
    t->dx[MAX][place_of_best] += (double)t->dy[to];
    for (int64_t i = 0; i < count; i++)
        t->dx[AVERAGE][place_of[i]] += (double)t->dy[to] / (double)count;
}

/* Integers from -3 to 3, so that there are ties; `spoilt`: about one in ten is NaN. */
static struct pooling new_pooling(const struct pdnn_pool *pool, bool spoilt) {
    struct pooling t = {.pool = *pool};
    int64_t planes = pool->N * pool->C, in = planes * images_in(pool), out = planes * images_out(pool);
    t.x = new_random(in, 1);
    t.dy = new_random(out, 1);
    t.index = new_array(out, 1);
    for (int64_t i = 0; i < in; i++)
        t.x[i] = spoilt && t.x[i] > 0.8F ? NAN : rintf(3 * t.x[i]);
    for (int kind = 0; kind < 2; kind++) {
        t.y[kind] = new_doubles(out);
        t.dx[kind] = new_zeros(in, sizeof(double));
    }
    for (int64_t i = 0; i < out; i++)
        expect_window(&t, i / images_out(pool), i % images_out(pool));
    return t;
}

static void check_pooling(const struct pooling *t, int64_t block, int64_t threads) {
    struct pdnn_pool pool = t->pool;
    struct pdnn_channels in = shape_of(pool.N, pool.C, images_in(&pool), block);
    struct pdnn_channels out = shape_of(pool.N, pool.C, images_out(&pool), block);
    float *x = new_stored(&in, t->x), *dy = new_stored(&out, t->dy);
    float *y = new_floats(pdnn_channels_elements(&out)), *dx = new_floats(pdnn_channels_elements(&in));
    int8_t *index = new_array(pdnn_channels_elements(&out), 1);
    pool.block = in.block;
    pdnn_pool_max_forward(&pool, x, y, NULL, threads);
    check_stored(&out, y, t->y[MAX], 0);
    pdnn_pool_max_forward(&pool, x, y, index, threads);
    check_stored(&out, y, t->y[MAX], 0);
    for (int64_t i = 0; i < plain_elements(&out); i++)
        assert_int_equal(index[place(&out, i)], t->index[i]);
    pdnn_pool_max_backward(&pool, dy, index, dx, threads);
    check_stored(&in, dx, t->dx[MAX], 1e-5);
    pdnn_pool_average_forward(&pool, x, y, threads);
    check_stored(&out, y, t->y[AVERAGE], 1e-5);
    pdnn_pool_average_backward(&pool, dy, dx, threads);
    check_stored(&in, dx, t->dx[AVERAGE], 1e-5);
    free_from(x);
}

/* NaN wherever a window contains one, with or without an index. */
static void check_spoilt(const struct pooling *t, int64_t block) {
    struct pdnn_pool pool = t->pool;
    struct pdnn_channels in = shape_of(pool.N, pool.C, images_in(&pool), block);
    struct pdnn_channels out = shape_of(pool.N, pool.C, images_out(&pool), block);
    float *x = new_stored(&in, t->x), *y[2];
    int8_t *index = new_array(pdnn_channels_elements(&out), 1);
    int64_t n_spoilt = 0;
    pool.block = in.block;
    for (int way = 0; way < 2; way++) {
        y[way] = new_floats(pdnn_channels_elements(&out));
        pdnn_pool_max_forward(&pool, x, y[way], way ? index : NULL, THREADS);
    }
    for (int64_t i = 0; i < plain_elements(&out); i++) {
        int64_t at = place(&out, i);
        bool is_spoilt = isnan(t->y[MAX][i]);
        for (int way = 0; way < 2; way++)
            assert_true(is_spoilt ? isnan(y[way][at]) : (double)y[way][at] == t->y[MAX][i]);
        assert_int_equal(index[at], t->index[i]);
        n_spoilt += is_spoilt;
    }
    assert_true(n_spoilt > 0);
    free_from(x);
}

static int64_t positions(int64_t input, int64_t kernel, int64_t stride, int64_t padding) {
    return (input + 2 * padding - kernel) / stride + 1;
}

static void test_pool(void **state) {
    (void)state;
    static const struct {
        int64_t N, C, H, W, kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w;
    } rows[] = {
        {2, 3, 9, 7, 3, 3, 2, 2, 1, 1},     {1, 20, 8, 8, 2, 2, 2, 2, 0, 0},
        {2, 13, 7, 7, 7, 7, 1, 1, 0, 0},    {1, 16, 8, 8, 7, 7, 1, 1, 0, 0},
        {2, 8, 5, 6, 3, 2, 1, 3, 1, 0},     {3, 20, 4, 4, 2, 2, 3, 3, 1, 1},
        {1, 1, 11, 11, 11, 11, 1, 1, 5, 5}, {1, 40, 33, 31, 3, 3, 2, 2, 1, 1},
        {2, 32, 24, 25, 3, 3, 2, 1, 0, 2},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pdnn_pool pool = {
            .N = rows[r].N,
            .C = rows[r].C,
            .rows = {rows[r].H, positions(rows[r].H, rows[r].kernel_h, rows[r].stride_h, rows[r].padding_h),
                     rows[r].kernel_h, rows[r].stride_h, rows[r].padding_h},
            .columns = {rows[r].W,
                        positions(rows[r].W, rows[r].kernel_w, rows[r].stride_w, rows[r].padding_w),
                        rows[r].kernel_w, rows[r].stride_w, rows[r].padding_w},
        };
        struct pooling t = new_pooling(&pool, false), spoilt = new_pooling(&pool, true);
        for (int b = 0; b < BLOCKS; b++) {
            check_pooling(&t, blocks[b], 1);
            check_pooling(&t, blocks[b], THREADS);
            check_spoilt(&spoilt, blocks[b]);
        }
        free_from(t.x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batchnorm_training),
        cmocka_unit_test(test_batchnorm_training_far_from_0),
        cmocka_unit_test(test_batchnorm_inference_posts),
        cmocka_unit_test(test_batchnorm_not_a_number),
        cmocka_unit_test(test_batchnorm_backward),
        cmocka_unit_test(test_batchnorm_frozen_backward),
        cmocka_unit_test(test_channel_bias),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_chunks_at_once),
        cmocka_unit_test(test_channels_clear_padding),
        cmocka_unit_test(test_pool),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
