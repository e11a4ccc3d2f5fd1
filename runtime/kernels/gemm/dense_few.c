#include "runtime/kernels/gemm/dense_few.h"

#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

/* Reading one stream leaves a third of the memory bandwidth unused: the hardware prefetcher runs only a
 * limited distance ahead of each stream. So weights are read as STREAMS streams, far apart, and AHEAD_BYTES
 * of each are prefetched: with 1 KiB, 2 threads of a Zen 5 read bf16 weights at 72 GB/s instead of 68, with
 * half of it at 58, with twice as much at 69. GRAIN outputs are a cache line. */
enum { STREAMS = 4, AHEAD_BYTES = 1024, LINE_BYTES = 64, GRAIN = 16 };

/* The outputs `first`, `first` + apart, ..., one per stream. */
struct tile {
    const struct pdnn_dense_few_job *job;
    int64_t first, apart;
};

PDNN_INLINE const void *weights_of(const struct pdnn_dense_few_job *job, const enum pdnn_stored in) {
    return in == PDNN_STORED_F32 ? (const void *)job->w : job->half_w;
}

/* Prefetches what follows vector `at` of the weights, once in each line. */
PDNN_INLINE void fetch(const struct pdnn_dense_few_job *job, int64_t at, const int vector,
                       const enum pdnn_stored in) {
    const int bytes = in == PDNN_STORED_F32 ? (int)sizeof *job->w : (int)sizeof *job->half_w;
    const char *w = in == PDNN_STORED_F32 ? (const char *)(job->w + at) : (const char *)(job->half_w + at);
    if (vector * PDNN_LANES * bytes % LINE_BYTES == 0)
        __builtin_prefetch(w + AHEAD_BYTES);
}

/* sum[n * streams + s] += row n of x times the weights of stream s, with `unroll` consecutive vectors of one
 * stream before the next. Returns the number of inputs covered. */
PDNN_INLINE int64_t add_products(const struct tile *tile, const int rows, const int streams, const int unroll,
                                 const enum pdnn_stored in, pdnn_floats *sum) {
    const int64_t I = tile->job->I, apart = tile->apart * I, w = tile->first * I;
    const float *x = tile->job->x;
    int64_t i = 0;
    for (; i + unroll * PDNN_LANES <= I; i += unroll * PDNN_LANES) {
#pragma GCC unroll 8
        for (int k = 0; k < streams * unroll; k++) {
            const int stream = k / unroll, at = k % unroll * PDNN_LANES;
            pdnn_floats weights, inputs;
            fetch(tile->job, w + stream * apart + i + at, k % unroll, in);
            pdnn_load_stored(&weights, weights_of(tile->job, in), w + stream * apart + i + at, in);
#pragma GCC unroll 4
            for (int n = 0; n < rows; n++) {
                pdnn_load(&inputs, x + n * I + i + at);
                sum[(n * streams + stream) * unroll + k % unroll] += inputs * weights;
            }
        }
    }
    return i;
}

PDNN_INLINE void run_tile(const struct tile *tile, const int rows, const int streams, const int unroll,
                          const enum pdnn_stored in) {
    const struct pdnn_dense_few_job *job = tile->job;
    pdnn_floats sum[2 * PDNN_DENSE_FEW_ROWS * STREAMS] = {{0}};
    int64_t done = add_products(tile, rows, streams, unroll, in, sum);
#pragma GCC unroll 16
    for (int k = 0; k < rows * streams; k++) {
        int64_t n = k / streams, o = tile->first + k % streams * tile->apart;
        pdnn_floats total = sum[k * unroll];
        for (int u = 1; u < unroll; u++)
            total += sum[k * unroll + u];
        float y = pdnn_sum(&total);
        for (int64_t i = done; i < job->I; i++)
            y += job->x[n * job->I + i] * pdnn_stored_value(weights_of(job, in), o * job->I + i, in);
        job->y[n * job->O + o] = job->b ? y + job->b[o] : y;
    }
}

/* Outputs [span), in as many streams as there are registers for sums, then the remainder. */
PDNN_INLINE void run_span(const struct pdnn_dense_few_job *job, struct pdnn_span span, const int rows,
                          const int streams, const int unroll, const enum pdnn_stored in) {
    int64_t apart = (span.end - span.begin) / streams;
    for (int64_t o = 0; o < apart; o++)
        run_tile(&(struct tile){job, span.begin + o, apart}, rows, streams, unroll, in);
    for (int64_t o = span.begin + apart * streams; o < span.end; o++)
        run_tile(&(struct tile){job, o, 0}, rows, 1, unroll, in);
}

PDNN_INLINE void run_rows(const struct pdnn_dense_few_job *job, struct pdnn_span span,
                          const enum pdnn_stored in) {
    _Static_assert(PDNN_DENSE_FEW_ROWS == 4, "a case for each number of rows");
    switch (job->N) {
    case 1:
        run_span(job, span, 1, STREAMS, 2, in);
        break;
    case 2:
        run_span(job, span, 2, STREAMS, 1, in);
        break;
    case 3:
        run_span(job, span, 3, STREAMS, 1, in);
        break;
    default:
        run_span(job, span, 4, PDNN_LANES == 16 ? STREAMS : STREAMS / 2, 1, in); /* by registers */
    }
}

static void run_f32(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_rows(job, span, PDNN_STORED_F32);
}

static void run_bf16(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_rows(job, span, PDNN_STORED_BF16);
}

static void run_f16(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_rows(job, span, PDNN_STORED_F16);
}

static void few_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_dense_few_job *job = work;
    struct pdnn_span span = pdnn_span_of(job->O, GRAIN, index, parts);
    (!job->is_half ? run_f32 : job->half == PDNN_HALF_BF16 ? run_bf16 : run_f16)(job, span);
    for (int64_t n = 0; n < job->N; n++) {
        float *y = job->y + n * job->O + span.begin;
        for (int i = 0; i < job->n_functions; i++) {
            const struct pdnn_dense_few_function *row = &job->function[i];
            const struct pdnn_elementwise_job function = {.function = row->function,
                                                          .a = y,
                                                          .y = y,
                                                          .elements = span.end - span.begin,
                                                          .coef = {row->coef[0], row->coef[1]}};
            pdnn_elementwise_run(&function, 1);
        }
        if (job->is_half)
            pdnn_half_narrow(job->half, y, job->half_y + n * job->O + span.begin, span.end - span.begin);
    }
}

PDNN_KERNEL(pdnn_dense_few_run, (const struct pdnn_dense_few_job *job, int64_t threads), (job, threads)) {
    struct pdnn_dense_few_job copy = *job;
    if (job->is_half) {
        pdnn_half_widen(job->half, job->half_x, job->room, job->N * job->I);
        copy.x = job->room;
        copy.y = job->room + job->N * job->I;
    }
    pdnn_team_run(threads, job->I * job->O, few_part, &copy);
}
