/* What `fuse: blocks` merges, and what it leaves alone. The same values and gradients as without it:
 * test_transformer.c. */
#include "tests/cmocka_all.h"

#include "base/str.h"
#include "models/attributes.h"
#include "models/forward.h"
#include "models/transform/fuse_blocks.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS_MAX = 6, X = 0, OTHER = 1, FIRST = 2, PERCENT = 20 }; /* values: X, OTHER, then each step's */

/* An op on one or two of the values before it; gamma, beta, the table and the counter are its own. */
struct step {
    const struct pdnn_op_def *op;
    int a, b;     /* b: 0 where there is none, as X is never the second */
    bool outside; /* of the segment */
    bool before;  /* relative_bias: of what is before a row */
};

struct row {
    const char *name;
    bool scores; /* X is (4, 2, 3) from a product of two sequences; else X is (4, 3) */
    bool trains; /* the last value is a loss, else the result */
    bool apart;  /* the segment ends behind the first step, and another begins */
    bool late;   /* pdnn_fuse_blocks begins behind the second step */
    struct step step[STEPS_MAX];
    const char *expected;
};

#define ADD       &pdnn_op_add
#define DROPOUT   &pdnn_op_dropout
#define LAYERNORM &pdnn_op_layernorm
#define MASK      &pdnn_op_mask
#define RELATIVE  &pdnn_op_relative_bias
#define RELU      &pdnn_op_relu
#define SCALE     &pdnn_op_scale
#define SOFTMAX   &pdnn_op_softmax

#define NORM       "dropout_add_norm"
#define ONE_PASS   "attention_softmax"
#define WITH_NOISE NORM "(percent=20,train=1) -> 5"

static const struct row rows[] = {
    {"all three", false, true, .step = {{DROPOUT, X}, {ADD, 2, OTHER}, {LAYERNORM, 3}},
     .expected = WITH_NOISE},
    {"no dropout", false, true, .step = {{ADD, X, OTHER}, {LAYERNORM, 2}}, .expected = NORM "(train=1) -> 4"},
    {"nobody reads the sum", .step = {{ADD, X, OTHER}, {LAYERNORM, 2}}, .expected = NORM "(y_only=1) -> 1"},
    {"the sum is read", .step = {{ADD, X, OTHER}, {LAYERNORM, 2}, {ADD, 3, 2}},
     .expected = NORM " -> 2; add -> 1"},
    {"outside a segment", false, true,
     .step = {{DROPOUT, X, .outside = true}, {ADD, 2, OTHER, true}, {LAYERNORM, 3, .outside = true}},
     .expected = "dropout(percent=20) -> 2; add -> 1; layernorm(train=1) -> 3"},
    {"two segments", false, true, .apart = true, .step = {{ADD, X, OTHER}, {LAYERNORM, 2}},
     .expected = "add -> 1; layernorm(train=1) -> 3"},
    {"before the micro-step", false, true, .late = true,
     .step = {{ADD, X, OTHER}, {LAYERNORM, 2}, {ADD, 3, OTHER}, {LAYERNORM, 4}},
     .expected = "add -> 1; layernorm(train=1) -> 3; " NORM "(train=1) -> 4"},
    {"dropout of the other summand", false, true, .step = {{DROPOUT, OTHER}, {ADD, X, 2}, {LAYERNORM, 3}},
     .expected = "dropout(percent=20) -> 2; " NORM "(train=1) -> 4"},
    {"dropout is read twice", false, true,
     .step = {{DROPOUT, X}, {ADD, 2, OTHER}, {LAYERNORM, 3}, {ADD, 4, 2}},
     .expected = "dropout(percent=20) -> 2; " NORM "(train=1) -> 4; add -> 1"},
    {"dropout in inference", .step = {{DROPOUT, X}, {ADD, 2, OTHER}, {LAYERNORM, 3}},
     .expected = "dropout(percent=20) -> 2; " NORM "(y_only=1) -> 1"},
    {"something between", false, true, .step = {{ADD, X, OTHER}, {RELU, 2}, {LAYERNORM, 3}},
     .expected = "add -> 1; relu -> 1; layernorm(train=1) -> 3"},
    {"a norm of something else", false, true, .step = {{ADD, X, OTHER}, {LAYERNORM, X}, {ADD, 3, 2}},
     .expected = "add -> 1; layernorm(train=1) -> 3; add -> 1"},

    {"all four", true, true, .step = {{SCALE, X}, {MASK, 2, OTHER}, {SOFTMAX, 3}, {DROPOUT, 4}},
     .expected = ONE_PASS "(sequences=2,causal=1,has_bias=1,percent=20,train=1) -> 3"},
    {"no mask", true, true, .step = {{SCALE, X}, {SOFTMAX, 2}, {DROPOUT, 3}},
     .expected = ONE_PASS "(sequences=2,percent=20,train=1) -> 3"},
    {"no dropout", true, false, .step = {{SCALE, X}, {MASK, 2}, {SOFTMAX, 3}},
     .expected = ONE_PASS "(sequences=2,causal=1) -> 1"},
    {"sequences are not known", true, false, .step = {{RELU, X}, {SCALE, 2}, {SOFTMAX, 3}},
     .expected = "relu -> 1; scale -> 1; softmax -> 1"},
    {"scores are read twice", true, true, .step = {{SCALE, X}, {SOFTMAX, 2}, {ADD, 3, 2}},
     .expected = "scale -> 1; softmax -> 1; add -> 1"},
    {"masked scores are read twice", true, true, .step = {{SCALE, X}, {MASK, 2}, {SOFTMAX, 3}, {ADD, 4, 3}},
     .expected = "scale -> 1; mask(sequences=2,causal=1) -> 1; softmax -> 1; add -> 1"},
    {"probabilities are read twice", true, true,
     .step = {{SCALE, X}, {SOFTMAX, 2}, {DROPOUT, 3}, {ADD, 4, 3}},
     .expected = ONE_PASS "(sequences=2,train=1) -> 1; dropout(percent=20) -> 2; add -> 1"},
    {"scores outside a segment", true, true,
     .step = {{SCALE, X, .outside = true}, {SOFTMAX, 2, .outside = true}},
     .expected = "scale -> 1; softmax -> 1"},
    {"a bias by position", true, true, .step = {{SCALE, X}, {RELATIVE, 2}, {MASK, 3, OTHER}, {SOFTMAX, 4}},
     .expected = ONE_PASS "(sequences=2,causal=1,has_bias=1,train=1,heads=2,distance=3) -> 1"},
    {"and no scale", true, false, .step = {{RELATIVE, X}, {SOFTMAX, 2}},
     .expected = ONE_PASS "(sequences=2,heads=2,distance=3) -> 1"},
    {"of what is before causal rows", true, false,
     .step = {{RELATIVE, X, .before = true}, {MASK, 2}, {SOFTMAX, 3}},
     .expected = ONE_PASS "(sequences=2,causal=1,heads=2,before=1,distance=3) -> 1"},
    {"of what is before rows that see all", true, false,
     .step = {{RELATIVE, X, .before = true}, {SOFTMAX, 2}},
     .expected = "relative_bias(heads=2,causal=1,distance=3) -> 1; softmax -> 1"},
    {"biased scores are read twice", true, true,
     .step = {{SCALE, X}, {RELATIVE, 2}, {SOFTMAX, 3}, {ADD, 4, 3}},
     .expected = "scale -> 1; relative_bias(heads=2,distance=3) -> 1; softmax -> 1; add -> 1"},
    {"scale alone", true, true, .step = {{SCALE, X}, {RELU, 2}}, .expected = "scale -> 1; relu -> 1"},
};

