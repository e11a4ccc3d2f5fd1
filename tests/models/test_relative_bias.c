/* Biases by relative position, in double: which number goes where, gradients by finite differences, FLOP
 * against a counting run, costs by hand, and what is refused. Then the families that have them, swin and t5:
 * the same, depth, fusion and decoding. Presets' claims are the test `zoo`'s. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/relative_bias.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, HEADS = 3, MOST = 512 };

/* Scores (B*HEADS, n, m) and a table. */
struct variant {
    int64_t n, m, window, causal, distance, rows;
};

static const struct variant variants[] = {
    {4, 4, 2, 0, 0, 9}, {9, 9, 3, 0, 0, 25}, {1, 1, 1, 0, 0, 1}, {7, 7, 0, 0, 5, 8},
    {7, 7, 0, 1, 6, 5}, {1, 6, 0, 1, 6, 4},  {3, 8, 0, 0, 9, 4}, {5, 3, 0, 1, 4, 3},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static uint32_t append(struct chain *chain, uint32_t x, uint32_t table, const struct variant *v) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RELATIVE_BIAS_HEADS] = HEADS,
                                            [PDNN_RELATIVE_BIAS_WINDOW] = v->window,
                                            [PDNN_RELATIVE_BIAS_CAUSAL] = v->causal,
                                            [PDNN_RELATIVE_BIAS_DISTANCE] = v->distance};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_relative_bias, (uint32_t[]){x, table, PDNN_NONE},
                              attrs);
}

static uint32_t new_scores(struct chain *chain, const struct variant *v) {
    return chain_weight(chain, 3, (int64_t[]){B * HEADS, v->n, v->m});
}

/* Two nodes with one table. */
static void test_gradient(void **state) {
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        struct chain chain;
        char what[32];
        begin_chain(&chain);
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){variants[i].rows, HEADS});
        uint32_t y = append(&chain, new_scores(&chain, &variants[i]), table, &variants[i]);
        snprintf(what, sizeof what, "variant %zu", i);
        check_chain(&chain, append(&chain, y, table, &variants[i]), what);
    }
}

/* From which distances on the buckets are another one, as the published code has it for 32 buckets and a
 * distance of 128: of one direction, or with 16 buckets for each. */
