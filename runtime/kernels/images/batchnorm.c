#include "runtime/kernels/images/batchnorm.h"

#include "runtime/kernels/images/channel_moments.h"
#include "runtime/kernels/simd/kernel.h"

#include <math.h>
#include <string.h>

enum { TOTALS = 2, COEFS = 4, TILE_ARRAYS = 3, TILES = 3 };

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
    float *tile;            /* (parts): TILE_ARRAYS of padded channels, TILES of 16-bit elements, widened */
    int64_t tile_floats;    /* of a part */
    bool bypass;
};

static int64_t tile_floats(const struct pdnn_channels *shape) {
    const struct pdnn_chunks chunks = pdnn_chunks_of(shape);
    const int64_t widened = shape->stored == PDNN_STORED_F32 ? 0 : TILES * pdnn_chunk_tile_elements(&chunks);
    return TILE_ARRAYS * pdnn_channels_padded(shape) + widened;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_batchnorm_scratch, (const struct pdnn_channels *shape, int64_t threads),
                  (shape, threads)) {
    int64_t padded = pdnn_channels_padded(shape);
    const int64_t floats = COEFS * padded + threads * tile_floats(shape);
    return TOTALS * threads * padded + threads + (floats + 1) / 2;
}

static void lay_out(struct batchnorm *b, const struct pdnn_channels *shape,
                    const struct pdnn_batchnorm_options *options) {
    b->padded = pdnn_channels_padded(shape);
    b->pixels = shape->N * shape->pixels;
    b->chunks = pdnn_chunks_of(shape);
    b->sums = PDNN_HERE(pdnn_channel_sums)(b->chunks.rows.width);
    b->maps = PDNN_HERE(pdnn_channel_maps)(b->chunks.rows.width);
    b->bypass = options->bypass && (shape->stored != PDNN_STORED_F32 || pdnn_channels_can_bypass(shape));
    for (int i = 0; i < TOTALS; i++)
        b->total[i] = options->scratch + i * options->threads * b->padded;
    b->count = options->scratch + TOTALS * options->threads * b->padded;
    float *floats = (float *)(b->count + options->threads);
    for (int i = 0; i < COEFS; i++, floats += b->padded) {
        b->coef[i] = floats;
        memset(floats + shape->C, 0, (size_t)(b->padded - shape->C) * sizeof *floats);
    }
    b->tile = floats;
    b->tile_floats = tile_floats(shape);
}

/* Where a part widens a tile of its k-th image. */
static float *widened(const struct batchnorm *b, int64_t part, int64_t k) {
    return b->tile + part * b->tile_floats + TILE_ARRAYS * b->padded +
           k * pdnn_chunk_tile_elements(&b->chunks);
}

static struct pdnn_moments moments_at(const struct batchnorm *b, int64_t part, int64_t first) {
    const int64_t at = part * b->padded + first;
    return (struct pdnn_moments){b->total[0] + at, b->total[1] + at};
}

static void gather_moments(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    struct batchnorm *b = job;
    b->count[part] = (double)(span.end - span.begin);
    pdnn_moments_gather(moments_at(b, part, chunk * b->chunks.rows.width), b->forward->x, &b->chunks, chunk,
                        span, b->tile + part * b->tile_floats);
}

