#include "runtime/backends/onednn/matmul/tune.h"

#include "runtime/backends/onednn/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sequences are left out of a measured shape while it has more multiply-adds, about 3 ms on one thread, or
 * reads and writes more elements: those of one sequence after the other are all alike. ROUNDS visits to each
 * way in each of the first COMPILES that meet the shape. */
enum { MAX_MULTIPLY_ADDS = 200000000, MAX_ELEMENTS = 1 << 23, COMPILES = 2, ROUNDS = 3, KEY = 32 };

/* What replaces the best so far takes at most this part of its time. */
static const double MARGIN = 0.9;

struct pdnn_onednn_matmul_entry {
    struct pdnn_onednn_matmul_entry *next;
    int64_t key[KEY];                        /* all that tells shapes apart */
    double ns[PDNN_ONEDNN_MATMUL_WAY_COUNT]; /* the least of all visits; INFINITY: there is no such way, or it
                                                fails */
    enum pdnn_onednn_matmul_way way;
    uint64_t compile; /* the last one that measured */
    int n_compiles;
};

void pdnn_onednn_matmul_choices_finish(struct pdnn_onednn_matmul_choices *choices) {
    while (choices->first) {
        struct pdnn_onednn_matmul_entry *next = choices->first->next;
        free(choices->first);
        choices->first = next;
    }
}

/* Offsets are left out: no way cares about them but for the alignment of a row's begin. */
static int64_t *add_heads(int64_t *key, const struct pdnn_heads *heads) {
    const int64_t values[] = {heads->rows,        heads->columns,    heads->sequence_stride,
                              heads->head_stride, heads->row_stride, heads->transposed};
    memcpy(key, values, sizeof values);
    return key + sizeof values / sizeof *values;
}

static void make_key(const struct pdnn_heads_product *product, enum pdnn_dtype dtype, int64_t key[KEY]) {
    memset(key, 0, KEY * sizeof *key);
    *key++ = (int64_t)dtype;
    *key++ = product->B;
    *key++ = product->h;
    key = add_heads(key, &product->a);
    key = add_heads(key, &product->b);
    add_heads(key, &product->y);
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

struct tuner {
    struct pdnn_onednn_matmul made[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    double ns[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    struct pdnn_onednn_block a, b, y, scratch;
};

static enum pdnn_status allocate(struct tuner *tuner, const struct pdnn_heads_product *product,
                                 uint64_t element_bytes, struct pdnn_err *err) {
    uint64_t scratch = 0;
    for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++) {
        uint64_t bytes =
            isfinite(tuner->ns[i]) ? pdnn_onednn_matmul_work_of(&tuner->made[i]).scratch_bytes : 0;
        scratch = bytes > scratch ? bytes : scratch;
    }
    /* Measured without their columns before the first head, which are part of the tensors. */
    if (!pdnn_onednn_block_new(&tuner->a, (uint64_t)extent(product, &product->a) * element_bytes, 0) ||
        !pdnn_onednn_block_new(&tuner->b, (uint64_t)extent(product, &product->b) * element_bytes, 5) ||
        !pdnn_onednn_block_new(&tuner->y, (uint64_t)extent(product, &product->y) * element_bytes, 10) ||
        !pdnn_onednn_block_new(&tuner->scratch, scratch, 15))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring products");
    return PDNN_OK;
}

/* Creates the ways there are. */
static enum pdnn_status collect(struct tuner *tuner, struct pdnn_onednn_library *library,
                                const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                int64_t threads, struct pdnn_err *err) {
    bool any = false;
    for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++) {
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_onednn_matmul_create(
            library, product, dtype, (enum pdnn_onednn_matmul_way)i, threads, &tuner->made[i], &refusal);
        tuner->ns[i] = status == PDNN_OK ? 0 : INFINITY;
        any = any || status == PDNN_OK;
        if (status != PDNN_OK && err && (i == 0 || status != PDNN_UNSUPPORTED))
            *err = refusal;
        if (status != PDNN_OK && status != PDNN_UNSUPPORTED)
            return status;
    }
    return any ? PDNN_OK : PDNN_UNSUPPORTED;
}

static enum pdnn_status measure(struct tuner *tuner, struct pdnn_err *err) {
    const struct pdnn_matmul_memory memory = {tuner->a.data, tuner->b.data, tuner->y.data,
                                              tuner->scratch.data};
    for (int round = -2; round < ROUNDS; round++) {
        for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++) {
            struct pdnn_matmul_work work = pdnn_onednn_matmul_work_of(&tuner->made[i]);
            enum pdnn_status status = PDNN_OK;
            if (!isfinite(tuner->ns[i]))
                continue;
            if (round == -2)
                status = work.bind(work.state, &memory, err);
            if (status != PDNN_OK)
                return status;
            double ns = pdnn_measure_ns(work.run, work.state, tuner->ns[i]);
            /* The first run is no measure of anything, the second says how long one takes. */
            bool is_better = round < 0 || ns < tuner->ns[i] || !isfinite(ns);
            tuner->ns[i] = is_better && round > -2 ? ns : tuner->ns[i];
        }
    }
    return PDNN_OK;
}