static void test_buckets(void **state) {
    static const int64_t causal[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113},
                         both[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
    (void)state;
    for (int is_causal = 0; is_causal < 2; is_causal++) {
        const struct pdnn_relative_bias_places places = {
            .n = MOST, .m = MOST, .rows = 32, .distance = 128, .is_causal = is_causal};
        const int64_t *first = is_causal ? causal : both, count = is_causal ? 32 : 16;
        int32_t index[2 * MOST - 1];
        assert_int_equal(pdnn_relative_bias_cells(&places), 2 * MOST - 1);
        pdnn_relative_bias_index(&places, index);
        for (int64_t d = 0, bucket = 0; d < MOST; d++) {
            bucket += bucket + 1 < count && d == first[bucket + 1];
            assert_int_equal(index[MOST - 1 - d], bucket);
            if (d)
                assert_int_equal(index[MOST - 1 + d], is_causal ? 0 : 16 + bucket);
        }
    }
}

/* The rows that are met are those in the index, of the cells that are seen. */
static void test_met(void **state) {
    (void)state;
    for (int64_t k = 0; k < 20 * 20 * 12; k++) {
        const int64_t causal = k % 2, n = 1 + k / 2 % 20, m = 1 + k / 40 % 20, rows = 4 + k / 800 * 2;
        const struct pdnn_relative_bias_places places = {
            .n = n, .m = m, .rows = rows, .distance = 9, .is_causal = causal};
        int32_t index[2 * 20];
        bool is_met[16] = {false};
        int64_t met = 0;
        pdnn_relative_bias_index(&places, index);
        for (int64_t cell = 0; cell < (causal ? m : n + m - 1); cell++) {
            met += !is_met[index[cell]];
            is_met[index[cell]] = true;
        }
        assert_int_equal(pdnn_relative_bias_met(&places), met);
    }
}

/* A table of its own indices: what is added says which row it comes from. */
static double *added(const struct variant *v, struct chain *chain, double ***values) {
    begin_chain(chain);
    uint32_t x = new_scores(chain, v), table = chain_weight(chain, 2, (int64_t[]){v->rows, HEADS});
    uint32_t y = append(chain, x, table, v);
    *values = reference_values(&chain->graph);
    for (int64_t i = 0; i < B * HEADS * v->n * v->m; i++)
        (*values)[x][i] = 0;
    for (int64_t i = 0; i < v->rows * HEADS; i++)
        (*values)[table][i] = (double)i;
    reference_run(&chain->graph, *values, 0, 1);
    return (*values)[y];
}

/* Positions as far apart, and in the same direction, have the same number; others have another. Row 4 of a
 * window of 3 is in its middle and sees all 9 neighbours but those two apart. */
static void test_windows(void **state) {
    const struct variant *v = &variants[1];
    static const int middle[] = {18, 17, 16, 13, 12, 11, 8, 7, 6};
    struct chain chain;
    double **values, *y = added(v, &chain, &values);
    (void)state;
    for (int64_t k = 0; k < B * HEADS; k++) {
        for (int64_t i = 0; i < 9; i++) {
            for (int64_t j = 0; j < 9; j++) {
                int64_t down = i / 3 - j / 3 + 2, right = i % 3 - j % 3 + 2;
                assert_true(y[(k * 9 + i) * 9 + j] == (double)((down * 5 + right) * HEADS + k % HEADS));
            }
        }
        for (int64_t j = 0; j < 9; j++)
            assert_true(y[(k * 9 + 4) * 9 + j] == (double)(middle[j] * HEADS + k % HEADS));
    }
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* The one row of a decoder's step has the last position; what causal rows do not see stays. */
static void test_causal(void **state) {
    struct chain chain;
    double **values, *y = added(&variants[5], &chain, &values);
    static const int step[] = {3, 3, 2, 2, 1, 0}, row[] = {2, 1, 0};
    (void)state;
    for (int64_t j = 0; j < 6; j++)
        assert_true(y[6 * 1 + j] == (double)(step[j] * HEADS + 1));
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
    y = added(&variants[4], &chain, &values);
    for (int64_t j = 0; j < 7; j++)
        assert_true(y[2 * 7 + j] == (j < 3 ? (double)(row[j] * HEADS) : 0));
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static const double factor = 0.5;

/* Softmax of scores with the bias; causal rows see no more than it is for. */
static uint32_t in_one_pass(struct chain *chain, uint32_t x, uint32_t table, uint32_t bias,
                            const struct variant *v) {
    enum { AT = PDNN_ATTENTION_SOFTMAX_RELATIVE };
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = B,
                                            [PDNN_ATTENTION_SOFTMAX_CAUSAL] = v->causal,
                                            [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = bias != PDNN_NONE,
                                            [AT + PDNN_RELATIVE_BIAS_HEADS] = HEADS,
                                            [AT + PDNN_RELATIVE_BIAS_WINDOW] = v->window,
                                            [AT + PDNN_RELATIVE_BIAS_CAUSAL] = v->causal,
                                            [AT + PDNN_RELATIVE_BIAS_DISTANCE] = v->distance};
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = factor};
    const uint32_t in[] = {x, bias == PDNN_NONE ? table : bias, bias == PDNN_NONE ? PDNN_NONE : table,
                           PDNN_NONE};
    return pdnn_graph_forward_with(&chain->graph, &pdnn_op_attention_softmax, in, attrs, coefs);
}

static uint32_t in_steps(struct chain *chain, uint32_t x, uint32_t table, const struct variant *v) {
    const int64_t mask[PDNN_NODE_ATTRS] = {[PDNN_MASK_SEQUENCES] = B, [PDNN_MASK_CAUSAL] = v->causal};
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_SCALE_FACTOR] = factor};
    x = pdnn_graph_forward_with(&chain->graph, &pdnn_op_scale, (uint32_t[]){x, PDNN_NONE}, NULL, coefs);
    x = append(chain, x, table, v);
    x = pdnn_graph_forward(&chain->graph, &pdnn_op_mask, (uint32_t[]){x, PDNN_NONE}, mask);
    return pdnn_graph_forward(&chain->graph, &pdnn_op_softmax, (uint32_t[]){x, PDNN_NONE}, NULL);
}

static void test_one_pass(void **state) {
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct variant *v = &variants[i];
        struct chain chain;
        char what[32];
        snprintf(what, sizeof what, "variant %zu in one pass", i);
        begin_chain(&chain);
        uint32_t x = new_scores(&chain, v), table = chain_weight(&chain, 2, (int64_t[]){v->rows, HEADS});
        uint32_t a = in_one_pass(&chain, x, table, PDNN_NONE, v), b = in_steps(&chain, x, table, v);
        double **values = run_step(&chain.graph, 2 + i);
        for (int64_t k = 0; k < B * HEADS * v->n * v->m; k++)
            assert_near(values[a][k], values[b][k], 1e-15);
        reference_values_free(&chain.graph, values);
        check_chain(&chain, a, what);
    }
}

