#include "results/query/op_groups.h"

#include "base/str.h"
#include "models/op.h"

#include <string.h>

/* Products are blue, ops between them green to yellow, the ends of the model purple, updates red. */
const struct pdnn_op_group_def pdnn_op_groups[PDNN_OP_GROUP_COUNT] = {
    [PDNN_GROUP_EMBEDDING] = {"embedding", 0x7b4b94},
    [PDNN_GROUP_LINEAR] = {"linear GEMM", 0x12477e},
    [PDNN_GROUP_ATTENTION] = {"attention batched GEMM", 0x2f86c6},
    [PDNN_GROUP_FFN] = {"FC GEMM", 0x8cc3e8},
    [PDNN_GROUP_CONVOLUTION] = {"convolution", 0x1d6fa5},
    [PDNN_GROUP_RECURRENT] = {"recurrent layers", 0x3f9fb5},
    [PDNN_GROUP_ADDITIVE] = {"additive attention", 0x86b6d8},
    [PDNN_GROUP_GELU] = {"GeLU", 0x1b7f5c},
    [PDNN_GROUP_SOFTMAX] = {"scale+mask+softmax+dropout", 0x7bbf6a},
    [PDNN_GROUP_NORM] = {"dropout+residual+LayerNorm", 0xf0d24b},
    [PDNN_GROUP_ACTIVATION] = {"activation", 0x2a9d6f},
    [PDNN_GROUP_BATCHNORM] = {"normalization+residual", 0xd9c04a},
    [PDNN_GROUP_POOLING] = {"pooling", 0xa8cf7f},
    [PDNN_GROUP_OUTPUT] = {"output", 0xc79bd2},
    [PDNN_GROUP_ACCUMULATION] = {"gradient accumulation", 0x8c5a2b},
    [PDNN_GROUP_UPDATE] = {"optimizer", 0xb3261e},
    [PDNN_GROUP_STAGE1] = {"optimizer stage 1", 0xb3261e},
    [PDNN_GROUP_STAGE2] = {"stage 2 and norms", 0xf08a62},
    [PDNN_GROUP_REORDER] = {"reorder", 0x4d4d4d},
    [PDNN_GROUP_INFEED] = {"infeed", 0xd81b60},
    [PDNN_GROUP_OTHER] = {"other", 0xa6a6a6},
};

/* What a row of ops.csv must match: every field that is set. */
struct rule {
    const char *op, *category, *pass;
    unsigned parts; /* the row's layer is one of them */
    enum pdnn_op_group group;
};

/* The first match decides: ops that determine their group by themselves, then the ends of the model by layer,
 * then ops between the products, and last the products with whatever belongs to their layers. */
#define IN(part) (1U << PDNN_LAYER_##part)
static const struct rule rules[] = {
    {.category = "reorder", .group = PDNN_GROUP_REORDER},
    {.category = "infeed", .group = PDNN_GROUP_INFEED},
    {.category = "optimizer", .group = PDNN_GROUP_UPDATE},
    {.category = "optimizer stage 1", .group = PDNN_GROUP_STAGE1},
    {.category = "optimizer stage 2", .group = PDNN_GROUP_STAGE2},
    {.category = "norm", .group = PDNN_GROUP_STAGE2},
    {.op = "add", .pass = "backward-weights", .group = PDNN_GROUP_ACCUMULATION},
    {.parts = IN(EMBEDDING), .group = PDNN_GROUP_EMBEDDING},
    {.parts = IN(OUTPUT), .group = PDNN_GROUP_OUTPUT},
    {.category = "loss", .group = PDNN_GROUP_OUTPUT},
    {.category = "embedding", .group = PDNN_GROUP_EMBEDDING},
    {.category = "attention gemm", .group = PDNN_GROUP_ATTENTION},
    {.parts = IN(ADDITIVE_ATTENTION), .group = PDNN_GROUP_ADDITIVE},
    {.parts = IN(ATTENTION), .group = PDNN_GROUP_ATTENTION},
    {.category = "softmax", .group = PDNN_GROUP_SOFTMAX},
    {.parts = IN(SOFTMAX), .group = PDNN_GROUP_SOFTMAX},
    {.category = "pooling", .group = PDNN_GROUP_POOLING},
    {.category = "normalization", .parts = IN(CONVOLUTION) | IN(RECURRENT), .group = PDNN_GROUP_BATCHNORM},
    {.op = "add", .parts = IN(CONVOLUTION) | IN(RECURRENT), .group = PDNN_GROUP_BATCHNORM},
    {.category = "normalization", .group = PDNN_GROUP_NORM},
    {.op = "add", .group = PDNN_GROUP_NORM},
    {.parts = IN(NORM), .group = PDNN_GROUP_NORM},
    {.category = "activation",
     .parts = IN(CONVOLUTION) | IN(RECURRENT) | IN(DENSE),
     .group = PDNN_GROUP_ACTIVATION},
    {.category = "activation", .group = PDNN_GROUP_GELU},
    {.parts = IN(ACTIVATION), .group = PDNN_GROUP_GELU},
    {.parts = IN(PROJECTION), .group = PDNN_GROUP_LINEAR},
    {.parts = IN(FEED_FORWARD) | IN(DENSE), .group = PDNN_GROUP_FFN},
    {.parts = IN(CONVOLUTION), .group = PDNN_GROUP_CONVOLUTION},
    {.parts = IN(RECURRENT), .group = PDNN_GROUP_RECURRENT},
};

bool pdnn_op_is_outer(const struct pdnn_family_def *family, const struct pdnn_op_record *op) {
    const struct pdnn_layer_def *layer = pdnn_layer_find(family, op->layer);
    return layer && strcmp(layer->stem, op->layer) == 0;
}

static bool fits(const struct rule *rule, const struct pdnn_op_record *op, enum pdnn_layer_part part) {
    return (!rule->op || strcmp(rule->op, op->op) == 0) &&
           (!rule->category || strcmp(rule->category, op->category) == 0) &&
           (!rule->pass || strcmp(rule->pass, op->pass) == 0) && (!rule->parts || (rule->parts & 1U << part));
}

enum pdnn_op_group pdnn_op_group_of(const struct pdnn_family_def *family, const struct pdnn_op_record *op) {
    const struct pdnn_layer_def *layer = pdnn_layer_find(family, op->layer);
    enum pdnn_layer_part part = layer ? layer->part : PDNN_LAYER_OTHER;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(&rules[i], op, part))
            return rules[i].group;
    return PDNN_GROUP_OTHER;
}

bool pdnn_category_is_product(const char *category) {
    return pdnn_parts_have("linear gemm|attention gemm|convolution|recurrent", "|", category,
                           strlen(category));
}

/* Rows of groups come first, in the order of the groups, unless the table is older than the graph. */
const struct pdnn_group *pdnn_breakdown_group(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                                              size_t n_groups, const struct pdnn_op_record *op) {
    for (size_t i = 0; i < n_groups; i++) {
        const struct pdnn_group *group = &groups[((size_t)op->op_index + i) % n_groups];
        const struct pdnn_node *node = &graph->nodes[group->node];
        if (strcmp(group->shape, op->shape) == 0 && strcmp(group->layer, op->layer) == 0 &&
            strcmp(node->op->name, op->op) == 0 && strcmp(pdnn_node_pass_name(node), op->pass) == 0)
            return group;
    }
    return NULL;
}
