/* Compares derived gradients with finite differences, in double. */
#ifndef TESTS_MODELS_GRADIENT_CHECK_H
#define TESTS_MODELS_GRADIENT_CHECK_H

#include "models/graph.h"

/* Compares the results of the graph's backward nodes with central differences of the loss,
 * over the elements of every weight (an evenly spread sample of a large one). Fails the test
 * with the weight and the element. */
void check_gradients(const struct pdnn_graph *graph, uint64_t seed);

/* The same with about `elements` elements of every weight, for graphs with slow steps. */
void check_few_gradients(const struct pdnn_graph *graph, uint64_t seed, int64_t elements);

#endif
