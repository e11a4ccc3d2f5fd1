/* Which row of its table the ops relative_bias and attention_softmax add where, for both kinds of relative
 * positions (the formulas are in models/ops/relative_bias.c). */
#ifndef MODELS_RELATIVE_BIAS_H
#define MODELS_RELATIVE_BIAS_H

#include "models/graph.h"

struct pdnn_relative_bias_places {
    int64_t n, m;     /* queries and keys */
    int64_t rows;     /* of the table */
    int64_t window;   /* 0: buckets */
    int64_t distance; /* buckets: from here on the last one */
    bool is_causal;
};

/* PDNN_INVALID unless these attributes of a relative_bias are for such scores (B*h, n, m) and table. */
enum pdnn_status pdnn_relative_bias_check(const int64_t *attr, const struct pdnn_tensor *scores,
                                          const struct pdnn_tensor *table, struct pdnn_err *err);

/* The places of checked ones; scores: or their gradient. */
struct pdnn_relative_bias_places pdnn_relative_bias_places_of(const int64_t *attr,
                                                              const struct pdnn_tensor *scores,
                                                              const struct pdnn_tensor *table);

/* What the index tells apart. Windows: query i and key j, at i m + j. Buckets: the distance j - i, at
 * j - i + n - 1. */
int64_t pdnn_relative_bias_cells(const struct pdnn_relative_bias_places *places);

static inline int64_t pdnn_relative_bias_cell(const struct pdnn_relative_bias_places *places, int64_t i,
                                              int64_t j) {
    return places->window ? i * places->m + j : j - i + places->n - 1;
}

/* Rows of the table that some query and key meet. Buckets: those of no distance, or of one that no two
 * positions have, are not among them, as distance 0 ahead. */
int64_t pdnn_relative_bias_met(const struct pdnn_relative_bias_places *places);

/* The table's row of each cell. */
void pdnn_relative_bias_index(const struct pdnn_relative_bias_places *places, int32_t *index);

#endif
