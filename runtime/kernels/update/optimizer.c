#include "runtime/kernels/update/optimizer.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <stddef.h>

enum { GRAIN = 1024 };

/* Arrays do not overlap and are updated in place, so stores do not wait for a read for ownership. c: the op's
 * coefficients in order, or what pdnn_update_run makes of them. */
static void sgd(float *restrict w, const float *restrict g, float *restrict s0, float *restrict s1,
                const float *c, int64_t n) {
    (void)s0;
    (void)s1;
    float lr = c[0];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        w[i] -= lr * g[i];
}

static void momentum(float *restrict w, const float *restrict g, float *restrict v, float *restrict s1,
                     const float *c, int64_t n) {
    (void)s1;
    float lr = c[0], mu = c[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        v[i] = mu * v[i] + g[i];
        w[i] -= lr * v[i];
    }
}

static void rmsprop(float *restrict w, const float *restrict g, float *restrict ms, float *restrict mom,
                    const float *c, int64_t n) {
    float lr = c[0], rest = c[1], mu = c[2], epsilon = c[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        ms[i] += rest * (g[i] * g[i] - ms[i]);
        mom[i] = mu * mom[i] + lr * g[i] / sqrtf(ms[i] + epsilon);
        w[i] -= mom[i];
    }
}

/* c: lr_t, beta1, 1 - beta1, beta2, 1 - beta2, epsilon, 1 - lr*decay. */
static void adam(float *restrict w, const float *restrict g, float *restrict m, float *restrict v,
                 const float *c, int64_t n) {
    float lr = c[0], b1 = c[1], rest1 = c[2], b2 = c[3], rest2 = c[4], epsilon = c[5], stays = c[6];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        m[i] = b1 * m[i] + rest1 * g[i];
        v[i] = b2 * v[i] + rest2 * (g[i] * g[i]);
        w[i] = stays * w[i] - lr * m[i] / (sqrtf(v[i]) + epsilon);
    }
}

/* c: beta, 1 - beta. */
static void moment(float *restrict m, const float *restrict g, float *restrict s0, float *restrict s1,
                   const float *c, int64_t n) {
    (void)s0;
    (void)s1;
    float b = c[0], rest = c[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        m[i] = b * m[i] + rest * g[i];
}

static void square_moment(float *restrict v, const float *restrict g, float *restrict s0, float *restrict s1,
                          const float *c, int64_t n) {
    (void)s0;
    (void)s1;
    float b = c[0], rest = c[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        v[i] = b * v[i] + rest * (g[i] * g[i]);
}

/* c: as for adam. */
static void adam_apply(float *restrict w, const float *restrict m, float *restrict v, float *restrict s1,
                       const float *c, int64_t n) {
    (void)s1;
    float lr = c[0], epsilon = c[5], stays = c[6];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        w[i] = stays * w[i] - lr * m[i] / (sqrtf(v[i]) + epsilon);
}

enum { PREPARED_COEFS = 7 };

static void (*const rules[])(float *w, const float *g, float *s0, float *s1, const float *c, int64_t n) = {
    [PDNN_UPDATE_SGD] = sgd,
    [PDNN_UPDATE_MOMENTUM] = momentum,
    [PDNN_UPDATE_RMSPROP] = rmsprop,
    [PDNN_UPDATE_ADAM] = adam,
    [PDNN_UPDATE_MOMENT] = moment,
    [PDNN_UPDATE_SQUARE_MOMENT] = square_moment,
    [PDNN_UPDATE_ADAM_APPLY] = adam_apply,
    [PDNN_UPDATE_LAMB_APPLY] = sgd,
};
_Static_assert(sizeof rules / sizeof *rules == PDNN_UPDATE_COUNT, "one function per rule");

struct prepared_job {
    const struct pdnn_update_job *job;
    float coef[PREPARED_COEFS];
};

static void prepare_adam(const struct pdnn_update_job *job, float coef[PREPARED_COEFS]) {
    double b1 = job->coef[1], b2 = job->coef[2];
    double power1 = (double)job->power[0] * b1, power2 = (double)job->power[1] * b2;
    job->power[0] = (float)power1;
    job->power[1] = (float)power2;
    coef[0] = (float)(job->coef[0] * sqrt(1 - power2) / (1 - power1));
    coef[1] = (float)b1;
    coef[2] = (float)(1 - b1);
    coef[3] = (float)b2;
    coef[4] = (float)(1 - b2);
    coef[5] = (float)job->coef[3];
    coef[6] = (float)(1 - job->coef[0] * job->coef[4]);
}

static double trust_ratio(const struct pdnn_update_job *job) {
    double w = (double)*job->norm[0], u = (double)*job->norm[1];
    return w > 0 && u > 0 ? w / u : 1;
}

static void update_part(void *prepared, int64_t index, int64_t parts) {
    const struct prepared_job *p = prepared;
    const struct pdnn_update_job *job = p->job;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    float *state[PDNN_UPDATE_STATES];
    for (int k = 0; k < PDNN_UPDATE_STATES; k++)
        state[k] = job->state[k] ? job->state[k] + span.begin : NULL;
    rules[job->rule](job->w + span.begin, job->g + span.begin, state[0], state[1], p->coef,
                     span.end - span.begin);
}

PDNN_KERNEL(pdnn_update_run, (const struct pdnn_update_job *job, int64_t threads), (job, threads)) {
    struct prepared_job prepared = {.job = job};
    for (int k = 0; k < PDNN_UPDATE_COEFS; k++)
        prepared.coef[k] = (float)job->coef[k];
    if (job->rule == PDNN_UPDATE_RMSPROP)
        prepared.coef[1] = (float)(1 - job->coef[1]);
    if (job->rule == PDNN_UPDATE_MOMENT || job->rule == PDNN_UPDATE_SQUARE_MOMENT)
        prepared.coef[1] = (float)(1 - job->coef[0]);
    if (job->rule == PDNN_UPDATE_ADAM || job->rule == PDNN_UPDATE_ADAM_APPLY)
        prepare_adam(job, prepared.coef);
    if (job->rule == PDNN_UPDATE_LAMB_APPLY)
        prepared.coef[0] = (float)(job->coef[0] * trust_ratio(job));
    pdnn_team_run(threads, job->elements, update_part, &prepared);
}
