/* What one instance of a transformer measured and counted, in the form that directions compare: sums over its
 * rows of ops.csv. */
#ifndef RESULTS_STUDIES_DIRECTION_FACTS_H
#define RESULTS_STUDIES_DIRECTION_FACTS_H

#include "results/analysis/op_groups.h"
#include "results/analysis/work.h"

struct pdnn_direction_facts {
    bool has_ops, trains;
    double step_ns;
    struct pdnn_op_sum group[PDNN_OP_GROUP_COUNT];       /* all rows */
    struct pdnn_op_sum layer_group[PDNN_OP_GROUP_COUNT]; /* rows of repeated layers only */
    uint64_t params, word_bytes;
    uint64_t matrix_flop;          /* 2 M N K of the layers' products; PDNN_ABSENT if it does not fit */
    uint64_t qkv_bytes;            /* of the forward products for queries, keys and values, without biases */
    int64_t qkv_tokens, qkv_width; /* T and H of one of these products; 0: there is none */
};

/* Adds up the rows. params, word_bytes and trains are the caller's, set before the call. */
void pdnn_direction_facts(const struct pdnn_family_def *family, const struct pdnn_op_rows *rows,
                          struct pdnn_direction_facts *facts);

/* Percentage of the step. */
double pdnn_facts_share(const struct pdnn_direction_facts *facts, const enum pdnn_op_group *groups, size_t n);

#endif