/* The mask of B sequences in turn is read once, and so is the table. */
static void test_one_pass_costs(void **state) {
    const struct variant *v = &variants[1];
    struct chain chain;
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    (void)state;
    begin_chain(&chain);
    const struct pdnn_tensor mask = {.role = PDNN_ROLE_INPUT, .rank = 3, .dim = {1, 9, 9}, .of = PDNN_NONE};
    uint32_t table = chain_weight(&chain, 2, (int64_t[]){v->rows, HEADS});
    in_one_pass(&chain, new_scores(&chain, v), table, pdnn_graph_tensor(&chain.graph, &mask), v);
    assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
    assert_int_equal(cost.flop_count, B * HEADS * (81 * (1 + 1 + 1 + 4) + 81 - 9));
    assert_int_equal(cost.byte_count, 4 * (2 * B * HEADS * 81 + 81 + 25 * HEADS));
    pdnn_arena_finish(&chain.arena);
}

static struct pdnn_cost cost_of(const struct variant *v) {
    struct chain chain;
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    append(&chain, new_scores(&chain, v), chain_weight(&chain, 2, (int64_t[]){v->rows, HEADS}), v);
    assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
    pdnn_arena_finish(&chain.arena);
    return cost;
}

static void test_costs(void **state) {
    (void)state;
    struct pdnn_cost cost = cost_of(&variants[1]);
    assert_int_equal(cost.flop_count, B * HEADS * 81);
    assert_int_equal(cost.byte_count, 4 * (2 * B * HEADS * 81 + 25 * HEADS));
    cost = cost_of(&variants[4]); /* 28 of 49 are seen */
    assert_int_equal(cost.flop_count, B * HEADS * 28);
    assert_int_equal(cost.byte_count, 4 * (B * HEADS * 2 * 28 + 5 * HEADS));
    cost = cost_of(&variants[3]); /* all but that of distance 0 ahead */
    assert_int_equal(cost.byte_count, 4 * (2 * B * HEADS * 49 + 7 * HEADS));
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        struct variant v;
        const char *reason;
    } rows[] = {
        {{9, 9, 2, 0, 0, 9},
         "relative_bias: window=2 is for 4 queries and keys and a table of 9 rows, not 9, 9 and 9"},
        {{4, 4, 2, 0, 0, 8},
         "relative_bias: window=2 is for 4 queries and keys and a table of 9 rows, not 4, 4 and 8"},
        {{4, 4, 2, 1, 0, 9}, "relative_bias: window=2 is not causal"},
        {{4, 4, -2, 0, 0, 9}, "relative_bias: window=-2 is not between 0 and 1024"},
        {{4, 4, 1025, 0, 0, 9}, "relative_bias: window=1025 is not between 0 and 1024"},
        {{4, 4, 0, 0, 9, 7}, "relative_bias: buckets=7 are not 4 or more, and even"},
        {{4, 4, 0, 0, 9, 2}, "relative_bias: buckets=2 are not 4 or more, and even"},
        {{4, 4, 0, 1, 9, 1}, "relative_bias: buckets=1 are not 2 or more"},
        {{4, 4, 0, 0, 4, 16},
         "relative_bias: distance=4 is not above 4, up to which buckets=16 have a distance each"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        append(&chain, new_scores(&chain, &rows[i].v),
               chain_weight(&chain, 2, (int64_t[]){rows[i].v.rows, HEADS}), &rows[i].v);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].reason);
        pdnn_arena_finish(&chain.arena);
    }
    struct chain chain;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    append(&chain, chain_weight(&chain, 3, (int64_t[]){4, 4, 4}), chain_weight(&chain, 2, (int64_t[]){9, 3}),
           &variants[0]);
    assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
    assert_string_equal(err.text,
                        "relative_bias: expected scores (B*h, n, m) and a table (rows, h) of h=3 heads");
    pdnn_arena_finish(&chain.arena);
}

#define SWIN "swin/depths=2-2,hidden=4,head=2,window=3,patch=1,image=6,output=3,batch=2"
#define T5   "t5/layers=2,hidden=8,heads=2,width=3,ffn=6,buckets=4,distance=5,vocabulary=7,batch=2"

