/* Group normalization of images against naive loops in double: every layout with its padded channels, odd
 * sizes, split among threads in both ways, in place. N minibatch, C channels. */
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"
#include "tests/runtime/stored_images.h"

#include "runtime/kernels/images/batchnorm.h"
#include "runtime/kernels/images/groupnorm.h"

#include <math.h>
#include <omp.h>

/* Group normalization: plain inputs and expected outputs. */
struct group_norm {
    int64_t N, C, pixels, groups;
    float *x, *dy, *gamma, *beta;
    double *y, *dx, *mean, *inverse_std, *dgamma, *dbeta;
};

static void expect_group(struct group_norm *t, int64_t group) {
    const int64_t channels = t->C / t->groups, M = channels * t->pixels, from = group * M,
                  first = group % t->groups * channels;
    double mean = 0, square = 0, sum = 0, product = 0;
    for (int64_t i = from; i < from + M; i++)
        mean += (double)t->x[i] / (double)M;
    for (int64_t i = from; i < from + M; i++)
        square += pow((double)t->x[i] - mean, 2);
    const double inverse_std = 1 / sqrt(square / (double)M + 1e-5);
    t->mean[group] = mean;
    t->inverse_std[group] = inverse_std;
    for (int64_t i = from; i < from + M; i++) {
        const int64_t c = first + (i - from) / t->pixels;
        const double xhat = ((double)t->x[i] - mean) * inverse_std, dy = (double)t->dy[i];
        t->y[i] = (double)t->gamma[c] * xhat + (double)t->beta[c];
        t->dgamma[c] += dy * xhat;
        t->dbeta[c] += dy;
        sum += (double)t->gamma[c] * dy / (double)M;
        product += (double)t->gamma[c] * dy * xhat / (double)M;
    }
    for (int64_t i = from; i < from + M; i++) {
        const double xhat = ((double)t->x[i] - mean) * inverse_std,
                     gamma = (double)t->gamma[first + (i - from) / t->pixels];
        t->dx[i] = inverse_std * (gamma * (double)t->dy[i] - sum - xhat * product);
    }
}

static struct group_norm new_group_norm(int64_t N, int64_t C, int64_t pixels, int64_t groups, float offset) {
    const int64_t n = N * C * pixels;
    struct group_norm t = {.N = N, .C = C, .pixels = pixels, .groups = groups};
    t.x = new_random(n, 2);
    t.dy = new_random(n, 1);
    t.gamma = new_random(C, 1);
    t.beta = new_random(C, 1);
    t.y = new_doubles(n);
    t.dx = new_doubles(n);
    t.mean = new_doubles(N * groups);
    t.inverse_std = new_doubles(N * groups);
    t.dgamma = new_zeros(C, sizeof *t.dgamma);
    t.dbeta = new_zeros(C, sizeof *t.dbeta);
    for (int64_t i = 0; i < n; i++)
        t.x[i] += offset;
    t.gamma[C / 2] = 0; /* hides x, and still has a gradient */
    for (int64_t group = 0; group < N * groups; group++)
        expect_group(&t, group);
    return t;
}

/* Ways to run the same job: number of threads, assumed cache size, streaming stores. */
static const struct pdnn_groupnorm_options ways[] = {
    {1, 32 << 20, false, NULL}, {THREADS, 32 << 20, false, NULL}, {THREADS, 0, true, NULL}};
enum { WAYS = sizeof ways / sizeof *ways };

static struct pdnn_groupnorm_options new_group_way(int way, const struct pdnn_channels *shape, int64_t groups,
                                                   bool is_backward) {
    const struct pdnn_groupnorm_options *as = &ways[way];
    const int64_t doubles = pdnn_groupnorm_scratch(shape, groups, is_backward, as->threads, as->cache_bytes);
    return (struct pdnn_groupnorm_options){as->threads, as->cache_bytes, as->bypass, new_doubles(doubles)};
}

static void check_group_forward(const struct group_norm *t, const struct pdnn_channels *shape, int way,
                                bool in_place, double tolerance) {
    const int64_t statistics = t->N * t->groups;
    float *x = new_stored(shape, t->x), *apart = new_floats(pdnn_channels_elements(shape)),
          *mean = new_floats(statistics), *inverse_std = new_floats(statistics);
    const struct pdnn_groupnorm_options options = new_group_way(way, shape, t->groups, false);
    const struct pdnn_groupnorm_forward job = {
        *shape, t->groups, x, t->gamma, t->beta, mean, inverse_std, 1e-5, in_place ? x : apart};
    pdnn_groupnorm_forward(&job, &options);
    check_stored(shape, job.y, t->y, tolerance);
    check_channels(mean, t->mean, statistics, tolerance);
    check_channels(inverse_std, t->inverse_std, statistics, tolerance);
    free_from(x);
}

