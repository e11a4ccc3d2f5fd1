/* Products of heads, for attention and its gradients, in every available way, against the roofs measured
 * at the same time: the FMA peak or the DRAM copy bandwidth, whichever is lower at the product's
 * operational intensity. Queries, keys and values are columns of one tensor, as in BERT-Large training (n
 * 128 and 512, d 64), or they are caches of keys and values that one new token reads, different ones each
 * time so that they come from DRAM. Arguments: sequences, heads, queries, keys, width of a head; without
 * arguments, a standard set of shapes. */
#include "runtime/backends/onednn/matmul/implementations.h"
#include "runtime/kernels/roofs/fma.h"
#include "runtime/kernels/roofs/stream.h"
#include "tests/bench/bench.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#undef I /* the imaginary unit, from cblas.h */

/* COLD_BYTES fit in no cache. */
enum { ROUNDS = 5, FMA_ITERATIONS = 5000000, WAYS = PDNN_ONEDNN_MATMUL_WAY_COUNT + 1, AT_LEAST_NS = 3000000 };
enum { COLD_BYTES = 256 << 20, SCRATCH_BYTES = 64 << 20 };

static int64_t threads;
static double fma_flop;

static void run_fma(void *user) {
    float result;
    (void)user;
    fma_flop = (double)pdnn_fma_run(threads, FMA_ITERATIONS, &result);
}

struct copy {
    struct pdnn_stream stream;
    struct pdnn_stream_job job;
    double bytes;
};

static void run_copy(void *user) {
    struct copy *copy = user;
    float result;
    copy->bytes = (double)pdnn_stream_run(&copy->stream, &copy->job, &result);
}

static int sgemm(const struct pdnn_sgemm *g) {
    cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                g->b_transposed ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k, 1, g->a,
                (int)g->a_stride, g->b, (int)g->b_stride, 0, g->c, (int)g->c_stride);
    return 0;
}

/* One way to multiply, on several sets of tensors in turn. */
enum { SETS_MAX = 256 };
struct turns {
    struct pdnn_matmul_work work[SETS_MAX];
    int n_sets, next;
};

static void run_next(void *user) {
    struct turns *turns = user;
    const struct pdnn_matmul_work *work = &turns->work[turns->next];
    if (work->run(work->state))
        bench_fail("the library failed");
    turns->next = (turns->next + 1) % turns->n_sets;
}

struct shape {
    int64_t B, h, n, m, d;
};

/* Heads side by side in rows of ld columns. */
static struct pdnn_heads wide(const struct shape *s, int64_t rows, int64_t ld) {
    return (struct pdnn_heads){.heads = s->h,
                               .rows = rows,
                               .columns = s->d,
                               .sequence_stride = rows * ld,
                               .head_stride = s->d,
                               .row_stride = ld};
}

static struct pdnn_heads plain(const struct shape *s, int64_t rows, int64_t columns) {
    return (struct pdnn_heads){.heads = s->h,
                               .rows = rows,
                               .columns = columns,
                               .sequence_stride = s->h * rows * columns,
                               .head_stride = rows * columns,
                               .row_stride = columns};
}

static struct pdnn_heads turned(struct pdnn_heads heads) {
    heads.transposed = true;
    return heads;
}

/* By name; M, N and K follow from the operands. */
struct named {
    const char *name;
    struct pdnn_heads a, b, y;
};

static struct pdnn_heads_product product_of(const struct shape *s, const struct named *named) {
    const struct pdnn_heads *a = &named->a;
    return (struct pdnn_heads_product){.B = s->B,
                                       .h = s->h,
                                       .M = named->y.rows,
                                       .N = named->y.columns,
                                       .K = a->transposed ? a->rows : a->columns,
                                       .a = named->a,
                                       .b = named->b,
                                       .y = named->y};
}

/* All measured tensors come from one pool, since memory is never freed. */
static struct {
    char *begin;
    uint64_t bytes, used;
} pool = {.bytes = 768 << 20};

