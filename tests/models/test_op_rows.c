/* What rows of ops say about operands and attributes: they are in order, and the weights of families' graphs
 * are as they say. tests/gen/test_written_ops.c is about their expressions. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"

#include "models/attributes.h"
#include "models/op.h"

#include <math.h>
#include <string.h>

/* Forward ops that only transforms append. */
static const struct pdnn_op_def *const inserted[] = {&pdnn_op_cast, &pdnn_op_quantize, &pdnn_op_dequantize,
                                                     &pdnn_op_attention_softmax, &pdnn_op_dropout_add_norm};

static bool is_inserted(const struct pdnn_op_def *op) {
    for (size_t i = 0; i < sizeof inserted / sizeof *inserted; i++)
        if (inserted[i] == op)
            return true;
    return false;
}

static bool is_made(const struct pdnn_operand *operand) {
    return operand->kind == PDNN_OPERAND_WEIGHT || operand->kind == PDNN_OPERAND_STATE;
}

static void test_attributes_are_in_order(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_ops[i]; i++) {
        const struct pdnn_attribute *rows = pdnn_ops[i]->attributes;
        int n_attrs = 0, n_coefs = 0, k = 0;
        for (; rows[k].name; k++) {
            const struct pdnn_attribute *row = &rows[k];
            const bool only_sizes = row->index == PDNN_SIZE && !row->coefficient && !n_coefs;
            if (!only_sizes &&
                (row->coefficient ? row->index != n_coefs++ : n_coefs || row->index != n_attrs++))
                fail_msg("%s: %s is out of order", pdnn_ops[i]->name, row->name);
            if (!only_sizes && !row->coefficient)
                assert_ptr_equal(pdnn_op_attribute(pdnn_ops[i], row->index), row);
            assert_false(row->required && (row->derived || row->fallback));
            for (int before = 0; before < k; before++)
                assert_string_not_equal(rows[before].name, row->name);
        }
        assert_null(pdnn_op_attribute(pdnn_ops[i], n_attrs));
        assert_true(k <= PDNN_ATTRIBUTES && n_attrs <= PDNN_NODE_ATTRS && n_coefs <= PDNN_NODE_COEFS);
        for (; n_coefs < PDNN_NODE_COEFS; n_coefs++)
            assert_true(pdnn_ops[i]->coef[n_coefs] == 0);
    }
}

/* Data comes first, weights are told how to be made, and what the op updates is state. */
static void test_operands_are_in_order(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_ops[i]; i++) {
        const struct pdnn_op_def *op = pdnn_ops[i];
        int n = 0, n_made = 0;
        for (; op->operands[n].name; n++) {
            const struct pdnn_operand *operand = &op->operands[n];
            assert_true(operand->kind > PDNN_OPERAND_NONE && operand->kind < PDNN_OPERAND_COUNT);
            assert_int_equal(is_made(operand), operand->shape != NULL);
            n_made += is_made(operand);
            if (!is_made(operand))
                assert_true(!n_made && !operand->fill && !operand->range && !operand->inputs);
            assert_int_equal(operand->range == PDNN_RANGE_FIXED && operand->fill, operand->scale != 0);
            assert_true(!(operand->many || operand->optional) || !op->operands[n + 1].name);
        }
        assert_int_equal(op->infer && !is_inserted(op), n > 0);
        for (int k = 0; op->outputs[k]; k++)
            if (n && op->updates[k])
                assert_int_equal(op->operands[pdnn_op_updated(op, k, n) - 1].kind, PDNN_OPERAND_STATE);
        assert_int_equal(op->infer != NULL, op->outputs[0] != NULL);
        assert_true(!op->when || n > 0);
    }
}

