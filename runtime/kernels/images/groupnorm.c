#include "runtime/kernels/images/groupnorm.h"

#include "runtime/kernels/images/channel_moments.h"

#include <math.h>
#include <string.h>

enum { TOTALS = 2, COEFS = 5, TILE_ARRAYS = 3, TILES = 2, FORWARD_TENSORS = 2, BACKWARD_TENSORS = 3 };

/* Threads share sections: the fewest neighbouring channels of an image that are whole groups and whole rows
 * of the layout, since groups may end inside of a row. Sums are taken channel by channel and then of each
 * group. */
struct sections {
    int64_t per_group, channels; /* of a group; of a section, but for the image's last one */
    int64_t per_image;
    int64_t shared;              /* sections that threads share at a time; 0: each has its own */
    struct pdnn_chunks all;      /* section by section, of all images */
    struct pdnn_chunks of_image; /* row by row */
};

static int64_t common_multiple(int64_t a, int64_t b) {
    int64_t multiple = a;
    while (multiple % b)
        multiple += a;
    return multiple;
}

static struct pdnn_chunk_run run_of(const struct sections *s, bool is_backward, uint64_t cache_bytes) {
    return (struct pdnn_chunk_run){&s->all, is_backward ? BACKWARD_TENSORS : FORWARD_TENSORS, cache_bytes};
}

static struct sections sections_of(const struct pdnn_channels *shape, int64_t groups, bool is_backward,
                                   int64_t threads, uint64_t cache_bytes) {
    const struct pdnn_channels image = {1, shape->C, shape->pixels, shape->block, shape->stored};
    const int64_t padded = pdnn_channels_padded(shape);
    struct sections s = {.per_group = shape->C / groups, .of_image = pdnn_chunks_of(&image)};
    s.channels = pdnn_least(common_multiple(s.per_group, shape->block), padded);
    s.per_image = (padded + s.channels - 1) / s.channels;
    s.all = (struct pdnn_chunks){
        shape->N * s.per_image, 0, {1, 0, shape->pixels, s.channels, s.channels}, shape->stored};
    const struct pdnn_chunk_run run = run_of(&s, is_backward, cache_bytes);
    s.shared = pdnn_chunks_shared(&run, threads);
    return s;
}

struct groupnorm {
    const struct pdnn_groupnorm_forward *forward;
    const struct pdnn_groupnorm_backward *backward;
    struct pdnn_channels shape;
    int64_t groups, padded, image; /* channels with padding; elements of an image */
    struct sections sections;
    const struct pdnn_channel_sums *sums;
    const struct pdnn_channel_maps *maps;
    double *total[TOTALS];    /* (parts, sections held, channels of a section) each */
    double *gradient[TOTALS]; /* (parts, padded): of gamma and of beta */
    float *coef[COEFS];       /* (sections held by all, channels of a section) each */
    float *tile;              /* (parts): TILE_ARRAYS of a row's width, TILES of 16-bit elements, widened */
    bool bypass;
};

/* Sections that a part holds, and all parts together. */
static int64_t held_by_part(const struct sections *s) {
    return s->shared ? s->shared : 1;
}

static int64_t held_by_all(const struct sections *s, int64_t threads) {
    return s->shared ? s->shared : threads;
}

static int64_t tile_floats(const struct sections *s) {
    const struct pdnn_chunks *chunks = &s->of_image;
    const int64_t widened = chunks->stored == PDNN_STORED_F32 ? 0 : TILES * pdnn_chunk_tile_elements(chunks);
    return TILE_ARRAYS * chunks->rows.width + widened;
}

static int64_t scratch_of(const struct sections *s, int64_t padded, int64_t threads) {
    const int64_t totals = TOTALS * threads * (held_by_part(s) * s->channels + padded),
                  floats = COEFS * held_by_all(s, threads) * s->channels + threads * tile_floats(s);
    return totals + (floats + 1) / 2;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_groupnorm_scratch,
                  (const struct pdnn_channels *shape, int64_t groups, bool is_backward, int64_t threads,
                   uint64_t cache_bytes),
                  (shape, groups, is_backward, threads, cache_bytes)) {
    const struct sections sections = sections_of(shape, groups, is_backward, threads, cache_bytes);
    return scratch_of(&sections, pdnn_channels_padded(shape), threads);
}