static void *new_tensor(const struct pdnn_heads_product *product, const struct pdnn_heads *heads) {
    enum { GAP = 17 * 4096 + 5 * 64 }; /* as between tensors in plans */
    int64_t elements = product->B * heads->sequence_stride;
    float *values = (void *)(pool.begin + pool.used);
    pool.used += ((uint64_t)elements * sizeof *values + 63) / 64 * 64 + GAP;
    if (pool.used > pool.bytes)
        bench_fail("the pool is too small");
    for (int64_t i = 0; i < elements; i++)
        values[i] = (float)(i % 97) * 0.01F - 0.5F;
    return values;
}

/* False if there is no such way. The last way is OpenBLAS in place of the library's sgemm. */
static bool make_way(struct pdnn_onednn_pool *layouts, struct pdnn_arena *arena,
                     const struct pdnn_heads_product *product, int way, struct pdnn_matmul_work *work) {
    const struct pdnn_matmul_job job = {
        .product = *product, .dtype = PDNN_F32, .threads = threads, .sgemm = sgemm};
    if (way < PDNN_ONEDNN_MATMUL_WAY_COUNT)
        return pdnn_onednn_matmul_work(layouts, arena, product,
                                       (struct pdnn_onednn_matmul_dtypes){PDNN_F32, PDNN_F32},
                                       (enum pdnn_onednn_matmul_way)way, threads, work, NULL) == PDNN_OK;
    *work = pdnn_matmul_work_of(arena, &job);
    snprintf(work->name, sizeof work->name, "openblas:sgemm");
    return true;
}

static void print_case(const struct bench_case *c, const struct bench_case *roofs, double bytes) {
    double ns = bench_median_ns(c, ROUNDS);
    double by_compute = bench_rate_ratio(c, &roofs[0], ROUNDS).median;
    struct bench_case moved = *c;
    moved.work = bytes;
    double by_memory = bench_rate_ratio(&moved, &roofs[1], ROUNDS).median;
    printf("    %-24s %8.3f ms %7.1f GFLOP/s %6.1f GB/s  %.2f of the FMA peak, %.2f of DRAM copy\n", c->name,
           ns / 1e6, c->work / ns, bytes / ns, by_compute, by_memory);
}

/* One product in all ways. */
struct contest {
    struct pdnn_heads_product product;
    double flop, bytes;
    int n_sets, n_ways;
    struct pdnn_matmul_memory memory[SETS_MAX];
    struct turns turns[WAYS];
    struct pdnn_arena arena; /* of the works */
};

static void enter_way(struct contest *contest, struct pdnn_onednn_pool *layouts, int way, void *scratch) {
    struct turns *turns = &contest->turns[contest->n_ways];
    *turns = (struct turns){.n_sets = contest->n_sets};
    for (int i = 0; i < contest->n_sets; i++) {
        struct pdnn_matmul_work *work = &turns->work[i];
        if (!make_way(layouts, &contest->arena, &contest->product, way, work))
            return;
        contest->memory[i].scratch = work->scratch_bytes ? scratch : NULL;
        if (work->scratch_bytes > SCRATCH_BYTES)
            bench_fail("no place for a product");
        work->bind(work->state, &contest->memory[i]);
    }
    contest->n_ways++;
}

static void run_contest(struct contest *contest, struct copy *copy) {
    struct bench_case cases[WAYS + 2] = {{.name = "FMA peak", .run = run_fma, .work = fma_flop},
                                         {.name = "DRAM copy", .run = run_copy, .user = copy}};
    for (int i = 0; i < contest->n_ways; i++)
        cases[i + 2] = (struct bench_case){.name = contest->turns[i].work[0].name,
                                           .run = run_next,
                                           .user = &contest->turns[i],
                                           .work = contest->flop,
                                           .at_least_ns = AT_LEAST_NS};
    bench_run(cases, (size_t)contest->n_ways + 2, ROUNDS);
    cases[1].work = copy->bytes;
    for (int i = 0; i < contest->n_ways; i++)
        print_case(&cases[i + 2], cases, contest->bytes);
}

