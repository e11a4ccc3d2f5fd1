#include "runtime/backends/onednn/matmul/tune.h"

#include "runtime/backends/onednn/block.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Shapes with more multiply-adds (about 3 ms on one thread) or more elements read and written are measured
 * with fewer sequences, since all sequences are alike; they share the times of what they shrink to. */
enum { MAX_MULTIPLY_ADDS = 200000000, MAX_ELEMENTS = 1 << 23 };
enum { COMPILATIONS = 2, ROUNDS = 3, VISIT_NS = 50000 };

/* A way replaces the best so far only if it takes at most this fraction of its time. */
static const double MARGIN = 0.9;

/* Offsets are not part of the key: they only affect the alignment of rows. */
static void add_operand(struct pdnn_tune_key *key, const char *name, const struct pdnn_heads *heads) {
    pdnn_tune_key_add(key, " %s=%" PRId64 "x%" PRId64 "%s strides=%" PRId64 ",%" PRId64 ",%" PRId64, name,
                      heads->rows, heads->columns, heads->transposed ? "t" : "", heads->sequence_stride,
                      heads->head_stride, heads->row_stride);
}

static struct pdnn_tune_key key_of(const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                   int64_t threads) {
    struct pdnn_tune_key key = {0};
    pdnn_tune_key_add(&key, "matmul B=%" PRId64 " h=%" PRId64, product->B, product->h);
    add_operand(&key, "a", &product->a);
    add_operand(&key, "b", &product->b);
    add_operand(&key, "y", &product->y);
    pdnn_tune_key_add(&key, " dtype=%s threads=%" PRId64, pdnn_dtype_name(dtype), threads);
    return key;
}

static int64_t extent(const struct pdnn_heads_product *product, const struct pdnn_heads *heads) {
    return product->B * heads->sequence_stride;
}

static void shrink(struct pdnn_heads_product *product) {
    while (product->B > 1 &&
           (product->B * product->h * product->M * product->N * product->K > MAX_MULTIPLY_ADDS ||
            extent(product, &product->a) + extent(product, &product->b) + extent(product, &product->y) >
                MAX_ELEMENTS))
        product->B = (product->B + 1) / 2;
}