static void check_group_backward(const struct group_norm *t, const struct pdnn_channels *shape, int way,
                                 bool in_place, double tolerance) {
    float *x = new_stored(shape, t->x), *dy = new_stored(shape, t->dy),
          *apart = new_floats(pdnn_channels_elements(shape)), *dgamma = new_floats(t->C),
          *dbeta = new_floats(t->C), *mean = new_rounded(t->mean, t->N * t->groups),
          *inverse_std = new_rounded(t->inverse_std, t->N * t->groups);
    const struct pdnn_groupnorm_options options = new_group_way(way, shape, t->groups, true);
    const struct pdnn_groupnorm_backward job = {
        *shape, t->groups, dy, x, t->gamma, mean, inverse_std, in_place ? dy : apart, dgamma, dbeta};
    const double sum_tolerance = tolerance + 2e-8 * (double)(t->N * t->pixels);
    pdnn_groupnorm_backward(&job, &options);
    check_stored(shape, job.dx, t->dx, tolerance);
    check_channels(dgamma, t->dgamma, t->C, sum_tolerance);
    check_channels(dbeta, t->dbeta, t->C, sum_tolerance);
    free_from(x);
}

/* Groups of one channel, of whole rows of the layouts, and such that end inside of them; all channels as one.
 * Statistics that nobody asked for are as good. */
static void test_groupnorm(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{2, 6, 35, 2},    {1, 13, 1, 13},  {3, 20, 49, 4},
                                        {2, 32, 600, 2},  {1, 40, 300, 4}, {1, 20, 700, 1},
                                        {20, 24, 90, 12}, {3, 26, 49, 2},  {1, 48, 2100, 4}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct group_norm t = new_group_norm(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], 0.3F);
        for (int b = 0; b < BLOCKS * WAYS * 2; b++) {
            const struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / 2 / WAYS]);
            check_group_forward(&t, &shape, b / 2 % WAYS, b % 2, 1e-5);
            check_group_backward(&t, &shape, b / 2 % WAYS, b % 2, t.pixels == 1 ? 2e-3 : 1e-5);
            const struct pdnn_groupnorm_options options =
                new_group_way(b / 2 % WAYS, &shape, t.groups, false);
            float *y = new_stored(&shape, t.x);
            const struct pdnn_groupnorm_forward inference = {shape, t.groups, y,    t.gamma, t.beta,
                                                             NULL,  NULL,     1e-5, y};
            pdnn_groupnorm_forward(&inference, &options);
            check_stored(&shape, y, t.y, 1e-5);
            free_from(options.scratch);
        }
        free_from(t.x);
    }
}

/* 16-bit images give what the same values in f32 do, also in place. */
static void test_groupnorm_half(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{2, 6, 35, 2}, {3, 20, 49, 4}, {2, 32, 600, 2}, {2, 600, 60, 4}};
    for (int k = 0; k < 4 * BLOCKS * WAYS * 4; k++) {
        const int64_t *of = shapes[k / 4 / WAYS / BLOCKS];
        const int way = k / 4 % WAYS;
        struct group_norm t = new_group_norm(of[0], of[1], of[2], of[3], 0.3F);
        struct pdnn_channels wide = shape_of(t.N, t.C, t.pixels, blocks[k / 4 / WAYS % BLOCKS]), half = wide;
        half.stored = k % 2 ? PDNN_STORED_F16 : PDNN_STORED_BF16;
        const int64_t n = pdnn_channels_elements(&wide), groups = t.N * t.groups;
        float *x = new_stored(&wide, t.x), *dy = new_stored(&wide, t.dy), *y = new_floats(n),
              *dx = new_floats(n), *mean = new_floats(groups), *inverse_std = new_floats(groups),
              *dgamma = new_floats(t.C), *dbeta = new_floats(t.C), *other = new_floats(t.C);
        uint16_t *half_x = new_halves(x, n, half.stored), *half_dy = new_halves(dy, n, half.stored),
                 *apart = new_halves(y, n, half.stored);
        struct pdnn_groupnorm_backward back = {wide, t.groups,    dy, x,      t.gamma,
                                               mean, inverse_std, dx, dgamma, dbeta};
        struct pdnn_groupnorm_forward job = {wide, t.groups, x, t.gamma, t.beta, mean, inverse_std, 1e-5, y};
        struct pdnn_groupnorm_options as = new_group_way(way, &wide, t.groups, false);
        pdnn_groupnorm_forward(&job, &as);
        as = new_group_way(way, &wide, t.groups, true);
        pdnn_groupnorm_backward(&back, &as);
        as = new_group_way(way, &half, t.groups, true);
        back.shape = job.shape = half;
        back.dy = half_dy;
        back.x = job.x = half_x;
        back.dx = k / 2 % 2 ? half_dy : apart;
        back.dgamma = other;
        pdnn_groupnorm_backward(&back, &as);
        check_halves(&half, back.dx, dx);
        for (int64_t c = 0; c < t.C; c++)
            assert_near((double)other[c], (double)dgamma[c], 1e-4 * (1 + fabs((double)dgamma[c])));
        as = new_group_way(way, &half, t.groups, false);
        job.y = k / 2 % 2 ? half_x : apart;
        pdnn_groupnorm_forward(&job, &as);
        check_halves(&half, job.y, y);
        free_from(t.x);
    }
}

