/* Every op that a family can name, written in one with nothing but what it must be given: its row's shapes
 * and defaults make a node that the op accepts, in inference and in training. */
#include "tests/cmocka_all.h"

#include "base/str.h"
#include "models/attributes.h"
#include "gen/family/family.h"
#include "models/build.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"
#include "models/instance.h"
#include "models/op.h"

#include <string.h>

/* What ops read that do not take matrices, and what else they are given. */
static const struct written {
    const struct pdnn_op_def *op;
    const char *from, *given;
} all_written[] = {
    {&pdnn_op_conv2d, "image", NULL},
    {&pdnn_op_conv2d, "image", "kernel: 3, stride: 2, padding: 1"},
    {&pdnn_op_conv2d, "features", "kernel: 2, groups: 2, dilation: 2"},
    {&pdnn_op_conv2d, "features", "groups: 1, dilation_h: 1, dilation_w: batch - 5"},
    {&pdnn_op_conv_transpose2d, "image", NULL},
    {&pdnn_op_conv_transpose2d, "features", "kernel: 3, stride: 2, padding: 1, groups: 2, dilation: 2"},
    {&pdnn_op_dense, "image", NULL},
    {&pdnn_op_batchnorm, "image", NULL},
    {&pdnn_op_batchnorm, "image", "affine: no"},
    {&pdnn_op_batchnorm, "matrix", "frozen: yes"},
    {&pdnn_op_bias, "image", NULL},
    {&pdnn_op_multiply, "image", NULL},
    {&pdnn_op_multiply, "[matrix, matrix]", NULL},
    {&pdnn_op_layernorm, "matrix", NULL},
    {&pdnn_op_layernorm, "matrix", "affine: no"},
    {&pdnn_op_groupnorm, "features", NULL},
    {&pdnn_op_pool2d, "image", "to: 1"},
    {&pdnn_op_pool2d, "image", "to: 2, kind: average"},
    {&pdnn_op_pool2d, "image", "kernel: 3"},
    {&pdnn_op_pool2d, "image", "kernel: 3, stride: 2, ceil: yes"},
    {&pdnn_op_rearrange, "image", "pattern: \"'n c f t -> (t n) (c f)'\""},
    {&pdnn_op_rearrange, "matrix", "n: 2, pattern: \"'(n r) c -> (n c) r'\""},
    {&pdnn_op_roi_align, "[image, matrix]", NULL},
    {&pdnn_op_slice, "matrix", "rows: batch - 4, first: 3"},
    {&pdnn_op_slice, "image", "columns: 2"},
    {&pdnn_op_slice, "scores", "height: 2"},
    {&pdnn_op_slice, "image", "width: 1, first: 3"},
    {&pdnn_op_concat, "[image, features]", NULL},
    {&pdnn_op_mean, "matrix", "sequences: batch / 2"},
    {&pdnn_op_mean, "matrix", "along: columns"},
    {&pdnn_op_resize, "image", NULL},
    {&pdnn_op_resize, "image", "factor: 3, kind: bilinear"},
    {&pdnn_op_resize, "image", "height: 2, width: 9"},
    {&pdnn_op_concat, "[image, image]", "along: height"},
    {&pdnn_op_mask, "scores", NULL},
    {&pdnn_op_rmsnorm, "matrix", "heads: 2, width: 2"},
    {&pdnn_op_rope, "matrix", "column: 2, position: batch"},
    {&pdnn_op_relative_bias, "scores", NULL},
    {&pdnn_op_relative_bias, "squares", "window: 2"},
    {&pdnn_op_relative_bias, "scores", "causal: yes, buckets: 3, distance: 4"},
    {&pdnn_op_matmul, "[matrix, matrix]", "transpose_b: yes"},
    {&pdnn_op_cache_append, "rows", NULL},
    {&pdnn_op_embedding, "[ids, rows]", NULL},
    {&pdnn_op_scatter_add, "[matrix, ids]", NULL},
    {&pdnn_op_scatter_add, "[matrix, ids, rows]", "skew: 30"},
    {&pdnn_op_ctc_loss, "[matrix, labels]", NULL},
    {&pdnn_op_embedding_bag, "[bags, rows]", NULL},
    {&pdnn_op_interaction, "matrix", "pairs: all"},
    {&pdnn_op_logistic_loss, "[column, ids]", NULL},
    {&pdnn_op_rnn, "matrix", "cell: rnn"},
    {&pdnn_op_rnn, "matrix", "cell: lstm, biases: 2"},
    {&pdnn_op_rnn, "matrix", "cell: gru"},
    {&pdnn_op_rnn, "matrix", "cell: lbr_gru"},
    {&pdnn_op_rnn, "matrix", "cell: lbr_gru, biases: 2"},
};
enum { N_WRITTEN = sizeof all_written / sizeof *all_written };