PDNN_KERNEL_VALUE(uint64_t, pdnn_groupnorm_held_bytes,
                  (const struct pdnn_channels *shape, int64_t groups, bool is_backward, int64_t threads,
                   uint64_t cache_bytes),
                  (shape, groups, is_backward, threads, cache_bytes)) {
    const struct sections s = sections_of(shape, groups, is_backward, threads, cache_bytes);
    return (uint64_t)(pdnn_least(held_by_all(&s, threads), s.all.count) * s.channels * shape->pixels) *
           (uint64_t)pdnn_stored_bytes(shape->stored);
}

static void lay_out(struct groupnorm *g, const struct pdnn_channels *shape, int64_t groups,
                    const struct pdnn_groupnorm_options *options) {
    const int64_t threads = options->threads;
    g->shape = *shape;
    g->groups = groups;
    g->padded = pdnn_channels_padded(shape);
    g->image = g->padded * shape->pixels;
    g->sections = sections_of(shape, groups, g->backward != NULL, threads, options->cache_bytes);
    g->sums = PDNN_HERE(pdnn_channel_sums)(g->sections.of_image.rows.width);
    g->maps = PDNN_HERE(pdnn_channel_maps)(g->sections.of_image.rows.width);
    g->bypass = options->bypass && (shape->stored != PDNN_STORED_F32 || pdnn_channels_can_bypass(shape));
    double *doubles = options->scratch;
    for (int i = 0; i < TOTALS; i++, doubles += threads * held_by_part(&g->sections) * g->sections.channels)
        g->total[i] = doubles;
    for (int i = 0; i < TOTALS; i++, doubles += threads * g->padded)
        g->gradient[i] = doubles;
    float *floats = (float *)doubles;
    for (int i = 0; i < COEFS; i++, floats += held_by_all(&g->sections, threads) * g->sections.channels)
        g->coef[i] = floats;
    g->tile = floats;
}

/* A section: its image, its channels, and those without padding. */
struct section {
    int64_t n, first, end, used;
};

static struct section section_at(const struct groupnorm *g, int64_t index) {
    const int64_t n = index / g->sections.per_image,
                  first = index % g->sections.per_image * g->sections.channels,
                  end = pdnn_least(first + g->sections.channels, g->padded);
    return (struct section){n, first, end, pdnn_least(end, g->shape.C)};
}

/* Where a part keeps its sums of a section. */
static int64_t total_at(const struct groupnorm *g, int64_t index, int64_t part) {
    const int64_t held = held_by_part(&g->sections);
    return (part * held + index % held) * g->sections.channels;
}

static int64_t coef_at(const struct groupnorm *g, int64_t index, int64_t part) {
    return (g->sections.shared ? index % g->sections.shared : part) * g->sections.channels;
}

static float *tile_of(const struct groupnorm *g, int64_t part) {
    return g->tile + part * tile_floats(&g->sections);
}

/* Where a part widens a tile of its k-th image. */
static float *widened(const struct groupnorm *g, int64_t part, int64_t k) {
    const struct pdnn_chunks *chunks = &g->sections.of_image;
    return tile_of(g, part) + TILE_ARRAYS * chunks->rows.width + k * pdnn_chunk_tile_elements(chunks);
}

/* A tile of image n. */
static struct pdnn_chunk_tile tile_at(const struct groupnorm *g, int64_t n, int64_t row,
                                      struct pdnn_span span) {
    struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&g->sections.of_image, row, span);
    tile.offset += n * g->image;
    return tile;
}