struct question {
    struct pdnn_onednn *onednn;
    struct pdnn_heads_product product; /* the one measured */
    enum pdnn_dtype dtype;
    /* The available ways; index maps a way to its position here, or to -1. */
    struct pdnn_onednn_matmul made[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    struct pdnn_matmul_work work[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    int n_ways;
    int index[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    struct pdnn_onednn_block a, b, y, scratch;
};

/* Creates the available ways. */
static enum pdnn_status collect(struct question *q, struct pdnn_err *err) {
    for (int way = 0; way < PDNN_ONEDNN_MATMUL_WAY_COUNT; way++) {
        struct pdnn_err refusal = {0};
        struct pdnn_onednn_matmul *made = &q->made[q->n_ways];
        enum pdnn_status status = pdnn_onednn_matmul_create(q->onednn->library, &q->product, q->dtype,
                                                            (enum pdnn_onednn_matmul_way)way,
                                                            q->onednn->options.threads, made, &refusal);
        q->index[way] = -1;
        if (status != PDNN_OK && err && (way == 0 || status != PDNN_UNSUPPORTED))
            *err = refusal;
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK)
            return status;
        q->work[q->n_ways] = pdnn_onednn_matmul_work_of(made);
        q->index[way] = q->n_ways++;
    }
    return q->n_ways ? PDNN_OK : PDNN_UNSUPPORTED;
}

/* Binds all ways to the same memory, without the columns that precede the first head in the tensors. */
static enum pdnn_status bind_ways(struct question *q, struct pdnn_err *err) {
    const struct pdnn_heads_product *product = &q->product;
    uint64_t scratch = 0, bytes = pdnn_dtype_bytes(q->dtype);
    for (int i = 0; i < q->n_ways; i++)
        scratch = q->work[i].scratch_bytes > scratch ? q->work[i].scratch_bytes : scratch;
    const struct {
        struct pdnn_onednn_block *block;
        uint64_t bytes;
        int lines_off;
    } blocks[] = {{&q->a, (uint64_t)extent(product, &product->a) * bytes, 0},
                  {&q->b, (uint64_t)extent(product, &product->b) * bytes, 5},
                  {&q->y, (uint64_t)extent(product, &product->y) * bytes, 10},
                  {&q->scratch, scratch, 15}};
    uint64_t room_bytes = q->onednn->trial_bytes;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < sizeof blocks / sizeof *blocks; i++)
        status =
            pdnn_onednn_block_new(blocks[i].block, blocks[i].bytes, blocks[i].lines_off, &room_bytes, err);
    const struct pdnn_matmul_memory memory = {q->a.data, q->b.data, q->y.data, q->scratch.data};
    for (int i = 0; status == PDNN_OK && i < q->n_ways; i++)
        status = q->work[i].bind(q->work[i].state, &memory, err);
    return status;
}

static enum pdnn_status measure(void *state, double *ns, struct pdnn_err *err) {
    const struct pdnn_tune_rules rules = {.rounds = ROUNDS, .visit_ns = VISIT_NS};
    struct pdnn_tune_candidate candidate[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    struct question *q = state;
    enum pdnn_status status = collect(q, err);
    if (status == PDNN_OK)
        status = bind_ways(q, err);
    for (int i = 0; i < q->n_ways; i++)
        candidate[i] = (struct pdnn_tune_candidate){.run = q->work[i].run, .state = q->work[i].state};
    if (status == PDNN_OK)
        pdnn_tune_measure(&rules, candidate, q->n_ways);
    for (int way = 0; status == PDNN_OK && way < PDNN_ONEDNN_MATMUL_WAY_COUNT; way++)
        ns[way] = q->index[way] < 0 ? INFINITY : candidate[q->index[way]].ns;
    for (int i = 0; i < q->n_ways; i++)
        pdnn_onednn_matmul_destroy(&q->made[i]);
    free(q->a.memory);
    free(q->b.memory);
    free(q->y.memory);
    free(q->scratch.memory);
    return status;
}

/* The first available way, for a question that there was no room to measure. */
static enum pdnn_onednn_matmul_way first_way(const struct question *q) {
    int way = 0;
    while (q->index[way] != 0)
        way++;
    return (enum pdnn_onednn_matmul_way)way;
}

enum pdnn_status pdnn_onednn_matmul_choose(struct pdnn_onednn *onednn,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way *way, struct pdnn_err *err) {
    struct question q = {.onednn = onednn, .product = *product, .dtype = dtype};
    const double *ns = NULL;
    if (onednn->forced_matmul) {
        *way = *onednn->forced_matmul;
        return PDNN_OK;
    }
    shrink(&q.product);
    q.product.a.offset = q.product.b.offset = q.product.y.offset = 0;
    const struct pdnn_tune_question question = {.key = key_of(&q.product, dtype, onednn->options.threads),
                                                .n = PDNN_ONEDNN_MATMUL_WAY_COUNT,
                                                .compilations = COMPILATIONS,
                                                .measure = measure,
                                                .state = &q};
    enum pdnn_status status = pdnn_tune_ask(&onednn->tune, &question, &ns, err);
    if (status == PDNN_TOO_BIG) {
        onednn->is_untried = true;
        *way = first_way(&q);
        return PDNN_OK;
    }
    if (status != PDNN_OK)
        return status;
    int picked = pdnn_tune_pick(ns, PDNN_ONEDNN_MATMUL_WAY_COUNT, MARGIN);
    if (picked < 0)
        return pdnn_fail(err, PDNN_INTERNAL, "onednn: every way to run a matmul fails");
    *way = (enum pdnn_onednn_matmul_way)picked;
    return PDNN_OK;
}
