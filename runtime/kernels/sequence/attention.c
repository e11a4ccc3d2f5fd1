#include "runtime/kernels/sequence/attention.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>
#include <string.h>

/* BLOCK columns of all keys of a typical sentence, and of their gradients, fit L1 together. A tanh counts as
 * TANH_ELEMENTS elements when deciding whether the work is enough for all threads. */
enum { BLOCK = 128, LINE = 16, TANH_ELEMENTS = 8 };

struct attention {
    const struct pdnn_attention *job;
    const struct pdnn_attention_gradients *gradients; /* backward */
    float *context, *p;                               /* forward */
    float *u;                                         /* (H): g v/|v| */
    float *scores;                                    /* forward: (threads, room); backward: (T*N, S + 1) */
    float *du;                                        /* backward: (N, H) */
    double *dp;                                       /* backward: (threads, room) */
    int64_t room;                                     /* floats per thread of scores, in whole cache lines */
};

static int64_t whole_lines(int64_t n) {
    return (n + LINE - 1) / LINE * LINE;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_attention_scratch, (const struct pdnn_attention *shape, int64_t threads),
                  (shape, threads)) {
    int64_t forward = threads * whole_lines(shape->S);
    int64_t backward = whole_lines(shape->T * shape->N * (shape->S + 1)) + whole_lines(shape->N * shape->H) +
                       2 * threads * whole_lines(shape->S);
    return whole_lines(shape->H) + (forward > backward ? forward : backward);
}

/* u = g v/|v|; returns |v|. */
static double normalize(const struct pdnn_attention *job, float *u) {
    double square = 0;
    for (int64_t h = 0; h < job->H; h++)
        square += (double)job->v[h] * (double)job->v[h];
    double norm = sqrt(square), ratio = (double)*job->g / norm;
    for (int64_t h = 0; h < job->H; h++)
        u[h] = (float)((double)job->v[h] * ratio);
    return norm;
}

static float score(const float *q, const float *k, const float *u, int64_t n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t h = 0; h < n; h++)
        sum += u[h] * pdnn_tanh(q[h] + k[h]);
    return sum;
}

static double dot(const float *a, const float *b, int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void softmax(float *p, int64_t n) {
    float max = p[0], sum = 0;
#pragma omp simd reduction(max : max)
    for (int64_t i = 0; i < n; i++)
        max = p[i] > max ? p[i] : max;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        p[i] = pdnn_exp(p[i] - max);
        sum += p[i];
    }
    float inverse = 1 / sum;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        p[i] *= inverse;
}

/* y = sum of `count` rows, each with its factor; strides in floats. */
struct combination {
    const float *rows, *factors;
    int64_t count, row_stride, factor_stride;
};

static void combine(const struct combination *c, float *restrict y, int64_t n) {
    memset(y, 0, (size_t)n * sizeof *y);
    int64_t k = 0;
    for (; k + 4 <= c->count; k += 4) {
        const float *x0 = c->rows + k * c->row_stride, *x1 = x0 + c->row_stride, *x2 = x1 + c->row_stride;
        const float *x3 = x2 + c->row_stride, *f = c->factors + k * c->factor_stride;
        float f0 = f[0], f1 = f[c->factor_stride], f2 = f[2 * c->factor_stride], f3 = f[3 * c->factor_stride];
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] += (f0 * x0[i] + f1 * x1[i]) + (f2 * x2[i] + f3 * x3[i]);
    }
    for (; k < c->count; k++) {
        const float *x0 = c->rows + k * c->row_stride;
        float f0 = c->factors[k * c->factor_stride];
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] += f0 * x0[i];
    }
}

/* Consecutive target steps of one sequence, so that its keys and values stay in a cache. */
static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct attention *a = work;
    const struct pdnn_attention *job = a->job;
    struct pdnn_span mine = pdnn_span_of(job->N * job->T, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        int64_t n = i / job->T, row = i % job->T * job->N + n;
        float *p = a->p ? a->p + row * job->S : a->scores + index * a->room;
        for (int64_t s = 0; s < job->S; s++)
            p[s] = score(job->q + row * job->H, job->k + (s * job->N + n) * job->H, a->u, job->H);
        softmax(p, job->S);
        combine(&(struct combination){job->values + n * job->D, p, job->S, job->N * job->D, 1},
                a->context + row * job->D, job->D);
    }
}

static struct attention lay_out(const struct pdnn_attention *job) {
    struct attention a = {.job = job, .u = job->scratch, .room = whole_lines(job->S)};
    a.scores = a.u + whole_lines(job->H);
    a.du = a.scores + whole_lines(job->T * job->N * (job->S + 1));
    a.dp = (double *)(a.du + whole_lines(job->N * job->H));
    return a;
}

static int64_t elements_of(const struct pdnn_attention *job) {
    return job->T * job->S * job->N * (job->H * TANH_ELEMENTS + job->D);
}

PDNN_KERNEL(pdnn_attention_forward,
            (const struct pdnn_attention *job, float *context, float *p, int64_t threads),
            (job, context, p, threads)) {
    struct attention a = lay_out(job);
    a.context = context;
    a.p = p;
    normalize(job, a.u);
    pdnn_team_run(threads, elements_of(job), forward_part, &a);
}