/* Together these have weights of every op that families use. */
static const char *const ids[] = {
    "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,vocabulary=7,batch=2",
    "swin/depths=2-1,hidden=4,head=2,window=2,patch=1,image=8,output=3,batch=2",
    "fc/layers=2,nodes=4,input=3,output=2,batch=2",
    "cnn/block=residual,blocks=1,filters=2,image=32,output=3,batch=2",
    "cnn/block=plain,blocks=1-1,filters=2,kernel=3-5,image=16,output=3,batch=2,dense=4",
    "rnn/cell=rnn,layers=1,embedding=3,hidden=4,length=4,vocabulary=5,batch=2,dropout=10",
    "rnn/cell=lbr_gru,layers=2,embedding=3,hidden=4,length=4,vocabulary=5,batch=2,bidirectional=yes",
    "gnmt/hidden=4,layers=3,vocabulary=9,source=3,target=2,batch=2",
    "deepspeech2/hidden=4,layers=2,frames=41,characters=5,labels=2,batch=2",
    "dlrm/dim=4,bottom=5,top=6-3,features=3,pooling=2,rows_cap=9,batch=2",
    "transformer/layers=2,hidden=4,heads=2,length=8,vocabulary=9,batch=2,objective=masked-lm",
    "transformer/layers=2,hidden=4,heads=2,length=8,vocabulary=9,batch=2,dtype=bf16",
    "unet/depth=1,filters=4,image=8,output=3,batch=2",
    "convnext/depths=1,widths=4,image=16,output=3,batch=2",
    "sd_unet/widths=4-8,repeats=1,heads=2,groups=2,text=3,tokens=3,image=4,batch=2",
    "mamba/layers=1,hidden=8,states=3,length=4,vocabulary=5,batch=2",
    "mamba/layers=1,hidden=8,states=3,vocabulary=5,batch=2,phase=decode,mode=infer",
    "llama/layers=1,hidden=8,heads=2,ffn=6,length=4,vocabulary=5,batch=2,qk_norm=yes",
    "llama/layers=1,hidden=8,heads=2,ffn=6,experts=4,active=2,length=4,vocabulary=5,batch=2",
    "transformer/architecture=decoder,layers=2,hidden=4,heads=2,vocabulary=9,batch=2,phase=decode,mode=infer,"
    "context=8,norm=pre",
};

static double but_the_first(const struct pdnn_tensor *tensor) {
    return (double)(pdnn_tensor_elements(tensor) / tensor->dim[0]);
}

/* What `x.inputs` is for the node: from the weights of the op that computed its first operand. */
static double inputs_before(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *before = &graph->nodes[i];
        if (before->pass != PDNN_FORWARD || before->output[0] != node->input[0])
            continue;
        for (int k = 0; k < before->n_inputs; k++)
            if (before->op->operands[k].range == PDNN_RANGE_HE ||
                before->op->operands[k].range == PDNN_RANGE_INIT)
                return but_the_first(pdnn_node_in(graph, before, k));
    }
    return (double)pdnn_node_in(graph, node, 0)->dim[1];
}

static double units_inputs(const struct pdnn_graph *graph, const struct pdnn_node *node, int k) {
    const char *text = node->op->operands[k].inputs;
    if (!text)
        return but_the_first(pdnn_node_in(graph, node, k));
    if (strcmp(text, "x.inputs") == 0)
        return inputs_before(graph, node);
    if (strcmp(text, "x.columns") == 0)
        return (double)pdnn_node_in(graph, node, 0)->dim[1];
    if (node->op == &pdnn_op_conv_transpose2d) {
        const int64_t *w = pdnn_node_in(graph, node, k)->dim, *attr = node->attr;
        return ceil((double)(w[0] * w[2] * w[3]) /
                    (double)(attr[PDNN_CONV2D_STRIDE_H] * attr[PDNN_CONV2D_STRIDE_W]));
    }
    assert_true(strcmp(text, "hidden") == 0 || strcmp(text, "q.columns") == 0);
    return (double)pdnn_node_out(graph, node, 0)->dim[1];
}

