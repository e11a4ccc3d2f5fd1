#include "runtime/kernels/gemm/dense_few.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

/* Reading one stream leaves a third of the memory bandwidth unused: the hardware prefetcher runs only a
 * limited distance ahead of each stream, and software prefetching makes it worse. So weights are read as
 * STREAMS streams, far apart. GRAIN outputs are a cache line. */
enum { STREAMS = 4, GRAIN = 16 };

/* The outputs `first`, `first` + apart, ..., one per stream. */
struct tile {
    const struct pdnn_dense_few_job *job;
    int64_t first, apart;
};

/* sum[n * streams + s] += row n of x times the weights of stream s, with `unroll` consecutive vectors of one
 * stream before the next. Returns the number of inputs covered. */
PDNN_INLINE int64_t add_products(const struct tile *tile, const int rows, const int streams, const int unroll,
                                 pdnn_floats *sum) {
    const int64_t I = tile->job->I, apart = tile->apart * I;
    const float *w = tile->job->w + tile->first * I, *x = tile->job->x;
    int64_t i = 0;
    for (; i + unroll * PDNN_LANES <= I; i += unroll * PDNN_LANES) {
#pragma GCC unroll 8
        for (int k = 0; k < streams * unroll; k++) {
            const int stream = k / unroll, at = k % unroll * PDNN_LANES;
            pdnn_floats weights, inputs;
            pdnn_load(&weights, w + stream * apart + i + at);
#pragma GCC unroll 4
            for (int n = 0; n < rows; n++) {
                pdnn_load(&inputs, x + n * I + i + at);
                sum[(n * streams + stream) * unroll + k % unroll] += inputs * weights;
            }
        }
    }
    return i;
}

PDNN_INLINE void run_tile(const struct tile *tile, const int rows, const int streams, const int unroll) {
    const struct pdnn_dense_few_job *job = tile->job;
    pdnn_floats sum[2 * PDNN_DENSE_FEW_ROWS * STREAMS] = {{0}};
    int64_t done = add_products(tile, rows, streams, unroll, sum);
#pragma GCC unroll 16
    for (int k = 0; k < rows * streams; k++) {
        int64_t n = k / streams, o = tile->first + k % streams * tile->apart;
        pdnn_floats total = sum[k * unroll];
        for (int u = 1; u < unroll; u++)
            total += sum[k * unroll + u];
        float y = pdnn_sum(&total);
        for (int64_t i = done; i < job->I; i++)
            y += job->x[n * job->I + i] * job->w[o * job->I + i];
        job->y[n * job->O + o] = job->b ? y + job->b[o] : y;
    }
}

/* Outputs [span), in as many streams as there are registers for sums, then the remainder. */
PDNN_INLINE void run_span(const struct pdnn_dense_few_job *job, struct pdnn_span span, const int rows,
                          const int streams, const int unroll) {
    int64_t apart = (span.end - span.begin) / streams;
    for (int64_t o = 0; o < apart; o++)
        run_tile(&(struct tile){job, span.begin + o, apart}, rows, streams, unroll);
    for (int64_t o = span.begin + apart * streams; o < span.end; o++)
        run_tile(&(struct tile){job, o, 0}, rows, 1, unroll);
}

static void run_1(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_span(job, span, 1, STREAMS, 2);
}

static void run_2(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_span(job, span, 2, STREAMS, 1);
}

static void run_3(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_span(job, span, 3, STREAMS, 1);
}

static void run_4(const struct pdnn_dense_few_job *job, struct pdnn_span span) {
    run_span(job, span, 4, STREAMS / 2, 1);
}

static void few_part(void *work, int64_t index, int64_t parts) {
    static void (*const run[])(const struct pdnn_dense_few_job *job, struct pdnn_span span) = {run_1, run_2,
                                                                                               run_3, run_4};
    _Static_assert(sizeof run / sizeof *run == PDNN_DENSE_FEW_ROWS, "one function per number of rows");
    const struct pdnn_dense_few_job *job = work;
    struct pdnn_span span = pdnn_span_of(job->O, GRAIN, index, parts);
    run[job->N - 1](job, span);
    for (int64_t n = 0; n < job->N; n++) {
        float *y = job->y + n * job->O + span.begin;
        for (int i = 0; i < job->n_functions; i++) {
            const struct pdnn_elementwise_job function = {
                .function = job->function[i], .a = y, .y = y, .elements = span.end - span.begin};
            pdnn_elementwise_run(&function, 1);
        }
    }
}

PDNN_KERNEL(pdnn_dense_few_run, (const struct pdnn_dense_few_job *job, int64_t threads), (job, threads)) {
    struct pdnn_dense_few_job copy = *job;
    pdnn_team_run(threads, job->I * job->O, few_part, &copy);
}
