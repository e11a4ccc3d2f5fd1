#include "runtime/kernels/update/lamb.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>

/* Norms sum tiles in float, in CHAINS vectors, and add tiles in double. Blocks of tiles are the partial sums,
 * added in order whichever thread computed them. A thread reads PLACES blocks at once: from a single one it
 * gets two thirds of the memory bandwidth. */
enum { PLACES = 4, CHAINS = 2, CHUNK = CHAINS * PDNN_LANES, TILE = 1024, BLOCK = 16 * TILE };
enum { GRAIN = 1024 };

/* A piece of a block and of the other blocks read at the same time, each `apart` blocks from the last. */
struct tile {
    const float *x;
    double *sum; /* one per block */
    int64_t n, apart;
};

PDNN_INLINE void square_places(const struct tile *tile, const int places) {
    pdnn_floats chain[PLACES * CHAINS] = {{0}}, v;
    int64_t i = 0;
    for (; i + CHUNK <= tile->n; i += CHUNK) {
#pragma GCC unroll 8
        for (int k = 0; k < places * CHAINS; k++) {
            pdnn_load(&v, tile->x + k / CHAINS * tile->apart * BLOCK + i + k % CHAINS * PDNN_LANES);
            chain[k] += v * v;
        }
    }
    for (int place = 0; place < places; place++) {
        double sum = 0;
        for (int64_t rest = i; rest < tile->n; rest++) {
            float one = tile->x[place * tile->apart * BLOCK + rest];
            sum += (double)(one * one);
        }
        for (int k = 0; k < CHAINS; k++)
            sum += (double)pdnn_sum(&chain[place * CHAINS + k]);
        tile->sum[place * tile->apart] += sum;
    }
}

static void square_one(const struct tile *tile) {
    square_places(tile, 1);
}

static void square_all(const struct tile *tile) {
    square_places(tile, PLACES);
}

static int64_t count_blocks(int64_t elements) {
    return (elements + BLOCK - 1) / BLOCK;
}

static void square_blocks(const struct pdnn_norm_job *job, int64_t block, int64_t apart) {
    int64_t begin = block * BLOCK, left = job->elements - begin, n = left < BLOCK ? left : BLOCK;
    for (int64_t at = 0; at < n; at += TILE) {
        const struct tile tile = {job->x + begin + at, job->scratch + block, n - at < TILE ? n - at : TILE,
                                  apart};
        (apart ? square_all : square_one)(&tile);
    }
}

static void square_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_norm_job *job = work;
    struct pdnn_span mine = pdnn_span_of(count_blocks(job->elements), 1, index, parts);
    int64_t whole = job->elements / BLOCK < mine.end ? job->elements / BLOCK : mine.end;
    int64_t apart = whole > mine.begin ? (whole - mine.begin) / PLACES : 0;
    for (int64_t i = mine.begin; i < mine.end; i++)
        job->scratch[i] = 0;
    for (int64_t i = 0; i < apart; i++)
        square_blocks(job, mine.begin + i, apart);
    for (int64_t i = mine.begin + PLACES * apart; i < mine.end; i++)
        square_blocks(job, i, 0);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_norm_scratch, (int64_t elements), (elements)) {
    return count_blocks(elements);
}

PDNN_KERNEL(pdnn_norm_run, (const struct pdnn_norm_job *job, int64_t threads), (job, threads)) {
    struct pdnn_norm_job copy = *job;
    double sum = job->before ? (double)*job->before * (double)*job->before : 0;
    pdnn_team_run(threads, job->elements, square_part, &copy);
    for (int64_t i = 0; i < count_blocks(job->elements); i++)
        sum += job->scratch[i];
    *job->norm = (float)sqrt(sum);
}

/* Constants for all elements. */
struct direction {
    const struct pdnn_lamb_direction_job *job;
    float per_g, b1, rest1, b2, rest2, per_m, per_v, epsilon, decay;
};

static void direct(const struct direction *d, const float *w, const float *g, float *u, float *m, float *v,
                   int64_t n) {
    float per_g = d->per_g, b1 = d->b1, rest1 = d->rest1, b2 = d->b2, rest2 = d->rest2;
    float per_m = d->per_m, per_v = d->per_v, epsilon = d->epsilon, decay = d->decay;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float clipped = g[i] * per_g, weight = w[i];
        float new_m = b1 * m[i] + rest1 * clipped, new_v = b2 * v[i] + rest2 * (clipped * clipped);
        m[i] = new_m;
        v[i] = new_v;
        u[i] = new_m * per_m / (sqrtf(new_v * per_v) + epsilon) + decay * weight;
    }
}

static void direct_part(void *work, int64_t index, int64_t parts) {
    const struct direction *d = work;
    const struct pdnn_lamb_direction_job *job = d->job;
    struct pdnn_span mine = pdnn_span_of(job->elements, GRAIN, index, parts);
    direct(d, job->w + mine.begin, job->g + mine.begin, job->u + mine.begin, job->m + mine.begin,
           job->v + mine.begin, mine.end - mine.begin);
}

PDNN_KERNEL(pdnn_lamb_direction_run, (const struct pdnn_lamb_direction_job *job, int64_t threads),
            (job, threads)) {
    double power1 = (double)job->power[0] * job->beta1, power2 = (double)job->power[1] * job->beta2;
    double excess = (double)*job->norm / job->limit;
    struct direction direction = {
        .job = job,
        .per_g = (float)(1 / (excess > 1 ? excess : 1)),
        .b1 = (float)job->beta1,
        .rest1 = (float)(1 - job->beta1),
        .b2 = (float)job->beta2,
        .rest2 = (float)(1 - job->beta2),
        .per_m = (float)(1 / (1 - power1)),
        .per_v = (float)(1 / (1 - power2)),
        .epsilon = (float)job->epsilon,
        .decay = (float)job->decay,
    };
    job->power[0] = (float)power1;
    job->power[1] = (float)power2;
    pdnn_team_run(threads, job->elements, direct_part, &direction);
}