static void check_fill(const struct pdnn_graph *graph, const struct pdnn_node *node, int k,
                       const struct pdnn_fill *fill) {
    const struct pdnn_operand *operand = &node->op->operands[k];
    const double n = units_inputs(graph, node, k);
    const double of[PDNN_RANGE_COUNT] = {[PDNN_RANGE_FIXED] = operand->scale,
                                         [PDNN_RANGE_HE] = sqrt(6 / n),
                                         [PDNN_RANGE_LINEAR] = 1 / sqrt(n)};
    enum pdnn_range range = operand->range;
    if (range == PDNN_RANGE_INIT)
        range = fill->scale == of[PDNN_RANGE_HE] ? PDNN_RANGE_HE : PDNN_RANGE_LINEAR;
    if (fill->kind != operand->fill || fill->scale != of[range])
        fail_msg("%s: %s is filled with %g", node->op->name, operand->name, fill->scale);
}

/* Whether ops of other kinds read the tensor too: then the family made it. */
static bool is_shared(const struct pdnn_graph *graph, uint32_t tensor, const struct pdnn_op_def *op) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].pass == PDNN_FORWARD && graph->nodes[i].op != op &&
            pdnn_node_readings(&graph->nodes[i], tensor))
            return true;
    return false;
}

static void check_operand(const struct pdnn_graph *graph, const struct pdnn_node *node, int k) {
    const struct pdnn_operand *operand = &node->op->operands[k];
    const struct pdnn_tensor *tensor = pdnn_node_in(graph, node, k);
    const struct pdnn_tensor *weight =
        tensor->role == PDNN_ROLE_WEIGHT_COPY ? &graph->tensors[tensor->of] : tensor;
    if (operand->kind == PDNN_OPERAND_IDS || operand->kind == PDNN_OPERAND_LABEL)
        assert_int_equal(tensor->dtype, PDNN_S32);
    if (operand->kind == PDNN_OPERAND_LABEL || operand->kind == PDNN_OPERAND_STATE)
        assert_int_equal(tensor->role,
                         operand->kind == PDNN_OPERAND_LABEL ? PDNN_ROLE_LABEL : PDNN_ROLE_STATE);
    if (operand->kind == PDNN_OPERAND_WEIGHT && !operand->or_data)
        assert_int_equal(weight->role, PDNN_ROLE_WEIGHT);
    if (is_made(operand) && tensor->role != PDNN_ROLE_ACTIVATION &&
        !is_shared(graph, node->input[k], node->op)) {
        int commas = 0;
        for (const char *at = operand->shape; *at; at++)
            commas += *at == ',';
        assert_int_equal(tensor->rank, commas + 1);
        check_fill(graph, node, k, &weight->fill);
    }
}

static void test_graphs_are_as_rows_say(void **state) {
    bool seen[256] = {false};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        for (size_t j = 0; j < graph.n_nodes; j++) {
            const struct pdnn_node *node = &graph.nodes[j];
            const struct pdnn_operand *operands = node->op->operands;
            int n = 0;
            if (node->pass != PDNN_FORWARD || !operands->name)
                continue;
            while (operands[n].name && n < node->n_inputs && !operands[n].many)
                check_operand(&graph, node, n++);
            if (n != node->n_inputs && !operands[n].many)
                fail_msg("%s: %d operands", node->op->name, node->n_inputs);
            assert_true(!operands[n].name || operands[n].many || operands[n].optional || operands[n].when);
            for (size_t o = 0; pdnn_ops[o]; o++)
                seen[o] = seen[o] || pdnn_ops[o] == node->op;
        }
        pdnn_arena_finish(&arena);
    }
    for (size_t o = 0; pdnn_ops[o]; o++)
        for (const struct pdnn_operand *operand = pdnn_ops[o]->operands; operand->name; operand++)
            if (is_made(operand) && !seen[o])
                fail_msg("%s: no graph has it", pdnn_ops[o]->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes_are_in_order),
        cmocka_unit_test(test_operands_are_in_order),
        cmocka_unit_test(test_graphs_are_as_rows_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