/* The values of a channel that the part took sums of. */
static int64_t count_of(const struct groupnorm *g, int64_t part, int64_t threads) {
    if (!g->sections.shared)
        return g->shape.pixels;
    const struct pdnn_span span = pdnn_span_of(g->shape.pixels, 1, part, threads);
    return span.end - span.begin;
}

static void gather_moments(void *job, int64_t index, struct pdnn_span span, int64_t part) {
    const struct groupnorm *g = job;
    const struct section s = section_at(g, index);
    const int64_t width = g->sections.of_image.rows.width, at = total_at(g, index, part);
    for (int64_t c = s.first; c < s.end; c += width) {
        const int64_t to = at + c - s.first;
        pdnn_moments_gather((struct pdnn_moments){g->total[0] + to, g->total[1] + to},
                            (const char *)g->forward->x + s.n * g->image * pdnn_stored_bytes(g->shape.stored),
                            &g->sections.of_image, c / width, span, tile_of(g, part));
    }
}

/* Channels from `first` on, and all parts, become one. */
static void join_group(const struct groupnorm *g, int64_t index, struct pdnn_span parts, int64_t first,
                       double *mean, double *square) {
    const struct pdnn_moments group = {mean, square};
    double count = 0;
    *mean = *square = 0;
    for (int64_t part = parts.begin; part < parts.end; part++) {
        const int64_t at = total_at(g, index, part) + first;
        const double more = (double)count_of(g, part, parts.end);
        for (int64_t c = at; more > 0 && c < at + g->sections.per_group; c++, count += more)
            pdnn_moments_join(group, (struct pdnn_moments){g->total[0] + c, g->total[1] + c}, 1, more, count);
    }
}

static void clear_coefs(const struct groupnorm *g, int64_t at, const struct section *s) {
    for (int i = 0; i < COEFS; i++)
        memset(g->coef[i] + at + s->used - s->first, 0, (size_t)(s->end - s->used) * sizeof(float));
}

/* y = (x - mean) * scale + beta. The shift also makes up for the rounding of the mean to float. */
static void finish_forward(void *job, int64_t index, struct pdnn_span parts) {
    const struct groupnorm *g = job;
    const struct pdnn_groupnorm_forward *f = g->forward;
    const struct section s = section_at(g, index);
    const int64_t per_group = g->sections.per_group, at = coef_at(g, index, parts.begin);
    const double count = (double)(per_group * g->shape.pixels);
    for (int64_t first = s.first; first < s.used; first += per_group) {
        const int64_t group = s.n * g->groups + first / per_group;
        double mean, square;
        join_group(g, index, parts, first - s.first, &mean, &square);
        const double inverse_std = 1 / sqrt(square / count + f->epsilon), center = (double)(float)mean;
        if (f->mean) {
            f->mean[group] = (float)mean;
            f->inverse_std[group] = (float)inverse_std;
        }
        for (int64_t c = first; c < first + per_group; c++) {
            const int64_t to = at + c - s.first;
            const double scale = (double)f->gamma[c] * inverse_std;
            g->coef[0][to] = (float)center;
            g->coef[1][to] = (float)scale;
            g->coef[2][to] = (float)((double)f->beta[c] + (center - mean) * scale);
        }
    }
    clear_coefs(g, at, &s);
}

/* From the last channels, which are still in the private caches, to the first. */
static void apply_affine(void *job, int64_t index, struct pdnn_span pixels, int64_t part) {
    const struct groupnorm *g = job;
    const struct section s = section_at(g, index);
    const enum pdnn_stored stored = g->shape.stored;
    const int64_t width = g->sections.of_image.rows.width, at = coef_at(g, index, part);
    for (int64_t c = s.end - width; c >= s.first; c -= width) {
        const int64_t of = at + c - s.first;
        const struct pdnn_affine affine = {g->coef[0] + of, g->coef[1] + of,
                                           g->coef[2] + of, pdnn_unbounded,
                                           pdnn_unbounded,  g->bypass && stored == PDNN_STORED_F32};
        for (struct pdnn_span span = pixels; span.begin < span.end;) {
            const struct pdnn_chunk_tile tile = tile_at(g, s.n, c / width, span);
            const struct pdnn_rows rows = pdnn_tile_rows(&tile, stored);
            const float *x = pdnn_tile_read(g->forward->x, &tile, stored, widened(g, part, 0));
            float *y = pdnn_tile_floats(g->forward->y, &tile, stored, widened(g, part, 0));
            g->maps->affine(x, NULL, y, &rows, &affine);
            pdnn_tile_write(g->forward->y, &tile, stored, y, g->bypass);
            span.begin += tile.pixels;
        }
    }
}

