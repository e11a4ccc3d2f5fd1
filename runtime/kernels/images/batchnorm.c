#include "runtime/kernels/images/batchnorm.h"

#include "runtime/kernels/images/channel_loops.h"
#include "runtime/kernels/simd/kernel.h"

#include <math.h>
#include <string.h>

enum { TOTALS = 2, COEFS = 4, TILE_ARRAYS = 3 };

/* Sums run in float over a tile and in double over tiles, for each part of a chunk's pixels (channels.h). */
struct batchnorm {
    const struct pdnn_batchnorm_forward *forward;
    const struct pdnn_batchnorm_backward *backward;
    struct pdnn_chunks chunks;
    const struct pdnn_channel_sums *sums;
    const struct pdnn_channel_maps *maps;
    int64_t padded, pixels; /* channels with padding; values per channel */
    double *total[TOTALS];  /* (parts, padded) each */
    double *count;          /* (parts): pixels per part */
    float *coef[COEFS];     /* (padded) each */
    float *tile;            /* (parts, TILE_ARRAYS, padded) */
    bool bypass;
};

PDNN_KERNEL_VALUE(int64_t, pdnn_batchnorm_scratch, (const struct pdnn_channels *shape, int64_t threads),
                  (shape, threads)) {
    int64_t padded = pdnn_channels_padded(shape);
    return TOTALS * threads * padded + threads + (COEFS + TILE_ARRAYS * threads) * (padded + 1) / 2 + 1;
}

static void lay_out(struct batchnorm *b, const struct pdnn_channels *shape,
                    const struct pdnn_batchnorm_options *options) {
    b->padded = pdnn_channels_padded(shape);
    b->pixels = shape->N * shape->pixels;
    b->chunks = pdnn_chunks_of(shape);
    b->sums = PDNN_HERE(pdnn_channel_sums)(b->chunks.rows.width);
    b->maps = PDNN_HERE(pdnn_channel_maps)(b->chunks.rows.width);
    b->bypass = options->bypass && pdnn_channels_can_bypass(shape);
    for (int i = 0; i < TOTALS; i++)
        b->total[i] = options->scratch + i * options->threads * b->padded;
    b->count = options->scratch + TOTALS * options->threads * b->padded;
    float *floats = (float *)(b->count + options->threads);
    for (int i = 0; i < COEFS; i++, floats += b->padded) {
        b->coef[i] = floats;
        memset(floats + shape->C, 0, (size_t)(b->padded - shape->C) * sizeof *floats);
    }
    b->tile = floats;
}

/* Merges sums of `count` values, relative to center, into the mean and sum of squared distances of
 * `before` values. Chan, Golub, LeVeque, Updating formulae and a pairwise algorithm for computing
 * sample variances, 1979. */
static void add_moments(double *mean, double *square, const float *center, const float *sums, int64_t width,
                        double count, double before) {
    double share = count / (before + count), inverse = 1 / count;
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        double sum = (double)sums[i], offset = sum * inverse;
        double delta = (double)center[i] + offset - mean[i];
        mean[i] += delta * share;
        square[i] += (double)sums[width + i] - sum * offset + delta * delta * before * share;
    }
}

/* Centers each tile on the mean so far (the first tile on its own mean), so that the squares are never much
 * larger than the variance, wherever the mean is. */
static void gather_moments(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    struct batchnorm *b = job;
    int64_t width = b->chunks.rows.width, at = part * b->padded + chunk * width, done = 0;
    double *mean = b->total[0] + at, *square = b->total[1] + at;
    float *sums = b->tile + part * TILE_ARRAYS * b->padded, *center = sums + 2 * width;
    memset(mean, 0, (size_t)width * sizeof *mean);
    memset(square, 0, (size_t)width * sizeof *square);
    memset(center, 0, (size_t)width * sizeof *center);
    b->count[part] = (double)(span.end - span.begin);
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        const float *x = b->forward->x + tile.offset;
        if (done == 0)
            b->sums->moments(x, &tile.rows, center, sums);
        for (int64_t i = 0; i < width; i++)
            center[i] = done ? (float)mean[i] : sums[i] / (float)tile.pixels;
        b->sums->moments(x, &tile.rows, center, sums);
        add_moments(mean, square, center, sums, width, (double)tile.pixels, (double)done);
        done += tile.pixels;
        span.begin += tile.pixels;
    }
}

/* Merges two parts of a chunk in the same way; the first keeps the result. */
static void join_moments(double *mean, double *square, const double *more_mean, const double *more_square,
                         int64_t width, double count, double before) {
    double share = count / (before + count);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        double delta = more_mean[i] - mean[i];
        mean[i] += delta * share;
        square[i] += more_square[i] + delta * delta * before * share;
    }
}

