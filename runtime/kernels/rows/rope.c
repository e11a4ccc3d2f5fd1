#include "runtime/kernels/rows/rope.h"

#include "runtime/kernels/simd/blocks.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <string.h>

/* Of each pair of a head. */
struct angles {
    double *cosine, *sine;
};

/* What a thread works with: the angles of a sequence's first row, of one step, and of the current row, from
 * which the next row's follow by turning them a step further; and a head in f32, where it is not turned in
 * place. */
struct work {
    const struct pdnn_rope *job;
    struct angles first, step, now;
    float *cosine, *sine; /* of now */
    float *head;
    int64_t pairs;
};

enum { LINE = 16, DOUBLES = 6 };

static int64_t thread_floats(int64_t width) {
    int64_t pairs = (width / 2 + LINE - 1) / LINE * LINE;
    return (DOUBLES * (int64_t)(sizeof(double) / sizeof(float)) + 2 + 2) * pairs;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_rope_scratch, (int64_t width, int64_t threads), (width, threads)) {
    return threads * thread_floats(width);
}

static struct angles take(double **room, int64_t pairs) {
    double *at = *room;
    *room += 2 * pairs;
    return (struct angles){at, at + pairs};
}

static void set_angles(const struct work *work, struct angles angles, int64_t position) {
    for (int64_t i = 0; i < work->job->width / 2; i++) {
        double angle = (double)position * pow(work->job->theta, -2 * (double)i / (double)work->job->width);
        angles.cosine[i] = cos(angle);
        angles.sine[i] = sin(angle);
    }
}

static struct work begin(const struct pdnn_rope *job, int64_t index, bool is_row) {
    int64_t pairs = (job->width / 2 + LINE - 1) / LINE * LINE;
    double *room = (double *)(job->scratch + index * thread_floats(job->width));
    struct work work = {.job = job, .pairs = job->width / 2};
    work.first = take(&room, pairs);
    work.step = take(&room, pairs);
    work.now = take(&room, pairs);
    work.cosine = (float *)room;
    work.sine = work.cosine + pairs;
    work.head = work.sine + pairs;
    set_angles(&work, work.first, job->position);
    if (!is_row)
        set_angles(&work, work.step, 1);
    return work;
}

/* The angles of a row. */
static void set_row(const struct work *work, int64_t row, bool is_next) {
    const struct angles *now = &work->now, *step = &work->step;
    int64_t t = row % work->job->rows;
    if (t == 0) {
        memcpy(now->cosine, work->first.cosine, (size_t)work->pairs * sizeof(double));
        memcpy(now->sine, work->first.sine, (size_t)work->pairs * sizeof(double));
    } else if (!is_next) {
        set_angles(work, *now, work->job->position + t);
    } else {
#pragma omp simd
        for (int64_t i = 0; i < work->pairs; i++) {
            double c = now->cosine[i], s = now->sine[i];
            now->cosine[i] = c * step->cosine[i] - s * step->sine[i];
            now->sine[i] = s * step->cosine[i] + c * step->sine[i];
        }
    }
    float sign = work->job->back ? -1.0F : 1.0F;
#pragma omp simd
    for (int64_t i = 0; i < work->pairs; i++) {
        work->cosine[i] = (float)now->cosine[i];
        work->sine[i] = sign * (float)now->sine[i];
    }
}

/* Turns one head; y may be x. */
static void turn(const struct work *work, const float *x, float *y) {
    const float *cosine = work->cosine, *sine = work->sine;
    int64_t n = work->pairs;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float first = x[i], second = x[i + n];
        y[i] = first * cosine[i] - second * sine[i];
        y[i + n] = second * cosine[i] + first * sine[i];
    }
}

static void turn_head(const struct work *work, int64_t at) {
    const struct pdnn_rope *job = work->job;
    const float *x = pdnn_block_read(job->x, at, job->width, work->head, job->stored);
    float *y = pdnn_block_place(job->y, at, work->head, job->stored, job->bypass);
    turn(work, x, y);
    pdnn_block_write(job->y, at, y, job->width, job->stored, job->bypass);
}

/* Copies columns [begin, end) of a row. */
static void copy(const struct pdnn_rope *job, int64_t row, int64_t begin, int64_t end) {
    const int64_t bytes = pdnn_stored_bytes(job->stored), at = (row * job->ld + begin) * bytes;
    if (job->x != job->y)
        memcpy((char *)job->y + at, (const char *)job->x + at, (size_t)((end - begin) * bytes));
}

static void run_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rope *job = state;
    struct pdnn_span span = pdnn_span_of(job->R, 1, index, parts);
    if (span.begin == span.end)
        return;
    struct work work = begin(job, index, span.end - span.begin == 1);
    for (int64_t row = span.begin; row < span.end; row++) {
        set_row(&work, row, row > span.begin);
        copy(job, row, 0, job->column);
        for (int64_t head = 0; head < job->heads; head++)
            turn_head(&work, row * job->ld + job->column + head * job->width);
        copy(job, row, job->column + job->heads * job->width, job->ld);
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_rope_run, (const struct pdnn_rope *job, int64_t threads), (job, threads)) {
    struct pdnn_rope copy_of_job = *job;
    copy_of_job.bypass = job->bypass && pdnn_block_streams(job->width, job->stored) &&
                         pdnn_block_streams(job->column, job->stored) &&
                         pdnn_block_streams(job->ld, job->stored);
    pdnn_team_run(threads, job->R * job->heads * job->width, run_part, &copy_of_job);
}
