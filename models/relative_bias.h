/* Which row of its table the op relative_bias adds where, for both kinds of relative positions (the formulas
 * are in models/ops/relative_bias.c). */
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

/* Those of a node with these attributes, on scores or their gradient (B*h, n, m). */
struct pdnn_relative_bias_places pdnn_relative_bias_places_of(const int64_t *attr,
                                                              const struct pdnn_tensor *scores,
                                                              const struct pdnn_tensor *table);

/* What the index tells apart. Windows: query i and key j, at i m + j. Buckets: the distance j - i, at
 * j - i + n - 1. */
int64_t pdnn_relative_bias_cells(const struct pdnn_relative_bias_places *places);

/* The table's row of each cell. */
void pdnn_relative_bias_index(const struct pdnn_relative_bias_places *places, int32_t *index);

#endif
