/* The groups that the operator-level characterization of BERT training uses (Pati et al., arXiv 2104.08335),
 * one for every row of ops.csv of a transformer: which part of the model an op belongs to and what it does
 * there. Op and layer decide, so that a bias counts with its product and a dropout with the block it is part
 * of. */
#ifndef RESULTS_ANALYSIS_OP_GROUPS_H
#define RESULTS_ANALYSIS_OP_GROUPS_H

#include "results/tables/record.h"

/* In the order of tables and pictures. */
enum pdnn_op_group {
    PDNN_GROUP_EMBEDDING,
    PDNN_GROUP_LINEAR,    /* queries, keys, values, attention's output */
    PDNN_GROUP_ATTENTION, /* scores and contexts of every head */
    PDNN_GROUP_FFN,       /* the two layers of the feed-forward net */
    PDNN_GROUP_GELU,
    PDNN_GROUP_SOFTMAX,
    PDNN_GROUP_NORM,
    PDNN_GROUP_OUTPUT,
    PDNN_GROUP_ACCUMULATION, /* sums of a weight's gradients */
    PDNN_GROUP_STAGE1,       /* all of an update that has one stage only */
    PDNN_GROUP_STAGE2,
    PDNN_GROUP_REORDER,
    PDNN_GROUP_OTHER,
    PDNN_OP_GROUP_COUNT
};

struct pdnn_op_group_def {
    const char *name; /* "linear GEMM" */
    unsigned rgb;     /* its color in pictures */
};

extern const struct pdnn_op_group_def pdnn_op_groups[PDNN_OP_GROUP_COUNT];

/* True for families whose ops have groups; the ops of others have their category only. */
bool pdnn_family_has_groups(const char *family);

enum pdnn_op_group pdnn_op_group_of(const struct pdnn_op_record *op);

/* True for what stands before and behind the layers and does not grow with their number, updates included. */
bool pdnn_op_is_outer(const struct pdnn_op_record *op);

/* Whether the op is of a layer with that stem: "norm1" of "norm1.3..norm1.24", and of "cross_norm1". */
bool pdnn_op_has_stem(const struct pdnn_op_record *op, const char *stem);

#endif