static enum pdnn_status tune(struct pdnn_onednn_library *library, const struct pdnn_heads_product *product,
                             enum pdnn_dtype dtype, int64_t threads, double ns[PDNN_ONEDNN_MATMUL_WAY_COUNT],
                             struct pdnn_err *err) {
    struct tuner tuner = {0};
    struct pdnn_heads_product measured = *product;
    shrink(&measured);
    measured.a.offset = measured.b.offset = measured.y.offset = 0;
    enum pdnn_status status = collect(&tuner, library, &measured, dtype, threads, err);
    if (status == PDNN_OK)
        status = allocate(&tuner, &measured, pdnn_dtype_bytes(dtype), err);
    if (status == PDNN_OK)
        status = measure(&tuner, err);
    for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++) {
        pdnn_onednn_matmul_destroy(&tuner.made[i]);
        ns[i] = tuner.ns[i] < ns[i] ? tuner.ns[i] : ns[i];
    }
    free(tuner.a.memory);
    free(tuner.b.memory);
    free(tuner.y.memory);
    free(tuner.scratch.memory);
    return status;
}

static bool decide(const double ns[PDNN_ONEDNN_MATMUL_WAY_COUNT], enum pdnn_onednn_matmul_way *way) {
    double best = INFINITY;
    for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++) {
        if (!isfinite(ns[i]) || ns[i] > MARGIN * best)
            continue;
        best = ns[i];
        *way = (enum pdnn_onednn_matmul_way)i;
    }
    return isfinite(best);
}

static struct pdnn_onednn_matmul_entry *entry_of(struct pdnn_onednn_matmul_choices *choices,
                                                 const int64_t key[KEY]) {
    struct pdnn_onednn_matmul_entry *entry = choices->first;
    while (entry && memcmp(entry->key, key, sizeof entry->key) != 0)
        entry = entry->next;
    if (entry || !(entry = calloc(1, sizeof *entry)))
        return entry;
    memcpy(entry->key, key, sizeof entry->key);
    for (int i = 0; i < PDNN_ONEDNN_MATMUL_WAY_COUNT; i++)
        entry->ns[i] = INFINITY;
    entry->next = choices->first;
    choices->first = entry;
    return entry;
}

enum pdnn_status pdnn_onednn_matmul_choose(struct pdnn_onednn_matmul_choices *choices,
                                           struct pdnn_onednn_library *library,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           int64_t threads, enum pdnn_onednn_matmul_way *way,
                                           struct pdnn_err *err) {
    int64_t key[KEY];
    if (choices->forced) {
        *way = *choices->forced;
        return PDNN_OK;
    }
    make_key(product, dtype, key);
    struct pdnn_onednn_matmul_entry *entry = entry_of(choices, key);
    if (!entry)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a choice");
    bool settled = entry->n_compiles > 0 && entry->compile == choices->compile;
    if (!settled && entry->n_compiles < COMPILES) {
        enum pdnn_status status = tune(library, product, dtype, threads, entry->ns, err);
        if (status != PDNN_OK)
            return status;
        if (!decide(entry->ns, &entry->way))
            return pdnn_fail(err, PDNN_INTERNAL, "every way to multiply heads fails");
        entry->compile = choices->compile;
        entry->n_compiles++;
    }
    *way = entry->way;
    return PDNN_OK;
}
