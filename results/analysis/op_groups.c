#include "results/analysis/op_groups.h"

#include <string.h>

/* Products in blues, what lies between them in greens to yellows, the ends of the model in purples, updates
 * in reds. */
const struct pdnn_op_group_def pdnn_op_groups[PDNN_OP_GROUP_COUNT] = {
    [PDNN_GROUP_EMBEDDING] = {"embedding", 0x7b4b94},
    [PDNN_GROUP_LINEAR] = {"linear GEMM", 0x12477e},
    [PDNN_GROUP_ATTENTION] = {"attention batched GEMM", 0x2f86c6},
    [PDNN_GROUP_FFN] = {"FC GEMM", 0x8cc3e8},
    [PDNN_GROUP_GELU] = {"GeLU", 0x1b7f5c},
    [PDNN_GROUP_SOFTMAX] = {"scale+mask+softmax+dropout", 0x7bbf6a},
    [PDNN_GROUP_NORM] = {"dropout+residual+LayerNorm", 0xf0d24b},
    [PDNN_GROUP_OUTPUT] = {"output", 0xc79bd2},
    [PDNN_GROUP_ACCUMULATION] = {"gradient accumulation", 0x8c5a2b},
    [PDNN_GROUP_STAGE1] = {"optimizer stage 1", 0xb3261e},
    [PDNN_GROUP_STAGE2] = {"stage 2 and norms", 0xf08a62},
    [PDNN_GROUP_REORDER] = {"reorder", 0x4d4d4d},
    [PDNN_GROUP_OTHER] = {"other", 0xa6a6a6},
};

/* What a row of ops.csv must be: all that is given. */
struct rule {
    const char *op, *category, *pass;
    const char *stem; /* of its layer, without cross_ */
    enum pdnn_op_group group;
};

/* The first that fits decides: what an op is where that says it all, then the ends of the model by layer,
 * then what stands between the products, and at last products with all that is named after them. */
static const struct rule rules[] = {
    {.category = "reorder", .group = PDNN_GROUP_REORDER},
    {.category = "optimizer", .group = PDNN_GROUP_STAGE1},
    {.category = "optimizer stage 1", .group = PDNN_GROUP_STAGE1},
    {.category = "optimizer stage 2", .group = PDNN_GROUP_STAGE2},
    {.category = "norm", .group = PDNN_GROUP_STAGE2},
    {.op = "add", .pass = "backward-weights", .group = PDNN_GROUP_ACCUMULATION},
    {.stem = "embedding", .group = PDNN_GROUP_EMBEDDING},
    {.stem = "pooler", .group = PDNN_GROUP_OUTPUT},
    {.stem = "transform", .group = PDNN_GROUP_OUTPUT},
    {.stem = "decoder", .group = PDNN_GROUP_OUTPUT},
    {.stem = "nsp", .group = PDNN_GROUP_OUTPUT},
    {.stem = "loss", .group = PDNN_GROUP_OUTPUT},
    {.category = "loss", .group = PDNN_GROUP_OUTPUT},
    {.category = "embedding", .group = PDNN_GROUP_EMBEDDING},
    {.category = "attention gemm", .group = PDNN_GROUP_ATTENTION},
    {.stem = "cache", .group = PDNN_GROUP_ATTENTION},
    {.category = "softmax", .group = PDNN_GROUP_SOFTMAX},
    {.stem = "softmax", .group = PDNN_GROUP_SOFTMAX},
    {.category = "normalization", .group = PDNN_GROUP_NORM},
    {.op = "add", .group = PDNN_GROUP_NORM},
    {.stem = "norm1", .group = PDNN_GROUP_NORM},
    {.stem = "norm2", .group = PDNN_GROUP_NORM},
    {.stem = "norm", .group = PDNN_GROUP_NORM},
    {.stem = "final_norm", .group = PDNN_GROUP_NORM},
    {.category = "activation", .group = PDNN_GROUP_GELU},
    {.stem = "gelu", .group = PDNN_GROUP_GELU},
    {.stem = "query", .group = PDNN_GROUP_LINEAR},
    {.stem = "key", .group = PDNN_GROUP_LINEAR},
    {.stem = "value", .group = PDNN_GROUP_LINEAR},
    {.stem = "qkv", .group = PDNN_GROUP_LINEAR},
    {.stem = "kv", .group = PDNN_GROUP_LINEAR},
    {.stem = "projection", .group = PDNN_GROUP_LINEAR},
    {.stem = "ffn1", .group = PDNN_GROUP_FFN},
    {.stem = "ffn2", .group = PDNN_GROUP_FFN},
};

bool pdnn_family_has_groups(const char *family) {
    return strcmp(family, "transformer") == 0;
}

/* The layer is the stem, with a number behind it, or ".number" where it ends in a digit itself; of a range,
 * the first one counts. */
bool pdnn_op_has_stem(const struct pdnn_op_record *op, const char *stem) {
    static const char cross[] = "cross_";
    const char *layer = op->layer;
    size_t length = strlen(stem);
    if (strncmp(layer, cross, sizeof cross - 1) == 0)
        layer += sizeof cross - 1;
    if (strncmp(layer, stem, length) != 0)
        return false;
    layer += length;
    if (*layer == '.' && layer[1] != '.')
        layer++;
    layer += strspn(layer, "0123456789");
    return !*layer || strncmp(layer, "..", 2) == 0;
}

static const char *const outer_stems[] = {"embedding", "final_norm", "pooler", "transform",
                                          "decoder",   "nsp",        "loss"};

bool pdnn_op_is_outer(const struct pdnn_op_record *op) {
    for (size_t i = 0; i < sizeof outer_stems / sizeof *outer_stems; i++) {
        if (pdnn_op_has_stem(op, outer_stems[i]))
            return true;
    }
    return false;
}

static bool fits(const struct rule *rule, const struct pdnn_op_record *op) {
    return (!rule->op || strcmp(rule->op, op->op) == 0) &&
           (!rule->category || strcmp(rule->category, op->category) == 0) &&
           (!rule->pass || strcmp(rule->pass, op->pass) == 0) &&
           (!rule->stem || pdnn_op_has_stem(op, rule->stem));
}

enum pdnn_op_group pdnn_op_group_of(const struct pdnn_op_record *op) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (fits(&rules[i], op))
            return rules[i].group;
    }
    return PDNN_GROUP_OTHER;
}