static const char head[] = "family: one\n"
                           "axes: {batch: {default: 6, range: 1..64}}\n"
                           "inputs:\n"
                           "  matrix: {shape: [batch, 4]}\n"
                           "  column: {shape: [batch, 1]}\n"
                           "  image: {shape: [batch, 3, 4, 4]}\n"
                           "  features: {shape: [batch, 4, 4, 4]}\n"
                           "  scores: {shape: [2 * batch, 3, 3]}\n"
                           "  squares: {shape: [2 * batch, 4, 4]}\n"
                           "  rows: {shape: [2, 4]}\n"
                           "  ids: {shape: [batch], fill: {class: 2}}\n"
                           "  bags: {shape: [batch, 3], fill: {class: 2}}\n"
                           "  labels: {shape: [1, 2], fill: {class: 2}}\n";

/* Its data operands are matrices and ids, or what is written; what must be given is 2. */
static void write_entry(struct pdnn_str *text, const struct pdnn_op_def *op, const struct written *written) {
    const bool reads_table =
        written && (strcmp(written->from, "[ids, rows]") == 0 || strcmp(written->from, "[bags, rows]") == 0);
    pdnn_str_printf(text, "  - {%s: {", op->name);
    for (const struct pdnn_attribute *row = op->attributes; row->name; row++)
        if (row->required && !row->is_pattern && !reads_table)
            pdnn_str_printf(text, "%s: 2, ", row->name);
    pdnn_str_printf(text, "%s}, from: ", written && written->given ? written->given : "");
    if (written) {
        pdnn_str_printf(text, "%s}\n", written->from);
        return;
    }
    const char *mark = "[";
    for (const struct pdnn_operand *operand = op->operands; operand->name; operand++) {
        if (operand->shape || operand->optional)
            continue;
        pdnn_str_printf(text, "%s%s", mark, operand->kind == PDNN_OPERAND_DATA ? "matrix" : "ids");
        pdnn_str_printf(text, "%s", operand->many ? ", matrix" : "");
        mark = ", ";
    }
    pdnn_str_printf(text, "]}\n");
}

static enum pdnn_status build(const struct pdnn_str *text, enum pdnn_mode mode, struct pdnn_arena *arena,
                              struct pdnn_graph *graph, struct pdnn_err *err) {
    struct pdnn_instance instance;
    const struct pdnn_definition *definition = NULL;
    const struct pdnn_compiled *compiled = NULL;
    enum pdnn_status status =
        pdnn_family_parse("one.yaml", text->text, text->length, arena, &definition, err);
    if (status == PDNN_OK)
        status = pdnn_definition_compile(definition, arena, &compiled, err);
    if (status != PDNN_OK)
        return status;
    pdnn_instance_init(&instance, &compiled->family);
    instance.setting[PDNN_SETTING_MODE] = mode;
    pdnn_instance_resolve(&instance, 1);
    return pdnn_instance_forward(&instance, arena, graph, err);
}