/* Arrays offset to the first channel of a chunk, and constants. */
struct channels {
    const double *mean, *square; /* training */
    const float *gamma, *beta;
    float *batch_mean, *inverse_std;        /* training */
    float *running_mean, *running_variance; /* training; or NULL */
    float *center, *scale, *shift;
    double pixels, epsilon, momentum;
};

static struct channels channels_of(const struct batchnorm *b, int64_t first, int64_t part) {
    const struct pdnn_batchnorm_forward *f = b->forward;
    return (struct channels){
        .mean = b->total[0] + part * b->padded + first,
        .square = b->total[1] + part * b->padded + first,
        .gamma = f->gamma + first,
        .beta = f->beta + first,
        .batch_mean = f->mean ? f->mean + first : NULL,
        .inverse_std = f->inverse_std ? f->inverse_std + first : NULL,
        .running_mean = f->running_mean ? f->running_mean + first : NULL,
        .running_variance = f->running_variance ? f->running_variance + first : NULL,
        .center = b->coef[0] + first,
        .scale = b->coef[1] + first,
        .shift = b->coef[2] + first,
        .pixels = (double)b->pixels,
        .epsilon = f->epsilon,
        .momentum = f->momentum,
    };
}

/* Channels in the chunk, without padding. */
static int64_t count_channels(const struct batchnorm *b, int64_t first, int64_t C) {
    return C - first < b->chunks.rows.width ? C - first : b->chunks.rows.width;
}

/* y = (x - mean) * scale + beta. shift also makes up for the rounding of the mean to float. */
PDNN_INLINE void set_scale(const struct channels *c, int64_t i, double mean, double inverse_std) {
    double scale = (double)c->gamma[i] * inverse_std, center = (double)(float)mean;
    c->center[i] = (float)center;
    c->scale[i] = (float)scale;
    c->shift[i] = (float)((double)c->beta[i] + (center - mean) * scale);
}

static void finish_batch(const struct channels *c, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        double mean = c->mean[i], inverse_std = 1 / sqrt(c->square[i] / c->pixels + c->epsilon);
        c->batch_mean[i] = (float)mean;
        c->inverse_std[i] = (float)inverse_std;
        set_scale(c, i, mean, inverse_std);
    }
}

static void move_running(const struct channels *c, int64_t n) {
    double keep = 1 - c->momentum, unbiased = c->pixels > 1 ? c->pixels - 1 : c->pixels;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        c->running_mean[i] = (float)(keep * (double)c->running_mean[i] + c->momentum * c->mean[i]);
        c->running_variance[i] =
            (float)(keep * (double)c->running_variance[i] + c->momentum * (c->square[i] / unbiased));
    }
}

static void finish_running(const struct channels *c, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        set_scale(c, i, (double)c->running_mean[i], 1 / sqrt((double)c->running_variance[i] + c->epsilon));
}

static void finish_training(void *job, int64_t chunk, struct pdnn_span parts) {
    struct batchnorm *b = job;
    int64_t width = b->chunks.rows.width, first = chunk * width, at = parts.begin * b->padded + first;
    double before = b->count[parts.begin];
    for (int64_t part = parts.begin + 1; part < parts.end; part++) {
        int64_t more = part * b->padded + first;
        if (b->count[part] > 0)
            join_moments(b->total[0] + at, b->total[1] + at, b->total[0] + more, b->total[1] + more, width,
                         b->count[part], before);
        before += b->count[part];
    }
    const struct channels channels = channels_of(b, first, parts.begin);
    finish_batch(&channels, count_channels(b, first, b->forward->shape.C));
    if (channels.running_mean)
        move_running(&channels, count_channels(b, first, b->forward->shape.C));
}

static void finish_inference(void *job, int64_t chunk, struct pdnn_span parts) {
    struct batchnorm *b = job;
    int64_t first = chunk * b->chunks.rows.width;
    const struct channels channels = channels_of(b, first, parts.begin);
    finish_running(&channels, count_channels(b, first, b->forward->shape.C));
}

static void apply_affine(void *job, int64_t chunk, struct pdnn_span span) {
    const struct batchnorm *b = job;
    const struct pdnn_batchnorm_forward *f = b->forward;
    int64_t first = chunk * b->chunks.rows.width;
    bool relu_now = f->relu_first || (f->relu && !f->other), relu_last = f->relu && f->other;
    const struct pdnn_affine affine = {b->coef[0] + first,        b->coef[1] + first,
                                       b->coef[2] + first,        relu_now ? 0 : -INFINITY,
                                       relu_last ? 0 : -INFINITY, b->bypass};
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        const float *other = f->other ? f->other + tile.offset : NULL;
        b->maps->affine(f->x + tile.offset, other, f->y + tile.offset, &tile.rows, &affine);
        span.begin += tile.pixels;
    }
}

