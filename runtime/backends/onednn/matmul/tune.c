#include "runtime/backends/onednn/matmul/tune.h"

#include "models/attributes.h"
#include "models/op.h"

#include <inttypes.h>

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
    if (product->b.heads < product->h || product->y.heads < product->h)
        pdnn_tune_key_add(&key, " heads=%" PRId64 ",%" PRId64, product->b.heads, product->y.heads);
    if (product->window)
        pdnn_tune_key_add(&key, " window=%" PRId64, product->window);
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
    struct pdnn_node node; /* the one measured: of the first sequences, alone */
    int64_t sequences, all_sequences;
};

static void drop_sequences(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct question *q = user;
    (void)tensor;
    copy->dim[0] = copy->dim[0] / q->all_sequences * q->sequences;
}

static enum pdnn_status prepare(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    const struct pdnn_onednn_way_question *q = user;
    const enum pdnn_onednn_matmul_way way = (enum pdnn_onednn_matmul_way)i;
    one->edit = q->edit;
    one->user = q->user;
    one->cold_bytes = q->cold_bytes;
    pdnn_one_node_add(one, q->node);
    q->compile->onednn->forced_matmul = &way;
    enum pdnn_status status = pdnn_onednn_trial_compile(q->compile, one, err);
    q->compile->onednn->forced_matmul = NULL;
    return status;
}

enum pdnn_status pdnn_onednn_way_choose(const struct pdnn_onednn_way_question *question, const char *what,
                                        const struct pdnn_tune_key *key, enum pdnn_onednn_matmul_way *way,
                                        struct pdnn_err *err) {
    struct pdnn_onednn *onednn = question->compile->onednn;
    struct pdnn_onednn_way_question asked = *question;
    const struct pdnn_trial trial = {.tune = &onednn->tune,
                                     .n = PDNN_ONEDNN_MATMUL_WAY_COUNT,
                                     .group_size = PDNN_ONEDNN_MATMUL_WAY_COUNT,
                                     .prepare = prepare,
                                     .user = &asked,
                                     .from = question->compile->program->graph,
                                     .room_bytes = onednn->trial_bytes};
    struct pdnn_choice choice = {.key = *key,
                                 .what = what,
                                 .trial = &trial,
                                 .rules = {.rounds = ROUNDS, .visit_ns = VISIT_NS},
                                 .compilations = COMPILATIONS,
                                 .margin = MARGIN};
    int picked = 0;
    enum pdnn_status status = pdnn_trial_choose(&choice, &picked, err);
    *way = (enum pdnn_onednn_matmul_way)picked;
    return status;
}

enum pdnn_status pdnn_onednn_matmul_choose(const struct pdnn_onednn_compile *compile,
                                           const struct pdnn_node *node, enum pdnn_onednn_matmul_way *way,
                                           struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_heads_product product = pdnn_heads_product_of(graph, node);
    struct question q = {.node = *node, .all_sequences = product.B};
    if (onednn->forced_matmul) {
        *way = *onednn->forced_matmul;
        return PDNN_OK;
    }
    shrink(&product);
    q.sequences = q.node.attr[PDNN_MATMUL_SEQUENCES] = product.B;
    q.node.n_inputs = PDNN_MATMUL_INPUTS;
    const struct pdnn_onednn_way_question asked = {
        .compile = compile, .node = &q.node, .edit = drop_sequences, .user = &q};
    const struct pdnn_tune_key key =
        key_of(&product, pdnn_node_in(graph, node, PDNN_MATMUL_A)->dtype, onednn->options.threads);
    return pdnn_onednn_way_choose(&asked, "a matmul", &key, way, err);
}