static void check_written(const struct pdnn_op_def *op, const struct written *written, enum pdnn_mode mode) {
    struct pdnn_arena arena;
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    pdnn_str_printf(&text, "%sops:\n", head);
    write_entry(&text, op, written);
    /* Training builds what the loss needs: the op, if what it gives is a matrix. */
    pdnn_str_printf(&text, "loss:\n");
    if (op->is_loss)
        write_entry(&text, op, written);
    else
        pdnn_str_printf(&text, "  - {softmax_cross_entropy, from: [%s, ids]}\n", written ? "matrix" : "in");
    enum pdnn_status status = build(&text, mode, &arena, &graph, &err);
    const bool is_nothing = op == &pdnn_op_dropout && mode == PDNN_MODE_INFER;
    if (is_nothing ? strcmp(err.text, "one computes nothing") != 0 : status != PDNN_OK)
        fail_msg("%s\n%s", text.text, err.text);
    const size_t behind = mode == PDNN_MODE_TRAIN && !op->is_loss ? 2 : 1;
    const bool is_there = graph.n_nodes >= behind && graph.nodes[graph.n_nodes - behind].op == op;
    assert_true(is_there || is_nothing || (written && mode == PDNN_MODE_TRAIN));
    for (const struct pdnn_attribute *row = op->attributes; is_there && row->name; row++)
        if (row->hides_one)
            assert_int_not_equal(graph.nodes[graph.n_nodes - behind].attr[row->index], 1);
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

static void test_ops_accept_what_rows_make(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_ops[i]; i++) {
        bool is_written = !pdnn_ops[i]->operands[0].name;
        for (size_t k = 0; k < N_WRITTEN; k++)
            is_written =
                is_written || (all_written[k].op == pdnn_ops[i] && all_written[k].op != &pdnn_op_dense);
        for (enum pdnn_mode mode = 0; !is_written && mode <= PDNN_MODE_TRAIN; mode++)
            check_written(pdnn_ops[i], NULL, mode);
    }
    for (size_t k = 0; k < N_WRITTEN; k++)
        for (enum pdnn_mode mode = 0; mode <= PDNN_MODE_TRAIN; mode++)
            check_written(all_written[k].op, &all_written[k], mode);
}

