#include "runtime/kernels/rows/loss.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>

static float row_max(const float *x, int64_t n) {
    float max = x[0];
#pragma omp simd reduction(max : max)
    for (int64_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

/* Returns the sum, whose rounding grows with a block and not with the row. */
static double row_exp(const float *x, float max, float *y, int64_t n) {
    enum { BLOCK = 256 };
    double total = 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t end = n - begin < BLOCK ? n : begin + BLOCK;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = begin; i < end; i++) {
            float e = pdnn_exp(x[i] - max);
            y[i] = e;
            sum += e;
        }
        total += (double)sum;
    }
    return total;
}

static void row_scale(const float *x, float factor, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * factor;
}

/* Number of rows with a label. */
static int64_t count_labels(const int32_t *label, int64_t n) {
    int64_t count = 0;
#pragma omp simd reduction(+ : count)
    for (int64_t i = 0; i < n; i++)
        count += label[i] >= 0;
    return count;
}

static void forward_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_loss_job *loss = job;
    struct pdnn_span rows = pdnn_span_of(loss->N, 1, index, parts);
    double sum = 0;
    for (int64_t n = rows.begin; n < rows.end; n++) {
        const float *x = loss->x + n * loss->C;
        float *p = loss->y + n * loss->C;
        float max = row_max(x, loss->C), at_label = loss->label[n] < 0 ? 0 : x[loss->label[n]];
        double total = row_exp(x, max, p, loss->C);
        row_scale(p, (float)(1 / total), p, loss->C);
        if (loss->label[n] >= 0)
            sum += (double)max + log(total) - (double)at_label;
    }
    loss->partial[index * PDNN_LOSS_STRIDE] = sum;
}

PDNN_KERNEL(pdnn_loss_forward, (const struct pdnn_loss_job *job, int64_t threads), (job, threads)) {
    struct pdnn_loss_job copy = *job;
    for (int64_t i = 0; i < threads; i++)
        job->partial[i * PDNN_LOSS_STRIDE] = 0;
    pdnn_team_run(threads, job->N * job->C, forward_part, &copy);
    double sum = 0;
    for (int64_t i = 0; i < threads; i++)
        sum += job->partial[i * PDNN_LOSS_STRIDE];
    *job->loss = (float)(job->scale * sum / (double)count_labels(job->label, job->N));
}

static void backward_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_loss_job *loss = job;
    struct pdnn_span rows = pdnn_span_of(loss->N, 1, index, parts);
    float factor = (float)loss->scale / (float)count_labels(loss->label, loss->N);
    for (int64_t n = rows.begin; n < rows.end; n++) {
        float *dx = loss->y + n * loss->C;
        row_scale(loss->x + n * loss->C, loss->label[n] < 0 ? 0 : factor, dx, loss->C);
        if (loss->label[n] >= 0)
            dx[loss->label[n]] -= factor;
    }
}

PDNN_KERNEL(pdnn_loss_backward, (const struct pdnn_loss_job *job, int64_t threads), (job, threads)) {
    struct pdnn_loss_job copy = *job;
    pdnn_team_run(threads, job->N * job->C, backward_part, &copy);
}
