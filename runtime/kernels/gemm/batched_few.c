#include "runtime/kernels/gemm/batched_loops.h"

#include "runtime/kernels/simd/lanes.h"

#include <string.h>

/* A core gets more bandwidth when it reads from several places at once: STREAMS lines of b, far apart. With
 * heads side by side in a row, the heads' parts of a line are contiguous, so memory is read in order. */
enum { STREAMS = 4 };

/* The current lines of b, one per stream: `line`, `line` + apart, ... */
struct lines {
    const struct pdnn_batched_few *few;
    int64_t line, apart;
};

/* One row of one head. */
struct row {
    const float *a, *b; /* b: of the first current line; a: the whole row */
    float *y;
    int64_t apart; /* between current lines, in floats */
    int64_t length;
};

PDNN_INLINE struct row row_of(const struct lines *lines, int64_t m, int64_t head) {
    const struct pdnn_batched_few *few = lines->few;
    const struct pdnn_batched_job *job = few->job;
    const struct pdnn_batched_place *place = &job->b_place;
    return (struct row){
        .a = job->a + pdnn_batched_at(&job->a_place, few->sequence, head) + m * job->a_place.row_stride,
        .b = job->b + pdnn_batched_at(place, few->sequence, head) + lines->line * place->row_stride,
        .y = few->y + head * few->y_place.head_stride + m * few->y_place.row_stride,
        .apart = lines->apart * place->row_stride,
        .length = place->transposed ? job->K : job->N,
    };
}

/* y[line] = a . line, for each line. */
PDNN_INLINE void dot(const struct lines *lines, int64_t m, int64_t head, const int streams) {
    const struct row row = row_of(lines, m, head);
    pdnn_floats sum[STREAMS] = {{0}}, a, b;
    int64_t i = 0;
    for (; i + PDNN_LANES <= row.length; i += PDNN_LANES) {
        pdnn_load(&a, row.a + i);
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            pdnn_load(&b, row.b + s * row.apart + i);
            sum[s] += a * b;
        }
    }
#pragma GCC unroll 4
    for (int s = 0; s < streams; s++) {
        float y = pdnn_sum(&sum[s]);
        for (int64_t k = i; k < row.length; k++)
            y += row.a[k] * row.b[s * row.apart + k];
        row.y[lines->line + s * lines->apart] = y;
    }
}

/* y += a[line] * line, summed over the current lines. */
PDNN_INLINE void combine(const struct lines *lines, int64_t m, int64_t head, const int streams) {
    const struct row row = row_of(lines, m, head);
    float a[STREAMS];
    int64_t i = 0;
    for (int s = 0; s < streams; s++)
        a[s] = row.a[lines->line + s * lines->apart];
    for (; i + PDNN_LANES <= row.length; i += PDNN_LANES) {
        pdnn_floats sum, b;
        pdnn_load(&sum, row.y + i);
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            pdnn_load(&b, row.b + s * row.apart + i);
            sum += a[s] * b;
        }
        pdnn_store(row.y + i, &sum);
    }
    for (; i < row.length; i++) {
        for (int s = 0; s < streams; s++)
            row.y[i] += a[s] * row.b[s * row.apart + i];
    }
}

PDNN_INLINE void run_heads(const struct lines *lines, const bool transposed, const int streams) {
    const struct pdnn_batched_few *few = lines->few;
    for (int64_t m = 0; m < few->job->M; m++) {
        for (int64_t head = few->heads.begin; head < few->heads.end; head++)
            (transposed ? dot : combine)(lines, m, head, streams);
    }
}

PDNN_INLINE void run_lines(const struct pdnn_batched_few *few, const bool transposed) {
    int64_t apart = (few->lines.end - few->lines.begin) / STREAMS;
    for (int64_t t = 0; t < apart; t++)
        run_heads(&(struct lines){few, few->lines.begin + t, apart}, transposed, STREAMS);
    for (int64_t t = few->lines.begin + STREAMS * apart; t < few->lines.end; t++)
        run_heads(&(struct lines){few, t, 0}, transposed, 1);
}

static void dot_lines(const struct pdnn_batched_few *few) {
    run_lines(few, true);
}

static void combine_lines(const struct pdnn_batched_few *few) {
    run_lines(few, false);
}

void PDNN_HERE(pdnn_batched_few)(const struct pdnn_batched_few *few) {
    const struct pdnn_batched_job *job = few->job;
    if (job->b_place.transposed) {
        dot_lines(few);
        return;
    }
    for (int64_t m = 0; m < job->M; m++) {
        for (int64_t head = few->heads.begin; head < few->heads.end; head++)
            memset(few->y + head * few->y_place.head_stride + m * few->y_place.row_stride, 0,
                   (size_t)job->N * sizeof *few->y);
    }
    combine_lines(few);
}