static void run(struct groupnorm *g, const struct pdnn_chunk_kernel *kernel,
                const struct pdnn_groupnorm_options *options) {
    const struct pdnn_chunk_run how = run_of(&g->sections, g->backward != NULL, options->cache_bytes);
    pdnn_chunks_run(kernel, g, &how, options->threads);
}

PDNN_KERNEL(pdnn_groupnorm_forward,
            (const struct pdnn_groupnorm_forward *job, const struct pdnn_groupnorm_options *options),
            (job, options)) {
    static const struct pdnn_chunk_kernel forward = {gather_moments, finish_forward, apply_affine};
    struct groupnorm g = {.forward = job};
    lay_out(&g, &job->shape, job->groups, options);
    run(&g, &forward, options);
}

/* Of dy, and of dy * (x - mean). */
static void gather_products(void *job, int64_t index, struct pdnn_span pixels, int64_t part) {
    const struct groupnorm *g = job;
    const struct pdnn_groupnorm_backward *k = g->backward;
    const struct section s = section_at(g, index);
    const struct pdnn_gate open = {.y = NULL};
    const enum pdnn_stored stored = g->shape.stored;
    const int64_t width = g->sections.of_image.rows.width;
    float *sums = tile_of(g, part), *center = sums + 2 * width;
    for (int64_t c = s.first; c < s.end; c += width) {
        const int64_t to = total_at(g, index, part) + c - s.first;
        double *sum = g->total[0] + to, *product = g->total[1] + to;
        for (int64_t i = 0; i < width; i++) {
            const bool is_padding = c + i >= s.used;
            center[i] = is_padding ? 0 : k->mean[s.n * g->groups + (c + i) / g->sections.per_group];
            sum[i] = product[i] = 0;
        }
        for (struct pdnn_span span = pixels; span.begin < span.end;) {
            const struct pdnn_chunk_tile tile = tile_at(g, s.n, c / width, span);
            const struct pdnn_rows rows = pdnn_tile_rows(&tile, stored);
            g->sums->products(pdnn_tile_read(k->dy, &tile, stored, widened(g, part, 0)), &open,
                              pdnn_tile_read(k->x, &tile, stored, widened(g, part, 1)), &rows, center, sums);
            for (int64_t i = 0; i < width; i++) {
                sum[i] += (double)sums[i];
                product[i] += (double)sums[width + i];
            }
            span.begin += tile.pixels;
        }
    }
}

/* The parts' sums of a channel become the first part's, and count towards the gradients of gamma and beta. */
static void join_channel(const struct groupnorm *g, int64_t index, struct pdnn_span parts, int64_t c,
                         double inverse_std) {
    const struct section s = section_at(g, index);
    const int64_t first = total_at(g, index, parts.begin) + c - s.first,
                  to = (g->sections.shared ? 0 : parts.begin) * g->padded + c;
    for (int64_t part = parts.begin + 1; part < parts.end; part++) {
        const int64_t at = total_at(g, index, part) + c - s.first;
        g->total[0][first] += g->total[0][at];
        g->total[1][first] += g->total[1][at];
    }
    g->gradient[0][to] += g->total[1][first] * inverse_std;
    g->gradient[1][to] += g->total[0][first];
}

/* dx = inverse_std * (gamma * dy - sum / M - (x - mean) * inverse_std^2 * product / M), with sum and product
 * those of gamma * dy and gamma * dy * (x - mean) over the group. */
