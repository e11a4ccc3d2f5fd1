/* An unrolled recurrent layer, forward and backward, against the FMA peak measured at the same time and, at
 * batch 1, against the time it takes to read U once per step from wherever it is. Arguments: cell, hidden
 * units, minibatch; without arguments, a standard set. */
#include "runtime/lowering/rnn_unrolled.h"
#include "runtime/kernels/roofs/fma.h"
#include "runtime/kernels/roofs/stream.h"
#include "tests/bench/bench.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef I /* the imaginary unit, from cblas.h */

enum { ROUNDS = 5, FMA_ITERATIONS = 20000000, STEPS = 50 };

static int64_t threads;
static double fma_flop;

static int sgemm(const struct pdnn_sgemm *g) {
    cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                g->b_transposed ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k, 1, g->a,
                (int)g->a_stride, g->b, (int)g->b_stride, g->accumulate ? 1 : 0, g->c, (int)g->c_stride);
    return 0;
}

static const struct pdnn_sgemm_library library = {.name = "openblas", .sgemm = sgemm};

static void run_fma(void *user) {
    float result;
    (void)user;
    fma_flop = (double)pdnn_fma_run(threads, FMA_ITERATIONS, &result);
}

struct read {
    struct pdnn_stream stream;
    struct pdnn_stream_job job;
};

static void run_read(void *user) {
    const struct read *read = user;
    float result;
    pdnn_stream_run(&read->stream, &read->job, &result);
}

static void run_layer(void *user) {
    if (pdnn_rnn_unrolled_run(user))
        bench_fail("the library failed");
}

static float *new_values(int64_t elements) {
    float *values = bench_memory((uint64_t)elements * sizeof *values);
    for (int64_t i = 0; i < elements; i++)
        values[i] = (float)(i % 97) * 0.001F - 0.05F;
    return values;
}

/* Inference, or training forward and backward on the same memory. */
static void make(struct pdnn_rnn_unrolled *rnn) {
    const struct pdnn_cell_def *cell = &pdnn_cells[rnn->cell];
    int64_t R = rnn->T * rnn->N, gates = rnn->G * rnn->H;
    rnn->x = new_values(R * rnn->I);
    rnn->w = new_values(gates * rnn->I);
    rnn->u = new_values(gates * rnn->H);
    rnn->b = new_values(rnn->sums * rnn->H);
    rnn->y = new_values(R * rnn->H);
    rnn->saved = rnn->is_train && cell->n_saved ? new_values(R * cell->n_saved * rnn->H) : NULL;
    rnn->dy = new_values(R * rnn->H);
    rnn->dw = new_values(gates * rnn->I);
    rnn->du = new_values(gates * rnn->H);
    rnn->db = new_values(rnn->sums * rnn->H);
    rnn->dx = new_values(R * rnn->I);
}

static void bench_layer(enum pdnn_cell cell, int64_t H, int64_t N) {
    const struct pdnn_cell_def *def = &pdnn_cells[cell];
    struct pdnn_rnn_unrolled infer = {
        .library = &library,
        .threads = threads,
        .cell = cell,
        .T = STEPS,
        .N = N,
        .I = H,
        .H = H,
        .G = def->n_gates,
        .sums = def->n_biases,
    };
    struct pdnn_rnn_unrolled train = infer;
    train.is_train = true;
    make(&infer);
    make(&train);
    struct pdnn_rnn_unrolled back = train;
    back.is_backward = true;
    infer.scratch = bench_memory(pdnn_rnn_unrolled_scratch_bytes(&infer));
    train.scratch = bench_memory(pdnn_rnn_unrolled_scratch_bytes(&train));
    back.scratch = bench_memory(pdnn_rnn_unrolled_scratch_bytes(&back));
    double u_bytes = (double)(def->n_gates * H * H) * sizeof(float), flop = u_bytes * STEPS * (double)N;
    struct read read = {.job = {PDNN_STREAM_READ, threads, STEPS, false}};
    if (pdnn_stream_create(&read.stream, threads, (uint64_t)u_bytes / (uint64_t)threads, NULL) != PDNN_OK)
        bench_fail("out of memory");
    struct bench_case cases[] = {
        {.name = "FMA peak", .run = run_fma},
        {.name = "reading U at each step", .run = run_read, .user = &read},
        {.name = "forward", .run = run_layer, .user = &infer, .work = flop},
        {.name = "forward, training", .run = run_layer, .user = &train, .work = flop},
        {.name = "backward", .run = run_layer, .user = &back, .work = 2 * flop},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    run_fma(NULL);
    cases[0].work = fma_flop;
    cases[1].work = u_bytes * STEPS;
    bench_run(cases, CASES, ROUNDS);
    printf("%s H=%d N=%d T=%d\n", def->name, (int)H, (int)N, STEPS);
    for (size_t i = 0; i < CASES; i++) {
        double ns = bench_median_ns(&cases[i], ROUNDS);
        printf("  %-24s %8.2f ms  %6.1f G/s", cases[i].name, ns / 1e6, cases[i].work / ns);
        if (i > 1) {
            /* In the backward pass, only the product for dh' reads U once per step. */
            double read_ns = bench_median_ns(&cases[1], ROUNDS);
            printf("   %.2f of the FMA peak, %.2f of reading U",
                   bench_rate_ratio(&cases[i], &cases[0], ROUNDS).median, read_ns / ns);
        }
        printf("\n");
    }
    pdnn_stream_destroy(&read.stream);
}

static enum pdnn_cell cell_named(const char *name) {
    for (int i = 0; i < PDNN_CELL_COUNT; i++) {
        if (strcmp(pdnn_cells[i].name, name) == 0)
            return (enum pdnn_cell)i;
    }
    bench_fail("no such cell");
}

int main(int argc, char **argv) {
    static const int64_t hidden[] = {512, 1024}, batches[] = {1, 32, 128};
    threads = bench_threads();
    printf("%d threads, medians of %d rounds in turns\n", (int)threads, ROUNDS);
    if (argc > 3) {
        bench_layer(cell_named(argv[1]), atoll(argv[2]), atoll(argv[3]));
        return 0;
    }
    for (int i = 0; i < 6; i++)
        bench_layer(argc > 1 ? cell_named(argv[1]) : PDNN_CELL_LSTM, hidden[i / 3], batches[i % 3]);
    return 0;
}