/* Gradients of the scores of a row, and their sum. The sum is almost 0, so its terms have to be exact. */
static void scores_part(void *work, int64_t index, int64_t parts) {
    const struct attention *a = work;
    const struct pdnn_attention *job = a->job;
    struct pdnn_span mine = pdnn_span_of(job->N * job->T, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        int64_t n = i / job->T, row = i % job->T * job->N + n;
        const float *p = a->gradients->p + row * job->S;
        float *ds = a->scores + row * (job->S + 1);
        double sum = 0, rest = 0, *dp = a->dp + index * a->room;
        for (int64_t s = 0; s < job->S; s++) {
            dp[s] =
                dot(a->gradients->dcontext + row * job->D, job->values + (s * job->N + n) * job->D, job->D);
            sum += (double)p[s] * dp[s];
        }
        for (int64_t s = 0; s < job->S; s++) {
            ds[s] = (float)((double)p[s] * (dp[s] - sum));
            rest += (double)p[s] * (dp[s] - sum);
        }
        ds[job->S] = (float)rest;
    }
}

/* Columns of one target row and one source row. Adds to dk and du, and to dq what has to be subtracted from
 * the sum of the row's ds. */
struct pair {
    const float *q, *k, *u;
    float *dq, *dk, *du;
};

static void tanh_backward(const struct pair *pair, float ds, int64_t n) {
    const float *q = pair->q, *k = pair->k, *u = pair->u;
    float *restrict dq = pair->dq, *restrict dk = pair->dk, *restrict du = pair->du;
#pragma omp simd
    for (int64_t h = 0; h < n; h++) {
        float z = pdnn_tanh(q[h] + k[h]), dz = ds * z, less = dz * z;
        du[h] += dz;
        dq[h] += less;
        dk[h] += u[h] * (ds - less);
    }
}

/* dq = u times the sum of ds (1 - z^2), from two sums because that of ds alone cancels. */
static void finish_query(const float *u, float sum, float *restrict dq, int64_t n) {
#pragma omp simd
    for (int64_t h = 0; h < n; h++)
        dq[h] = u[h] * (sum - dq[h]);
}

static void clear_rows(float *rows, int64_t count, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < count; i++)
        memset(rows + i * stride, 0, (size_t)n * sizeof *rows);
}

/* A block of columns of the queries and keys of one sequence. */
static void tanh_block(const struct attention *a, int64_t sequence, struct pdnn_span h) {
    const struct pdnn_attention *job = a->job;
    const struct pdnn_attention_gradients *to = a->gradients;
    int64_t stride = job->N * job->H, first = sequence * job->H + h.begin, n = h.end - h.begin;
    clear_rows(to->dq + first, job->T, stride, n);
    clear_rows(to->dk + first, job->S, stride, n);
    clear_rows(a->du + first, 1, 0, n);
    for (int64_t t = 0; t < job->T; t++) {
        const float *ds = a->scores + (t * job->N + sequence) * (job->S + 1);
        int64_t query = t * stride + first;
        for (int64_t s = 0; s < job->S; s++) {
            int64_t key = s * stride + first;
            struct pair pair = {job->q + query, job->k + key, a->u + h.begin,
                                to->dq + query, to->dk + key, a->du + first};
            tanh_backward(&pair, ds[s], n);
        }
        finish_query(a->u + h.begin, ds[job->S], to->dq + query, n);
    }
}

/* The same for the values. */
static void values_block(const struct attention *a, int64_t sequence, struct pdnn_span d) {
    const struct pdnn_attention *job = a->job;
    int64_t N = job->N;
    for (int64_t s = 0; s < job->S; s++) {
        struct combination sum = {a->gradients->dcontext + sequence * job->D + d.begin,
                                  a->gradients->p + sequence * job->S + s, job->T, N * job->D, N * job->S};
        combine(&sum, a->gradients->dvalues + (s * N + sequence) * job->D + d.begin, d.end - d.begin);
    }
}

static struct pdnn_span block_of(int64_t columns, int64_t block) {
    int64_t begin = block * BLOCK, end = begin + BLOCK;
    return (struct pdnn_span){begin, end < columns ? end : columns};
}

static int64_t blocks_of(int64_t columns) {
    return (columns + BLOCK - 1) / BLOCK;
}

/* Columns and sequences are independent, except for the gradient of u, which is reduced at the end. */
static void columns_part(void *work, int64_t index, int64_t parts) {
    const struct attention *a = work;
    int64_t h_blocks = blocks_of(a->job->H), d_blocks = blocks_of(a->job->D);
    struct pdnn_span mine = pdnn_span_of(a->job->N * h_blocks, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++)
        tanh_block(a, i / h_blocks, block_of(a->job->H, i % h_blocks));
    mine = pdnn_span_of(a->job->N * d_blocks, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++)
        values_block(a, i / d_blocks, block_of(a->job->D, i % d_blocks));
}

/* dv and dg, from the gradient of u. */
static void finish(const struct attention *a, double norm) {
    const struct pdnn_attention *job = a->job;
    double along = 0, ratio = (double)*job->g / norm;
    for (int64_t n = 1; n < job->N; n++) {
        for (int64_t h = 0; h < job->H; h++)
            a->du[h] += a->du[n * job->H + h];
    }
    for (int64_t h = 0; h < job->H; h++)
        along += (double)job->v[h] * (double)a->du[h];
    *a->gradients->dg = (float)(along / norm);
    for (int64_t h = 0; h < job->H; h++)
        a->gradients->dv[h] = (float)(ratio * ((double)a->du[h] - (double)job->v[h] * along / (norm * norm)));
}

PDNN_KERNEL(pdnn_attention_backward,
            (const struct pdnn_attention *job, const struct pdnn_attention_gradients *gradients,
             int64_t threads),
            (job, gradients, threads)) {
    struct attention a = lay_out(job);
    a.gradients = gradients;
    double norm = normalize(job, a.u);
    pdnn_team_run(threads, job->T * job->S * job->N * job->D, scores_part, &a);
    pdnn_team_run(threads, elements_of(job), columns_part, &a);
    finish(&a, norm);
}
