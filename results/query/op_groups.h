/* The group of every row of ops.csv: which part of the model an op belongs to and what it does there. The op
 * and its layer decide, which is what its family says, so a bias counts with its product. Transformers have
 * the groups of the operator-level characterization of BERT training (Pati et al., arXiv 2104.08335). */
#ifndef RESULTS_QUERY_OP_GROUPS_H
#define RESULTS_QUERY_OP_GROUPS_H

#include "models/cost/group.h"
#include "models/family.h"
#include "results/store/results.h"

/* In the order of tables and pictures. */
enum pdnn_op_group {
    PDNN_GROUP_EMBEDDING,
    PDNN_GROUP_LINEAR,    /* queries, keys, values, output of attention */
    PDNN_GROUP_ATTENTION, /* scores and contexts of all heads */
    PDNN_GROUP_FFN,       /* both layers of the feed-forward network; hidden dense layers */
    PDNN_GROUP_CONVOLUTION,
    PDNN_GROUP_RECURRENT,
    PDNN_GROUP_ADDITIVE, /* attention without heads */
    PDNN_GROUP_GELU,
    PDNN_GROUP_SOFTMAX,
    PDNN_GROUP_NORM,
    PDNN_GROUP_ACTIVATION, /* between convolutions, or between dense layers outside Transformers */
    PDNN_GROUP_BATCHNORM,
    PDNN_GROUP_POOLING,
    PDNN_GROUP_OUTPUT,
    PDNN_GROUP_ACCUMULATION, /* sums of a weight's gradients */
    PDNN_GROUP_UPDATE,       /* of an optimizer of one stage */
    PDNN_GROUP_STAGE1,
    PDNN_GROUP_STAGE2,
    PDNN_GROUP_REORDER,
    PDNN_GROUP_INFEED, /* waiting for the next minibatch */
    PDNN_GROUP_OTHER,
    PDNN_OP_GROUP_COUNT
};

struct pdnn_op_group_def {
    const char *name; /* "linear GEMM" */
    unsigned rgb;     /* its color in pictures */
};

extern const struct pdnn_op_group_def pdnn_op_groups[PDNN_OP_GROUP_COUNT];

enum pdnn_op_group pdnn_op_group_of(const struct pdnn_family_def *family, const struct pdnn_op_record *op);

/* Whether an op of the category is a matrix product, a convolution or a recurrent layer. */
bool pdnn_category_is_product(const char *category);

/* True for what stands before and after the repeated layers, including its updates. */
bool pdnn_op_is_outer(const struct pdnn_family_def *family, const struct pdnn_op_record *op);

/* The group that a row of ops.csv was made from, or NULL for a reorder. */
const struct pdnn_group *pdnn_breakdown_group(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                                              size_t n_groups, const struct pdnn_op_record *op);

#endif