/* Only the columns in use count as traffic; a set still occupies whole tensors. */
static void bench_product(struct pdnn_onednn_pool *layouts, const struct shape *s, const struct named *named,
                          struct copy *copy) {
    static struct contest contest;
    static void *scratch;
    contest = (struct contest){.product = product_of(s, named), .n_sets = 1};
    const struct pdnn_heads_product *p = &contest.product;
    contest.flop = 2.0 * (double)(p->B * p->h) * (double)(p->M * p->N * p->K);
    contest.bytes = sizeof(float) * (double)(pdnn_heads_elements(p, &p->a) + pdnn_heads_elements(p, &p->b) +
                                             pdnn_heads_elements(p, &p->y));
    if (s->n == 1)
        contest.n_sets = (int)(COLD_BYTES / contest.bytes) + 1;
    contest.n_sets = contest.n_sets < SETS_MAX ? contest.n_sets : SETS_MAX;
    pool.used = 0;
    for (int i = 0; i < contest.n_sets; i++)
        contest.memory[i] = (struct pdnn_matmul_memory){new_tensor(p, &p->a), new_tensor(p, &p->b),
                                                        new_tensor(p, &p->y), NULL};
    if (!scratch)
        scratch = bench_memory(SCRATCH_BYTES);
    for (int way = 0; way < WAYS; way++)
        enter_way(&contest, layouts, way, scratch);
    printf("  %-8s %.1f FLOP/byte\n", named->name, contest.flop / contest.bytes);
    run_contest(&contest, copy);
    for (int i = 0; i < contest.n_ways; i++) {
        for (int k = 0; k < contest.n_sets; k++) {
            struct pdnn_matmul_work *work = &contest.turns[i].work[k];
            if (work->destroy)
                work->destroy(work->state);
        }
    }
    pdnn_arena_finish(&contest.arena);
}

/* Scores, context and their gradients; for one new token, only the two forward products. */
static void bench_shape(struct pdnn_onednn_pool *layouts, const struct shape *s, struct copy *copy) {
    int64_t H = s->h * s->d, ld = s->n > 1 ? 3 * H : H;
    const struct pdnn_heads q = wide(s, s->n, 3 * H), k = wide(s, s->m, ld), context = wide(s, s->n, H);
    const struct pdnn_heads p = plain(s, s->n, s->m);
    const struct named products[] = {
        {"scores", q, turned(k), p}, {"context", p, k, context}, {"dq", p, k, q},
        {"dk", turned(p), q, k},     {"dp", q, turned(k), p},    {"dv", turned(p), context, k},
    };
    int count = s->n > 1 ? sizeof products / sizeof *products : 2;
    printf("B=%d h=%d n=%d m=%d d=%d\n", (int)s->B, (int)s->h, (int)s->n, (int)s->m, (int)s->d);
    for (int i = 0; i < count; i++)
        bench_product(layouts, s, &products[i], copy);
}

int main(int argc, char **argv) {
    static const struct shape shapes[] = {
        {4, 16, 128, 128, 64}, {16, 16, 128, 128, 64}, {32, 16, 128, 128, 64}, {4, 16, 512, 512, 64},
        {1, 12, 1, 512, 64},   {1, 25, 1, 1024, 64},   {16, 16, 1, 512, 64}};
    struct pdnn_onednn_pool layouts = {0};
    threads = bench_threads();
    struct copy copy = {.job = {PDNN_STREAM_COPY, threads, 1, true}};
    pool.begin = bench_memory(pool.bytes);
    if (pdnn_onednn_library_create(&layouts.library, NULL) != PDNN_OK ||
        pdnn_stream_create(&copy.stream, threads, (uint64_t)COLD_BYTES / (uint64_t)threads, NULL) != PDNN_OK)
        bench_fail("no oneDNN or no memory");
    run_fma(NULL);
    printf("%d threads, medians of %d rounds in turns\n", (int)threads, ROUNDS);
    if (argc > 5) {
        const struct shape s = {atoll(argv[1]), atoll(argv[2]), atoll(argv[3]), atoll(argv[4]),
                                atoll(argv[5])};
        bench_shape(&layouts, &s, &copy);
    }
    for (size_t i = 0; argc <= 5 && i < sizeof shapes / sizeof *shapes; i++)
        bench_shape(&layouts, &shapes[i], &copy);
    pdnn_stream_destroy(&copy.stream);
    pdnn_onednn_pool_finish(&layouts);
    pdnn_onednn_library_destroy(layouts.library);
    return 0;
}
