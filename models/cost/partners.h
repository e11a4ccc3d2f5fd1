/* Which nodes of a model stand for which of the same model with one more round of its layers. What is alive
 * at a node grows by the same amount with every layer: from a node and its partner follows the load at any
 * depth, and from all of them the peak. */
#ifndef MODELS_COST_PARTNERS_H
#define MODELS_COST_PARTNERS_H

#include "models/graph.h"
#include "models/instance.h"

/* The least depth from which the peak of deeper models follows: the middle layer must be a regular one. With
 * several micro-steps a layer beside the first or the last is not. */
int64_t pdnn_partners_depth(const struct pdnn_instance *instance);

struct pdnn_partners {
    uint32_t shallow, deep; /* nodes */
};

/* graphs: of depth and depth + 1, which are as many rounds of each stack (struct pdnn_layer). A node of round
 * k has as partners that of round k in the first half of the stack, and of k + 1 in the second half; the
 * middle round has both. Nodes outside of stacks are counted from the front and from the back. The table is
 * in the first graph's arena. */
struct pdnn_partners *pdnn_partners_find(const struct pdnn_graph graphs[2], int64_t depth, size_t *count);

#endif