/* The same of batchnorm, with a summand and an activation. */
static void test_batchnorm_half(void **state) {
    (void)state;
    static const struct pdnn_bounds relu = {0, INFINITY};
    static const int64_t shapes[][3] = {{2, 3, 35}, {3, 20, 49}, {2, 40, 300}, {20, 300, 9}, {1, 13, 3136}};
    for (int k = 0; k < 5 * BLOCKS * WAYS * 4; k++) {
        const int64_t *of = shapes[k / 4 / WAYS / BLOCKS], C = of[1], threads = ways[k / 4 % WAYS].threads;
        const struct pdnn_channels wide = shape_of(of[0], C, of[2], blocks[k / 4 / WAYS % BLOCKS]);
        struct pdnn_channels half = wide;
        half.stored = k % 2 ? PDNN_STORED_F16 : PDNN_STORED_BF16;
        const int64_t n = pdnn_channels_elements(&wide), plain = plain_elements(&wide);
        float *image[4], *y = new_floats(n), *dx = new_floats(n), *gamma = new_random(C, 1),
                         *beta = new_random(C, 1), *mean = new_floats(C), *inverse_std = new_floats(C),
                         *dgamma = new_floats(C), *dbeta = new_floats(C), *got = new_floats(C);
        uint16_t *halves[4], *apart = new_halves(y, n, half.stored);
        for (int i = 0; i < 4; i++) {
            image[i] = new_stored(&wide, new_random(plain, 1));
            halves[i] = new_halves(image[i], n, half.stored);
        }
        struct pdnn_batchnorm_options as = {threads, ways[k / 4 % WAYS].cache_bytes,
                                            ways[k / 4 % WAYS].bypass,
                                            new_doubles(pdnn_batchnorm_scratch(&half, threads))};
        struct pdnn_batchnorm_forward job = {.shape = wide,
                                             .x = image[0],
                                             .gamma = gamma,
                                             .beta = beta,
                                             .mean = mean,
                                             .inverse_std = inverse_std,
                                             .epsilon = 1e-5,
                                             .other = image[1],
                                             .last = &relu,
                                             .y = y};
        struct pdnn_batchnorm_backward back = {.shape = wide,
                                               .dy = image[2],
                                               .gamma = gamma,
                                               .x = image[0],
                                               .mean = mean,
                                               .inverse_std = inverse_std,
                                               .clipped = image[3],
                                               .bounds = relu,
                                               .dx = dx,
                                               .dgamma = dgamma,
                                               .dbeta = dbeta};
        pdnn_batchnorm_forward(&job, &as);
        pdnn_batchnorm_backward(&back, &as);
        back.shape = job.shape = half;
        back.x = job.x = halves[0];
        back.dy = halves[2];
        back.clipped = halves[3];
        back.dx = k / 2 % 2 ? halves[2] : apart;
        back.dgamma = got;
        pdnn_batchnorm_backward(&back, &as);
        check_halves(&half, back.dx, dx);
        for (int64_t c = 0; c < C; c++)
            assert_near((double)got[c], (double)dgamma[c], 1e-4 * (1 + fabs((double)dgamma[c])));
        job.other = halves[1];
        job.y = k / 2 % 2 ? halves[0] : apart;
        pdnn_batchnorm_forward(&job, &as);
        check_halves(&half, job.y, y);
        free_from(y);
    }
}

/* A mean of a thousand deviations. */
static void test_groupnorm_far_from_0(void **state) {
    (void)state;
    struct group_norm t = new_group_norm(2, 20, 1500, 4, 1000);
    for (int b = 0; b < BLOCKS * WAYS; b++) {
        const struct pdnn_channels shape = shape_of(t.N, t.C, t.pixels, blocks[b / WAYS]);
        check_group_forward(&t, &shape, b % WAYS, false, 1e-5);
    }
    free_from(t.x);
}

/* Sections of 512 KiB in two arrays: one for each thread, if the cache holds these. A group of 24 channels
 * and rows of 16 share sections of 48, an image channels-last is one. */
static void test_groupnorm_held_bytes(void **state) {
    (void)state;
    static const struct {
        int64_t C, groups, block, threads;
        uint64_t cache_bytes;
        uint64_t channels;
    } rows[] = {{64, 2, 1, 2, 32 << 20, 64},  {64, 2, 1, 1, 32 << 20, 32},  {96, 4, 16, 2, 32 << 20, 96},
                {96, 4, 16, 1, 32 << 20, 48}, {96, 4, 96, 1, 32 << 20, 96}, {96, 4, 96, 2, 32 << 20, 96},
                {64, 2, 1, 2, 0, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_channels shape = {1, rows[i].C, 4096, rows[i].block, PDNN_STORED_F32};
        assert_int_equal(
            pdnn_groupnorm_held_bytes(&shape, rows[i].groups, false, rows[i].threads, rows[i].cache_bytes),
            rows[i].channels * 4096 * sizeof(float));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groupnorm),
        cmocka_unit_test(test_groupnorm_half),
        cmocka_unit_test(test_batchnorm_half),
        cmocka_unit_test(test_groupnorm_far_from_0),
        cmocka_unit_test(test_groupnorm_held_bytes),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
