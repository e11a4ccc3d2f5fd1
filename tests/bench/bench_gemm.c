/* The largest products of the FC sweep against the FMA peak measured at the same time: oneDNN's two
 * primitives with both plain layouts of the weights, and OpenBLAS. An argument 1..3 picks one shape. */
#include "runtime/backends/onednn/dense/implementations.h"
#include "runtime/kernels/roofs/fma.h"
#include "tests/bench/bench.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#undef I /* the imaginary unit, from cblas.h */

enum { ROUNDS = 5, FMA_ITERATIONS = 20000000, VARIANTS = 4, PASSES = 3 };

/* N minibatch, I inputs, O outputs. */
static const int64_t shapes[][3] = {{1024, 8192, 8192}, {4096, 4096, 4096}, {1024, 2000, 8192}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct product {
    struct pdnn_onednn_dense_pass pass;
    int N, I, O;
    float *x, *w, *y;
};

static int64_t threads;
static double fma_flop;

static void run_fma(void *user) {
    float result;
    (void)user;
    fma_flop = (double)pdnn_fma_run(threads, FMA_ITERATIONS, &result);
}

static void run_onednn(void *user) {
    const struct product *p = user;
    if (pdnn_onednn_primitive_run(p->pass.primitive) != 0)
        bench_fail("oneDNN failed");
}

static void run_openblas(void *user) {
    const struct product *p = user;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->N, p->O, p->I, 1, p->x, p->I, p->w, p->I, 0, p->y,
                p->O);
}

static void bind(struct product *p, struct pdnn_onednn_dense_pass *pass) {
    pdnn_onednn_primitive_bind(pass->primitive, pass->x, p->x);
    pdnn_onednn_primitive_bind(pass->primitive, pass->w, p->w);
    pdnn_onednn_primitive_bind(pass->primitive, pass->y, p->y);
    uint64_t scratch = pdnn_onednn_primitive_bytes(pass->primitive, PDNN_ONEDNN_SCRATCHPAD);
    if (scratch)
        pdnn_onednn_primitive_bind(pass->primitive, PDNN_ONEDNN_SCRATCHPAD, bench_memory(scratch));
}

static float *new_matrix(int64_t elements) {
    float *values = bench_memory((uint64_t)elements * sizeof *values);
    for (int64_t i = 0; i < elements; i++)
        values[i] = (float)(i % 97) * 0.01F - 0.5F;
    return values;
}

static void bench_shape(struct pdnn_onednn_pool *pool, const int64_t *dims) {
    static const char *const names[VARIANTS] = {"oneDNN inner product ab", "oneDNN inner product ba",
                                                "oneDNN matmul ab", "oneDNN matmul ba"};
    const struct pdnn_onednn_dense_shape shape = {.N = dims[0], .I = dims[1], .O = dims[2]};
    struct product base = {.N = (int)shape.N, .I = (int)shape.I, .O = (int)shape.O};
    base.x = new_matrix(shape.N * shape.I);
    base.w = new_matrix(shape.O * shape.I);
    base.y = new_matrix(shape.N * shape.O);
    const double flop = 2.0 * (double)shape.N * (double)shape.I * (double)shape.O;
    struct product products[VARIANTS];
    struct bench_case cases[VARIANTS + 2] = {
        {.name = "FMA peak", .run = run_fma},
        {.name = "OpenBLAS", .run = run_openblas, .user = &base, .work = flop}};
    for (int i = 0; i < VARIANTS; i++) {
        struct pdnn_onednn_dense_variant variant = {i < 2 ? PDNN_ONEDNN_DENSE_INNER_PRODUCT
                                                          : PDNN_ONEDNN_DENSE_MATMUL,
                                                    (enum pdnn_onednn_weights_format)(i % 2)};
        products[i] = base;
        if (pdnn_onednn_dense_pass_create(pool, &shape, PDNN_FORWARD, variant, &products[i].pass, NULL) !=
            PDNN_OK)
            bench_fail("oneDNN has no such product");
        bind(&base, &products[i].pass);
        cases[i + 2] =
            (struct bench_case){.name = names[i], .run = run_onednn, .user = &products[i], .work = flop};
    }
    run_fma(NULL);
    cases[0].work = fma_flop;
    bench_run(cases, VARIANTS + 2, ROUNDS);
    printf("%dx%dx%d\n", base.N, base.I, base.O);
    for (int i = 0; i < VARIANTS + 2; i++) {
        struct bench_ratio ratio = bench_rate_ratio(&cases[i], &cases[0], ROUNDS);
        printf("  %-24s %8.1f GFLOP/s   %.2f (%.2f to %.2f) of the FMA peak\n", cases[i].name,
               cases[i].work / bench_median_ns(&cases[i], ROUNDS), ratio.median, ratio.low, ratio.high);
    }
    for (int i = 0; i < VARIANTS; i++)
        pdnn_onednn_primitive_destroy(products[i].pass.primitive);
}

int main(int argc, char **argv) {
    struct pdnn_onednn_pool pool = {0};
    threads = bench_threads();
    if (pdnn_onednn_library_create(&pool.library, NULL) != PDNN_OK)
        bench_fail("no oneDNN");
    printf("%d threads, medians of %d rounds in turns\n", (int)threads, ROUNDS);
    int only = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < SHAPES; i++) {
        if (!only || only == i + 1)
            bench_shape(&pool, shapes[i]);
    }
    pdnn_onednn_pool_finish(&pool);
    pdnn_onednn_library_destroy(pool.library);
    return 0;
}
