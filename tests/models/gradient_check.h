/* Compares derived gradients with finite differences, in double. */
#ifndef TESTS_MODELS_GRADIENT_CHECK_H
#define TESTS_MODELS_GRADIENT_CHECK_H

#include "models/graph.h"

/* Central differences of the loss over the elements of every weight (of a large one, some spread over it),
 * against what the graph's backward nodes give. Fails the test with the weight and the element. */
void check_gradients(const struct pdnn_graph *graph, uint64_t seed);

/* The same with about so many elements of every weight, for graphs whose step takes long. */
void check_few_gradients(const struct pdnn_graph *graph, uint64_t seed, int64_t elements);

#endif