static void run(struct batchnorm *b, const struct pdnn_chunk_kernel *kernel, int64_t arrays,
                const struct pdnn_batchnorm_options *options) {
    struct pdnn_chunk_run how = {&b->chunks, arrays, options->cache_bytes};
    pdnn_chunks_run(kernel, b, &how, options->threads);
}

PDNN_KERNEL(pdnn_batchnorm_forward,
            (const struct pdnn_batchnorm_forward *job, const struct pdnn_batchnorm_options *options),
            (job, options)) {
    static const struct pdnn_chunk_kernel training = {gather_moments, finish_training, apply_affine};
    static const struct pdnn_chunk_kernel inference = {NULL, finish_inference, apply_affine};
    struct batchnorm b = {.forward = job};
    lay_out(&b, &job->shape, options);
    run(&b, job->mean ? &training : &inference, job->other ? 3 : 2, options);
}

static void add_products(double *sum, double *product, const float *sums, int64_t width) {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        sum[i] += (double)sums[i];
        product[i] += (double)sums[width + i];
    }
}

static const float *advanced(const float *array, int64_t offset) {
    return array ? array + offset : NULL;
}

static void gather_products(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    struct batchnorm *b = job;
    const struct pdnn_batchnorm_backward *k = b->backward;
    int64_t width = b->chunks.rows.width, first = chunk * width;
    double *sum = b->total[0] + part * b->padded + first, *product = b->total[1] + part * b->padded + first;
    float *sums = b->tile + part * TILE_ARRAYS * b->padded;
    memset(sum, 0, (size_t)width * sizeof *sum);
    memset(product, 0, (size_t)width * sizeof *product);
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        b->sums->products(k->dy + tile.offset, advanced(k->mask, tile.offset), k->x + tile.offset, &tile.rows,
                          b->coef[0] + first, sums);
        add_products(sum, product, sums, width);
        span.begin += tile.pixels;
    }
}

/* dx = scale * (dy - sum / M - (x - mean) * inverse_std^2 * product / M), product = sum of dy *
 * (x - mean). */
static void finish_backward(void *job, int64_t chunk, struct pdnn_span parts) {
    struct batchnorm *b = job;
    const struct pdnn_batchnorm_backward *k = b->backward;
    int64_t first = chunk * b->chunks.rows.width, end = first + count_channels(b, first, k->shape.C);
    for (int64_t c = first; c < end; c++) {
        double sum = 0, product = 0, inverse_std = (double)k->inverse_std[c];
        for (int64_t part = parts.begin; part < parts.end; part++) {
            sum += b->total[0][part * b->padded + c];
            product += b->total[1][part * b->padded + c];
        }
        k->dbeta[c] = (float)sum;
        k->dgamma[c] = (float)(product * inverse_std);
        b->coef[1][c] = (float)((double)k->gamma[c] * inverse_std);
        b->coef[2][c] = (float)(-inverse_std * inverse_std * product / (double)b->pixels);
        b->coef[3][c] = (float)(sum / (double)b->pixels);
    }
}

static void apply_gradient(void *job, int64_t chunk, struct pdnn_span span) {
    const struct batchnorm *b = job;
    const struct pdnn_batchnorm_backward *k = b->backward;
    int64_t first = chunk * b->chunks.rows.width;
    const struct pdnn_gradient gradient = {b->coef[0] + first, b->coef[1] + first, b->coef[2] + first,
                                           b->coef[3] + first, b->bypass};
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        b->maps->gradient(k->dy + tile.offset, advanced(k->mask, tile.offset), k->x + tile.offset,
                          k->dx + tile.offset, &tile.rows, &gradient);
        span.begin += tile.pixels;
    }
}

PDNN_KERNEL(pdnn_batchnorm_backward,
            (const struct pdnn_batchnorm_backward *job, const struct pdnn_batchnorm_options *options),
            (job, options)) {
    static const struct pdnn_chunk_kernel backward = {gather_products, finish_backward, apply_gradient};
    struct batchnorm b = {.backward = job};
    lay_out(&b, &job->shape, options);
    memcpy(b.coef[0], job->mean, (size_t)job->shape.C * sizeof(float));
    run(&b, &backward, job->mask ? 4 : 3, options);
}