static void test_graphs(void **state) {
    static const char *const ids[] = {
        SWIN,
        "swin/depths=1-3-2,hidden=4,head=4,window=2,patch=2,image=16,output=3,batch=1",
        T5 ",length=5,target=4",
        T5 ",gated=yes,tied=no,length=3,target=6",
        T5 ",length=5,phase=decode,context=6,mode=infer",
    };
    enum { GATED = 3, DECODES = 4 };
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        if (i != DECODES)
            check_gradients_at_once(&graph, 1);
        pdnn_arena_finish(&arena);
        check_depth_costs(ids[i]);
        if (i != GATED) /* in training nothing of it is a post-op */
            check_fusion(ids[i]);
        check_same_model(ids[i], "fuse=none", "fuse=blocks");
    }
}

/* With fuse=blocks the attention of a layer is two products with one op between them, in training too; the
 * decoder's attention to the encoder has neither scale nor bias. */
static void test_fused_attention(void **state) {
    static const struct {
        const char *id;
        int64_t fused, softmaxes;
    } rows[] = {{"swin:swin_t,batch=1,mode=infer", 12, 0},
                {"swin:swin_t,batch=1,dtype=bf16", 12, 0},
                {"t5:t5-small,batch=1,mode=infer", 12, 6},
                {"t5:t5-small,batch=1,dtype=f16", 12, 6},
                {"t5:t5-small,batch=1,phase=decode,context=9,mode=infer", 6, 6}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        int64_t fused = 0, softmaxes = 0, others = 0;
        snprintf(id, sizeof id, "%s,fuse=blocks", rows[i].id);
        build_graph(id, &arena, &graph);
        for (size_t k = 0; k < graph.n_nodes; k++) {
            const struct pdnn_node *node = &graph.nodes[k];
            fused += node->op == &pdnn_op_attention_softmax && node->pass == PDNN_FORWARD;
            softmaxes += node->op == &pdnn_op_softmax && node->pass == PDNN_FORWARD;
            others += node->op == &pdnn_op_relative_bias || node->op == &pdnn_op_mask;
        }
        assert_int_equal(fused, rows[i].fused);
        assert_int_equal(softmaxes, rows[i].softmaxes);
        assert_int_equal(others, 0);
        pdnn_arena_finish(&arena);
    }
}

/* Of the layers of a stage every other one shifts its windows, but where one window is the image. */
static void test_shifts(void **state) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    (void)state;
    build_graph("swin:swin_t,batch=1,mode=infer", &arena, &graph);
    int64_t masks = 0, biases = 0, concats = 0;
    for (size_t i = 0; i < graph.n_nodes; i++) {
        masks += graph.nodes[i].op == &pdnn_op_mask;
        biases += graph.nodes[i].op == &pdnn_op_relative_bias;
        concats += graph.nodes[i].op == &pdnn_op_concat;
    }
    assert_int_equal(biases, 12);
    assert_int_equal(masks, 1 + 1 + 3);
    assert_int_equal(concats, 4 * (1 + 1 + 3)); /* two for each of both ways */
    pdnn_arena_finish(&arena);
}

/* Node `at` of those of an op. */
static const struct pdnn_node *nth_of(const struct pdnn_graph *graph, const struct pdnn_op_def *op, int at) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == op && at-- == 0)
            return &graph->nodes[i];
    return NULL;
}

/* The second layer of SWIN: what it reads and writes, its weights, and a row of qkv for each patch. */
struct shifted {
    const double *x, *y, *projection, *shift, *table;
    double *qkv;
};

enum { SIDE = 6, CELLS = 3, WIDTH = 4, HEAD = 2, PATCHES = SIDE * SIDE };

static void multiply(const double *row, const double *w, const double *bias, int64_t out, double *to) {
    for (int64_t k = 0; k < out; k++) {
        to[k] = bias[k];
        for (int64_t c = 0; c < WIDTH; c++)
            to[k] += row[c] * w[k * WIDTH + c];
    }
}

/* The window of a row or a column, where windows begin one pixel late and the first and the last are cut. */
static int64_t window_of(int64_t at) {
    return (at + CELLS - CELLS / 2) / CELLS;
}

