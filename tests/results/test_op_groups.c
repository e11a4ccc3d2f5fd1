/* The group of every kind of row that a model has, and how layer names are read. */
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "results/query/op_groups.h"

#include <string.h>

static struct pdnn_op_record row(const char *op, const char *category, const char *pass, const char *layer) {
    struct pdnn_op_record made = {.id = "a", .category = category, .pass = pass};
    made.op = op;
    made.layer = layer;
    return made;
}

static void test_op_group_of(void **state) {
    (void)state;
    static const struct {
        const char *op, *category, *pass, *layer;
        enum pdnn_op_group group;
    } rows[] = {
        {"embedding", "embedding", "forward", "embedding", PDNN_GROUP_EMBEDDING},
        {"layernorm", "normalization", "forward", "embedding", PDNN_GROUP_EMBEDDING},
        {"dropout", "dropout", "backward-data", "embedding", PDNN_GROUP_EMBEDDING},
        {"add", "add", "forward", "embedding", PDNN_GROUP_EMBEDDING},
        {"dense", "linear gemm", "forward", "query1..query24", PDNN_GROUP_LINEAR},
        {"bias", "bias", "backward-weights", "value1..value24", PDNN_GROUP_LINEAR},
        {"dense", "linear gemm", "backward-weights", "qkv7", PDNN_GROUP_LINEAR},
        {"dense", "linear gemm", "backward-data", "projection1..projection24", PDNN_GROUP_LINEAR},
        {"dense", "linear gemm", "forward", "cross_kv1..cross_kv6", PDNN_GROUP_LINEAR},
        {"matmul", "attention gemm", "forward", "scores1..scores24", PDNN_GROUP_ATTENTION},
        {"matmul", "attention gemm", "backward-data", "cross_context3", PDNN_GROUP_ATTENTION},
        {"cache_append", "data movement", "forward", "cache1..cache12", PDNN_GROUP_ATTENTION},
        {"dense", "linear gemm", "forward", "ffn1.1..ffn1.24", PDNN_GROUP_FFN},
        {"bias", "bias", "forward", "ffn2.12", PDNN_GROUP_FFN},
        {"gelu", "activation", "backward-data", "gelu1..gelu24", PDNN_GROUP_GELU},
        {"relu", "activation", "forward", "gelu1", PDNN_GROUP_GELU},
        {"attention_softmax", "softmax", "forward", "softmax1..softmax24", PDNN_GROUP_SOFTMAX},
        {"mask", "softmax", "forward", "cross_softmax1", PDNN_GROUP_SOFTMAX},
        {"dropout", "dropout", "forward", "softmax2", PDNN_GROUP_SOFTMAX},
        {"layernorm", "normalization", "backward-weights", "norm1.1..norm1.24", PDNN_GROUP_NORM},
        {"dropout", "dropout", "forward", "norm2.1", PDNN_GROUP_NORM},
        {"dropout", "dropout", "forward", "cross_norm1", PDNN_GROUP_NORM},
        {"add", "add", "backward-data", "query1", PDNN_GROUP_NORM},
        {"layernorm", "normalization", "forward", "final_norm", PDNN_GROUP_NORM},
        {"dense", "linear gemm", "forward", "pooler", PDNN_GROUP_OUTPUT},
        {"embedding", "embedding", "forward", "transform", PDNN_GROUP_OUTPUT},
        {"dense", "linear gemm", "backward-data", "decoder", PDNN_GROUP_OUTPUT},
        {"dense", "linear gemm", "forward", "nsp", PDNN_GROUP_OUTPUT},
        {"softmax_cross_entropy", "loss", "forward", "loss", PDNN_GROUP_OUTPUT},
        {"add", "add", "backward-weights", "query1..query24", PDNN_GROUP_ACCUMULATION},
        {"adam", "optimizer", "update", "ffn1.1..ffn1.24", PDNN_GROUP_UPDATE},
        {"lamb_direction", "optimizer stage 1", "update", "embedding", PDNN_GROUP_STAGE1},
        {"lamb_apply", "optimizer stage 2", "update", "decoder", PDNN_GROUP_STAGE2},
        {"norm", "norm", "update", "norm1.1..norm1.24", PDNN_GROUP_STAGE2},
        {"reorder", "reorder", "forward", "", PDNN_GROUP_REORDER},
        {"slice", "data movement", "forward", "something", PDNN_GROUP_OTHER},
        {"dropout", "dropout", "forward", "ffn", PDNN_GROUP_OTHER},
        {"dropout", "dropout", "forward", "normal", PDNN_GROUP_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_op_record op = row(rows[i].op, rows[i].category, rows[i].pass, rows[i].layer);
        enum pdnn_op_group group = pdnn_op_group_of(pdnn_family_find("transformer"), &op);
        if (group != rows[i].group)
            fail_msg("%s of %s: %s, not %s", rows[i].op, rows[i].layer, pdnn_op_groups[group].name,
                     pdnn_op_groups[rows[i].group].name);
    }
}

/* The same layer name is a different part in another family. */
static void test_op_group_of_each_family(void **state) {
    (void)state;
    static const struct {
        const char *family, *op, *category, *pass, *layer;
        enum pdnn_op_group group;
    } rows[] = {
        {"fc", "dense", "linear gemm", "forward", "hidden1..hidden4", PDNN_GROUP_FFN},
        {"fc", "relu", "activation", "backward-data", "hidden2", PDNN_GROUP_ACTIVATION},
        {"fc", "bias", "bias", "forward", "output", PDNN_GROUP_OUTPUT},
        {"fc", "rmsprop", "optimizer", "update", "hidden1..output", PDNN_GROUP_UPDATE},
        {"cnn", "conv2d", "convolution", "forward", "block2..block16", PDNN_GROUP_CONVOLUTION},
        {"cnn", "conv2d", "convolution", "backward-weights", "projection1", PDNN_GROUP_CONVOLUTION},
        {"cnn", "bias", "bias", "forward", "stage1..stage2", PDNN_GROUP_CONVOLUTION},
        {"cnn", "batchnorm", "normalization", "forward", "stem..block3", PDNN_GROUP_BATCHNORM},
        {"cnn", "add", "add", "backward-data", "block1..block16", PDNN_GROUP_BATCHNORM},
        {"cnn", "relu", "activation", "forward", "stem", PDNN_GROUP_ACTIVATION},
        {"cnn", "pool2d", "pooling", "forward", "head", PDNN_GROUP_POOLING},
        {"cnn", "dense", "linear gemm", "forward", "dense1..dense2", PDNN_GROUP_FFN},
        {"cnn", "softmax_cross_entropy", "loss", "forward", "loss", PDNN_GROUP_OUTPUT},
        {"rnn", "embedding", "embedding", "forward", "embedding", PDNN_GROUP_EMBEDDING},
        {"rnn", "rnn", "recurrent", "forward", "layer1..layer13", PDNN_GROUP_RECURRENT},
        {"rnn", "dropout", "dropout", "forward", "layer1", PDNN_GROUP_RECURRENT},
        {"gnmt", "rnn", "recurrent", "forward", "decoder2..decoder4", PDNN_GROUP_RECURRENT},
        {"gnmt", "concat", "data movement", "forward", "decoder2", PDNN_GROUP_RECURRENT},
        {"gnmt", "dense", "linear gemm", "forward", "attention", PDNN_GROUP_ADDITIVE},
        {"gnmt", "attention", "attention", "backward-data", "attention", PDNN_GROUP_ADDITIVE},
        {"deepspeech2", "conv2d", "convolution", "forward", "conv2", PDNN_GROUP_CONVOLUTION},
        {"deepspeech2", "batchnorm", "normalization", "forward", "layer2..layer5", PDNN_GROUP_BATCHNORM},
        {"deepspeech2", "add", "add", "forward", "layer1", PDNN_GROUP_BATCHNORM},
        {"deepspeech2", "ctc_loss", "loss", "forward", "loss", PDNN_GROUP_OUTPUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_op_record op = row(rows[i].op, rows[i].category, rows[i].pass, rows[i].layer);
        enum pdnn_op_group group = pdnn_op_group_of(pdnn_family_find(rows[i].family), &op);
        if (group != rows[i].group)
            fail_msg("%s of %s of %s: %s, not %s", rows[i].op, rows[i].layer, rows[i].family,
                     pdnn_op_groups[group].name, pdnn_op_groups[rows[i].group].name);
    }
}

/* A group without a color would be taken for a category. */
static void test_op_groups_have_names_and_colors(void **state) {
    (void)state;
    for (int i = 0; i < PDNN_OP_GROUP_COUNT; i++) {
        assert_non_null(pdnn_op_groups[i].name);
        assert_true(pdnn_op_groups[i].rgb != 0);
    }
}

static void test_op_is_outer(void **state) {
    (void)state;
    static const struct {
        const char *layer;
        bool outer;
    } rows[] = {{"embedding", true}, {"final_norm", true},       {"decoder", true}, {"loss", true},
                {"norm1.3", false},  {"ffn1.1..ffn1.24", false}, {"", false},       {"something", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_op_record op = row("adam", "optimizer", "update", rows[i].layer);
        assert_int_equal(pdnn_op_is_outer(pdnn_family_find("transformer"), &op), rows[i].outer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_op_group_of),
        cmocka_unit_test(test_op_group_of_each_family),
        cmocka_unit_test(test_op_groups_have_names_and_colors),
        cmocka_unit_test(test_op_is_outer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