/* Arrays offset to the first channel of a chunk, and constants. */
struct channels {
    const double *mean, *square;            /* training */
    const float *gamma, *beta;              /* or NULL */
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
        .gamma = f->gamma ? f->gamma + first : NULL,
        .beta = f->beta ? f->beta + first : NULL,
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
    double scale = (c->gamma ? (double)c->gamma[i] : 1) * inverse_std, center = (double)(float)mean;
    c->center[i] = (float)center;
    c->scale[i] = (float)scale;
    c->shift[i] = (float)((c->beta ? (double)c->beta[i] : 0) + (center - mean) * scale);
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
    int64_t width = b->chunks.rows.width, first = chunk * width;
    double before = b->count[parts.begin];
    for (int64_t part = parts.begin + 1; part < parts.end; part++) {
        if (b->count[part] > 0)
            pdnn_moments_join(moments_at(b, parts.begin, first), moments_at(b, part, first), width,
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

static float clip(float x, struct pdnn_bounds to) {
    float raised = x < to.low ? to.low : x;
    return raised > to.high ? to.high : raised;
}

/* Clipping twice is clipping once, to the first bounds as the second ones clip them. */
static struct pdnn_bounds both(struct pdnn_bounds first, struct pdnn_bounds second) {
    return (struct pdnn_bounds){clip(first.low, second), clip(first.high, second)};
}

static void apply_affine(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    const struct batchnorm *b = job;
    const struct pdnn_batchnorm_forward *f = b->forward;
    const enum pdnn_stored stored = b->chunks.stored;
    int64_t first = chunk * b->chunks.rows.width;
    struct pdnn_bounds now = f->first ? *f->first : pdnn_unbounded,
                       last = f->last ? *f->last : pdnn_unbounded;
    const struct pdnn_affine affine = {b->coef[0] + first,
                                       b->coef[1] + first,
                                       b->coef[2] + first,
                                       f->other ? now : both(now, last),
                                       last,
                                       b->bypass && stored == PDNN_STORED_F32};
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        const struct pdnn_rows rows = pdnn_tile_rows(&tile, stored);
        float *room = widened(b, part, 0), *y = pdnn_tile_floats(f->y, &tile, stored, room);
        b->maps->affine(pdnn_tile_read(f->x, &tile, stored, room),
                        pdnn_tile_read(f->other, &tile, stored, widened(b, part, 1)), y, &rows, &affine);
        pdnn_tile_write(f->y, &tile, stored, y, b->bypass);
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

/* A tile of the images of a backward pass. */
struct gradient_tile {
    struct pdnn_rows rows;
    const float *dy, *x; /* x: dy if there is none */
    struct pdnn_gate gate;
};

static struct gradient_tile read_gradients(const struct batchnorm *b, const struct pdnn_chunk_tile *tile,
                                           int64_t part) {
    const struct pdnn_batchnorm_backward *k = b->backward;
    const enum pdnn_stored stored = b->chunks.stored;
    const float *dy = pdnn_tile_read(k->dy, tile, stored, widened(b, part, 0)),
                *x = pdnn_tile_read(k->x, tile, stored, widened(b, part, 1)),
                *clipped = pdnn_tile_read(k->clipped, tile, stored, widened(b, part, 2));
    return (struct gradient_tile){pdnn_tile_rows(tile, stored), dy, x ? x : dy, {clipped, k->bounds}};
}

static void gather_products(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    struct batchnorm *b = job;
    int64_t width = b->chunks.rows.width, first = chunk * width;
    double *sum = b->total[0] + part * b->padded + first, *product = b->total[1] + part * b->padded + first;
    float *sums = b->tile + part * b->tile_floats;
    memset(sum, 0, (size_t)width * sizeof *sum);
    memset(product, 0, (size_t)width * sizeof *product);
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        const struct gradient_tile at = read_gradients(b, &tile, part);
        b->sums->products(at.dy, &at.gate, at.x, &at.rows, b->coef[0] + first, sums);
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
        if (k->dgamma) {
            k->dbeta[c] = (float)sum;
            k->dgamma[c] = (float)(product * inverse_std);
        }
        b->coef[1][c] = (float)((k->gamma ? (double)k->gamma[c] : 1) * inverse_std);
        b->coef[2][c] = (float)(-inverse_std * inverse_std * product / (double)b->pixels);
        b->coef[3][c] = (float)(sum / (double)b->pixels);
    }
}

/* dx = scale * dy. */
static void finish_frozen(void *job, int64_t chunk, struct pdnn_span parts) {
    struct batchnorm *b = job;
    const struct pdnn_batchnorm_backward *k = b->backward;
    const int64_t first = chunk * b->chunks.rows.width, end = first + count_channels(b, first, k->shape.C);
    (void)parts;
    for (int64_t c = first; c < end; c++) {
        const double gamma = k->gamma ? (double)k->gamma[c] : 1;
        b->coef[0][c] = b->coef[2][c] = b->coef[3][c] = 0;
        b->coef[1][c] = (float)(gamma / sqrt((double)k->running_variance[c] + k->epsilon));
    }
}

static void apply_gradient(void *job, int64_t chunk, struct pdnn_span span, int64_t part) {
    const struct batchnorm *b = job;
    const struct pdnn_batchnorm_backward *k = b->backward;
    const enum pdnn_stored stored = b->chunks.stored;
    int64_t first = chunk * b->chunks.rows.width;
    const struct pdnn_gradient gradient = {b->coef[0] + first,
                                           b->coef[1] + first,
                                           b->coef[2] + first,
                                           b->coef[3] + first,
                                           b->bypass && stored == PDNN_STORED_F32,
                                           NULL};
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&b->chunks, chunk, span);
        const struct gradient_tile at = read_gradients(b, &tile, part);
        float *dx = pdnn_tile_floats(k->dx, &tile, stored, widened(b, part, 0));
        b->maps->gradient(at.dy, &at.gate, at.x, dx, &at.rows, &gradient);
        pdnn_tile_write(k->dx, &tile, stored, dx, b->bypass);
        span.begin += tile.pixels;
    }
}

PDNN_KERNEL(pdnn_batchnorm_backward,
            (const struct pdnn_batchnorm_backward *job, const struct pdnn_batchnorm_options *options),
            (job, options)) {
    static const struct pdnn_chunk_kernel backward = {gather_products, finish_backward, apply_gradient};
    static const struct pdnn_chunk_kernel frozen = {NULL, finish_frozen, apply_gradient};
    struct batchnorm b = {.backward = job};
    lay_out(&b, &job->shape, options);
    if (job->x)
        memcpy(b.coef[0], job->mean, (size_t)job->shape.C * sizeof(float));
    run(&b, job->x ? &backward : &frozen, (job->x ? 3 : 2) + (job->clipped != NULL), options);
}