/* One head of one patch, over the patches of its window as the image has them: nothing is rolled. */
static void attend(const struct shifted *s, int64_t image, int64_t p, int64_t head, double *context) {
    const double *q = s->qkv + (image * PATCHES + p) * 3 * WIDTH + head * HEAD;
    double sum = 0;
    for (int64_t c = 0; c < HEAD; c++)
        context[c] = 0;
    for (int64_t k = 0; k < PATCHES; k++) {
        const int64_t down = p / SIDE - k / SIDE, right = p % SIDE - k % SIDE;
        const double *key = s->qkv + (image * PATCHES + k) * 3 * WIDTH + WIDTH + head * HEAD;
        if (window_of(p / SIDE) != window_of(k / SIDE) || window_of(p % SIDE) != window_of(k % SIDE))
            continue;
        double score = s->table[((down + CELLS - 1) * (2 * CELLS - 1) + right + CELLS - 1) * 2 + head];
        for (int64_t c = 0; c < HEAD; c++)
            score += q[c] * key[c] / sqrt(HEAD);
        sum += exp(score);
        for (int64_t c = 0; c < HEAD; c++)
            context[c] += exp(score) * key[WIDTH + c];
    }
    for (int64_t c = 0; c < HEAD; c++)
        context[c] /= sum;
}

/* A layer of shifted windows is attention over windows that begin half a window late and end at the image's
 * edges. */
static void test_shifted_windows(void **state) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct shifted s;
    (void)state;
    build_graph(SWIN ",mode=infer", &arena, &graph);
    double **values = run_step(&graph, 7);
    const struct pdnn_node *qkv = nth_of(&graph, &pdnn_op_dense, 4),
                           *projection = nth_of(&graph, &pdnn_op_dense, 5);
    s.x = values[nth_of(&graph, &pdnn_op_layernorm, 3)->output[0]];
    s.y = values[nth_of(&graph, &pdnn_op_add, 2)->input[0]];
    s.table = values[nth_of(&graph, &pdnn_op_relative_bias, 1)->input[PDNN_RELATIVE_BIAS_TABLE]];
    s.projection = values[projection->input[PDNN_DENSE_W]];
    s.shift = values[(projection + 1)->input[PDNN_BIAS_B]];
    s.qkv = calloc(B * PATCHES, 3 * WIDTH * sizeof *s.qkv);
    assert_non_null(s.qkv);
    for (int64_t row = 0; row < B * PATCHES; row++)
        multiply(s.x + row * WIDTH, values[qkv->input[PDNN_DENSE_W]], values[(qkv + 1)->input[PDNN_BIAS_B]],
                 3 * WIDTH, s.qkv + row * 3 * WIDTH);
    for (int64_t row = 0; row < B * PATCHES; row++) {
        double context[WIDTH], y[WIDTH];
        for (int64_t head = 0; head < 2; head++)
            attend(&s, row / PATCHES, row % PATCHES, head, context + head * HEAD);
        multiply(context, s.projection, s.shift, WIDTH, y);
        for (int64_t c = 0; c < WIDTH; c++)
            assert_near(s.y[row * WIDTH + c], y[c], 1e-9);
    }
    free(s.qkv);
    reference_values_free(&graph, values);
    pdnn_arena_finish(&arena);
}

/* A token while decoding: in each of 6 layers of 512 six products of 512 by 512 (keys and values of the
 * encoder are there), two of 512 by 2,048, and two with each of 100 and of 128 tokens; then the vocabulary.
 */
static void test_decoding(void **state) {
    const uint64_t layer = 6 * 512 * 512 + 2 * 512 * 2048 + 2 * 512 * (100 + 128);
    (void)state;
    assert_int_equal(products_flop("t5:t5-small,batch=1,phase=decode,context=100,mode=infer"),
                     2 * (6 * layer + 512 * 32128));
}

static void test_loss_falls(void **state) {
    (void)state;
    check_loss_falls(SWIN ",optimizer=adam", 100, 0.9);
    check_loss_falls(T5 ",length=5,target=4,optimizer=adam", 100, 0.9);
}

static void test_refused_families(void **state) {
    (void)state;
    check_invalid("swin/image=256",
                  "image=256 is not a multiple of 224, the pixels of a window=7 of the last stage");
    check_invalid("swin/hidden=48", "hidden=48 is not a multiple of head=32");
    check_invalid("t5/buckets=7", "buckets=7 are not even");
    check_invalid("t5/buckets=32,distance=16", "distance=16 is not above half of buckets=32");
    check_invalid("t5/phase=decode,mode=train", "phase=decode is for mode=infer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_met),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_causal),
        cmocka_unit_test(test_one_pass),
        cmocka_unit_test(test_one_pass_costs),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_fused_attention),
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_shifted_windows),
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_loss_falls),
        cmocka_unit_test(test_refused_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