static void finish_backward(void *job, int64_t index, struct pdnn_span parts) {
    const struct groupnorm *g = job;
    const struct pdnn_groupnorm_backward *k = g->backward;
    const struct section s = section_at(g, index);
    const int64_t per_group = g->sections.per_group, at = coef_at(g, index, parts.begin),
                  total = total_at(g, index, parts.begin);
    const double count = (double)(per_group * g->shape.pixels);
    for (int64_t first = s.first; first < s.used; first += per_group) {
        const int64_t group = s.n * g->groups + first / per_group;
        const double inverse_std = (double)k->inverse_std[group];
        double sum = 0, product = 0;
        for (int64_t c = first; c < first + per_group; c++) {
            join_channel(g, index, parts, c, inverse_std);
            sum += (double)k->gamma[c] * g->total[0][total + c - s.first];
            product += (double)k->gamma[c] * g->total[1][total + c - s.first];
        }
        for (int64_t c = first; c < first + per_group; c++) {
            const int64_t to = at + c - s.first;
            g->coef[0][to] = k->mean[group];
            g->coef[1][to] = k->inverse_std[group];
            g->coef[2][to] = (float)(-inverse_std * inverse_std * product / count);
            g->coef[3][to] = (float)(sum / count);
            g->coef[4][to] = k->gamma[c];
        }
    }
    clear_coefs(g, at, &s);
}

static void apply_gradient(void *job, int64_t index, struct pdnn_span pixels, int64_t part) {
    const struct groupnorm *g = job;
    const struct pdnn_groupnorm_backward *k = g->backward;
    const struct section s = section_at(g, index);
    const struct pdnn_gate open = {.y = NULL};
    const enum pdnn_stored stored = g->shape.stored;
    const int64_t width = g->sections.of_image.rows.width, at = coef_at(g, index, part);
    for (int64_t c = s.end - width; c >= s.first; c -= width) {
        const int64_t of = at + c - s.first;
        const struct pdnn_gradient gradient = {g->coef[0] + of,
                                               g->coef[1] + of,
                                               g->coef[2] + of,
                                               g->coef[3] + of,
                                               g->bypass && stored == PDNN_STORED_F32,
                                               g->coef[4] + of};
        for (struct pdnn_span span = pixels; span.begin < span.end;) {
            const struct pdnn_chunk_tile tile = tile_at(g, s.n, c / width, span);
            const struct pdnn_rows rows = pdnn_tile_rows(&tile, stored);
            const float *dy = pdnn_tile_read(k->dy, &tile, stored, widened(g, part, 0)),
                        *x = pdnn_tile_read(k->x, &tile, stored, widened(g, part, 1));
            float *dx = pdnn_tile_floats(k->dx, &tile, stored, widened(g, part, 0));
            g->maps->gradient(dy, &open, x, dx, &rows, &gradient);
            pdnn_tile_write(k->dx, &tile, stored, dx, g->bypass);
            span.begin += tile.pixels;
        }
    }
}

PDNN_KERNEL(pdnn_groupnorm_backward,
            (const struct pdnn_groupnorm_backward *job, const struct pdnn_groupnorm_options *options),
            (job, options)) {
    static const struct pdnn_chunk_kernel backward = {gather_products, finish_backward, apply_gradient};
    struct groupnorm g = {.backward = job};
    lay_out(&g, &job->shape, job->groups, options);
    for (int i = 0; i < TOTALS; i++)
        memset(g.gradient[i], 0, (size_t)(options->threads * g.padded) * sizeof(double));
    run(&g, &backward, options);
    for (int64_t c = 0; c < job->shape.C; c++) {
        double dgamma = 0, dbeta = 0;
        for (int64_t part = 0; part < options->threads; part++) {
            dgamma += g.gradient[0][part * g.padded + c];
            dbeta += g.gradient[1][part * g.padded + c];
        }
        job->dgamma[c] = (float)dgamma;
        job->dbeta[c] = (float)dbeta;
    }
}