/* A rest makes one more window, unless it would begin behind the image. */
static void test_pool2d_ceil(void **state) {
    (void)state;
    static const struct {
        int64_t length, kernel, stride, padding, windows, extra;
    } rows[] = {{54, 3, 2, 0, 27, 1}, {55, 3, 2, 0, 27, 0}, {7, 2, 2, 0, 4, 1}, {6, 3, 3, 1, 3, 1},
                {4, 2, 3, 1, 2, 0},   {5, 2, 3, 1, 2, 0},   {4, 1, 2, 0, 2, 0}, {8, 3, 1, 1, 8, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_err err = {0};
        struct pdnn_str text = {0};
        struct pdnn_graph graph;
        pdnn_arena_init(&arena);
        pdnn_str_printf(&text, "family: one\naxes: {batch: {default: 1, range: 1..9}}\n");
        pdnn_str_printf(&text, "inputs: {x: {shape: [batch, 1, %d, 9]}}\n", (int)rows[i].length);
        pdnn_str_printf(&text, "ops: [{pool2d: {kernel_h: %d, stride_h: %d, padding_h: %d, ",
                        (int)rows[i].kernel, (int)rows[i].stride, (int)rows[i].padding);
        pdnn_str_printf(&text, "kernel_w: 9, ceil: yes}, from: x}]\n");
        if (build(&text, PDNN_MODE_INFER, &arena, &graph, &err) != PDNN_OK)
            fail_msg("%s\n%s", text.text, err.text);
        const struct pdnn_node *node = &graph.nodes[graph.n_nodes - 1];
        assert_int_equal(pdnn_node_out(&graph, node, 0)->dim[2], rows[i].windows);
        assert_int_equal(node->attr[PDNN_POOL2D_EXTRA_H], rows[i].extra);
        assert_int_equal(node->attr[PDNN_POOL2D_EXTRA_W], 0);
        pdnn_str_finish(&text);
        pdnn_arena_finish(&arena);
    }
}

/* The compiled entry, and whether its op's row is its own. */
static const struct pdnn_entry_code *entry_of(const struct pdnn_str *text, size_t index,
                                              struct pdnn_arena *arena, bool *has_own_row) {
    const struct pdnn_definition *definition = NULL;
    const struct pdnn_compiled *compiled = NULL;
    struct pdnn_err err = {0};
    if (pdnn_family_parse("one.yaml", text->text, text->length, arena, &definition, &err) != PDNN_OK ||
        pdnn_definition_compile(definition, arena, &compiled, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    const struct pdnn_entry_code *entry = &compiled->own.at[index];
    *has_own_row = true;
    for (size_t i = 0; pdnn_ops[i]; i++)
        *has_own_row = *has_own_row && compiled->ops[i] != entry->op;
    return entry;
}

static void assert_nodes_equal(const struct pdnn_graph *graph, const struct pdnn_node *a,
                               const struct pdnn_node *b) {
    assert_ptr_equal(a->op, b->op);
    assert_memory_equal(a->attr, b->attr, sizeof a->attr);
    assert_memory_equal(a->coef, b->coef, sizeof a->coef);
    assert_int_equal(a->n_inputs, b->n_inputs);
    for (int i = 0; i < a->n_outputs; i++)
        assert_memory_equal(pdnn_node_out(graph, a, i)->dim, pdnn_node_out(graph, b, i)->dim,
                            sizeof pdnn_node_out(graph, a, i)->dim);
}

/* pdnn_op_code_fold gives the first 256 entries that it changes a row of their own, and those that follow the
 * op's: the same entry before and behind that makes equal nodes, and only the first has values dropped. */
static void test_op_code_fold(void **state) {
    enum { FOLDED = 256 };
    size_t n_folded = 0, n_dropped = 0;
    (void)state;
    for (size_t k = 0; k < N_WRITTEN; k++) {
        struct pdnn_arena arena;
        struct pdnn_err err = {0};
        struct pdnn_str text = {0};
        struct pdnn_graph graph;
        bool is_own, is_own_behind;
        if (all_written[k].op->is_loss)
            continue;
        pdnn_arena_init(&arena);
        pdnn_str_printf(&text, "%sops:\n", head);
        write_entry(&text, all_written[k].op, &all_written[k]);
        for (size_t i = 0; i < FOLDED; i++)
            pdnn_str_printf(&text, "  - {dense: {out: 4}, from: matrix}\n");
        write_entry(&text, all_written[k].op, &all_written[k]);
        const struct pdnn_entry_code *first = entry_of(&text, 0, &arena, &is_own);
        const struct pdnn_entry_code *last = entry_of(&text, FOLDED + 1, &arena, &is_own_behind);
        assert_false(is_own_behind);
        assert_true(first->n_values <= last->n_values);
        assert_true(is_own || first->n_values == last->n_values);
        n_folded += is_own;
        n_dropped += first->n_values < last->n_values;
        if (build(&text, PDNN_MODE_INFER, &arena, &graph, &err) != PDNN_OK)
            fail_msg("%s\n%s", text.text, err.text);
        assert_nodes_equal(&graph, &graph.nodes[0], &graph.nodes[graph.n_nodes - 1]);
        pdnn_str_finish(&text);
        pdnn_arena_finish(&arena);
    }
    assert_true(n_folded > N_WRITTEN / 2 && n_dropped > N_WRITTEN / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ops_accept_what_rows_make),
                                       cmocka_unit_test(test_pool2d_ceil),
                                       cmocka_unit_test(test_op_code_fold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