static uint32_t weight(struct pdnn_graph *graph, int rank, const int64_t *dim) {
    return pdnn_graph_weight(graph, rank, dim, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
}

/* Scores (4, 2, 3) of two sequences with two heads, and their bias; or two matrices (4, 3). */
static void append_values(struct pdnn_graph *graph, bool scores, uint32_t *value) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = 2,
                                            [PDNN_MATMUL_HEADS] = 2,
                                            [PDNN_MATMUL_WIDTH] = 2,
                                            [PDNN_MATMUL_TRANSPOSE_B] = 1};
    const struct pdnn_tensor bias = {
        .role = PDNN_ROLE_INPUT, .dtype = PDNN_F32, .rank = 2, .dim = {2, 3}, .of = PDNN_NONE};
    value[X] = weight(graph, 2, (int64_t[]){4, scores ? 4 : 3});
    value[OTHER] = scores ? pdnn_graph_tensor(graph, &bias) : weight(graph, 2, (int64_t[]){4, 3});
    if (!scores)
        return;
    uint32_t keys = weight(graph, 2, (int64_t[]){6, 4});
    value[X] = pdnn_graph_forward(graph, &pdnn_op_matmul, (uint32_t[]){value[X], keys, PDNN_NONE}, attrs);
}

static uint32_t append_step(struct pdnn_graph *graph, const struct step *step, bool trains,
                            const uint32_t *value) {
    int64_t attrs[PDNN_NODE_ATTRS] = {0}, width = 3, one = 1;
    uint32_t in[4] = {value[step->a], step->b ? value[step->b] : PDNN_NONE, PDNN_NONE, PDNN_NONE};
    if (step->op == LAYERNORM) {
        attrs[PDNN_LAYERNORM_TRAIN] = trains;
        in[PDNN_LAYERNORM_GAMMA] = weight(graph, 1, &width);
        in[PDNN_LAYERNORM_BETA] = weight(graph, 1, &width);
    } else if (step->op == DROPOUT) {
        attrs[PDNN_DROPOUT_PERCENT] = PERCENT;
        in[PDNN_DROPOUT_COUNTER] = pdnn_graph_state(graph, 1, &one, (struct pdnn_fill){0});
    } else if (step->op == MASK) {
        attrs[PDNN_MASK_SEQUENCES] = 2;
        attrs[PDNN_MASK_CAUSAL] = 1;
    } else if (step->op == RELATIVE) {
        attrs[PDNN_RELATIVE_BIAS_HEADS] = 2;
        attrs[PDNN_RELATIVE_BIAS_CAUSAL] = step->before;
        attrs[PDNN_RELATIVE_BIAS_DISTANCE] = 3;
        in[PDNN_RELATIVE_BIAS_TABLE] = weight(graph, 2, (int64_t[]){4, 2});
    }
    return pdnn_graph_forward(graph, step->op, in, attrs);
}

