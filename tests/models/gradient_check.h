/* Compares derived gradients with finite differences, in double. */
#ifndef TESTS_MODELS_GRADIENT_CHECK_H
#define TESTS_MODELS_GRADIENT_CHECK_H

#include "models/graph.h"

/* Compares the results of the graph's backward nodes with central differences of the loss, for each weight
 * along a random direction, in which all its elements move. Fails the test with the weight. */
void check_gradients(const struct pdnn_graph *graph, uint64_t seed);

/* The same with all weights moving together: two runs, for graphs whose ops are checked one by one. */
void check_gradients_at_once(const struct pdnn_graph *graph, uint64_t seed);

#endif