/* "add -> 1; layernorm(train=1) -> 3": ops from node `first` on, their attributes, how many outputs. */
static void describe(const struct pdnn_graph *graph, size_t first, struct pdnn_str *text) {
    for (size_t i = first; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        int count = 0;
        pdnn_str_printf(text, "%s%s", i > first ? "; " : "", node->op->name);
        for (const struct pdnn_attribute *row = node->op->attributes; row->name; row++)
            if (!row->coefficient && row->index != PDNN_SIZE && node->attr[row->index])
                pdnn_str_printf(text, "%s%s=%" PRId64, count++ ? "," : "(", row->name,
                                node->attr[row->index]);
        pdnn_str_printf(text, "%s -> %d", count ? ")" : "", node->n_outputs);
    }
}

/* The fused node's operands have the shapes that the op infers from its inputs. */
static void check_shapes(const struct pdnn_graph *graph, const char *name) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        struct pdnn_tensor outputs[PDNN_NODE_OUTPUTS] = {{0}};
        struct pdnn_err err = {0};
        if (node->op->infer(graph, node, outputs, &err) != PDNN_OK)
            fail_msg("%s: %s", name, err.text);
        for (int k = 0; k < PDNN_NODE_OUTPUTS; k++)
            assert_int_equal(outputs[k].rank > 0, k < node->n_outputs);
        for (int k = 0; k < node->n_outputs; k++)
            assert_true(pdnn_tensor_same_shape(&outputs[k], &graph->tensors[node->output[k]]));
    }
}

static void check_row(const struct row *row) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_str text = {0};
    uint32_t value[FIRST + STEPS_MAX];
    size_t before, first = 0;
    int n = FIRST;
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    pdnn_graph_segment_begin(&graph);
    append_values(&graph, row->scores, value);
    before = graph.n_nodes;
    for (const struct step *step = row->step; step->op; step++, n++) {
        if (row->apart && n == FIRST + 1)
            pdnn_graph_segment_begin(&graph);
        if (step->outside)
            pdnn_graph_segment_end(&graph);
        value[n] = append_step(&graph, step, row->trains, value);
        if (row->late && n == FIRST + 1)
            first = graph.n_nodes;
    }
    *(row->trains ? &graph.loss : &graph.result) = value[n - 1];
    assert_int_equal(graph.err.status, PDNN_OK);
    pdnn_fuse_blocks(&graph, first);
    describe(&graph, before, &text);
    if (strcmp(pdnn_str_text(&text), row->expected) != 0)
        fail_msg("%s: expected %s, is %s", row->name, row->expected, pdnn_str_text(&text));
    check_shapes(&graph, row->name);
    assert_int_equal(graph.nodes[graph.n_nodes - 1].output[0], value[n - 1]);
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

static void test_fuse_blocks_patterns(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* A result that would vanish with its op is kept if it is what inference returns. */
static void test_fuse_blocks_keeps_result(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    uint32_t value[FIRST + 2];
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    pdnn_graph_segment_begin(&graph);
    append_values(&graph, false, value);
    value[2] = append_step(&graph, &(struct step){.op = ADD, .a = X, .b = OTHER}, false, value);
    append_step(&graph, &(struct step){.op = LAYERNORM, .a = 2}, false, value);
    graph.result = value[2];
    pdnn_fuse_blocks(&graph, 0);
    assert_int_equal(graph.n_nodes, 1);
    assert_int_equal(graph.nodes[0].output[PDNN_DROPOUT_ADD_NORM_Z], graph.result);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuse_blocks_patterns),
        cmocka_unit_test(test_fuse_blocks_keeps_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
