/* Runs a graph on the ops' own reference kernels, in double, for tests. */
#ifndef TESTS_MODELS_REFERENCE_RUN_H
#define TESTS_MODELS_REFERENCE_RUN_H

#include "models/op.h"

/* One array per tensor, zeroed; free with reference_values_free. */
double **reference_values(const struct pdnn_graph *graph);
void reference_values_free(const struct pdnn_graph *graph, double **values);

/* Fills every tensor that no node computes: uniform values, class ids, constants. */
void reference_fill(const struct pdnn_graph *graph, double **values, uint64_t seed);

/* Runs nodes [first, last) with their posts; returns the FLOP that the kernels counted. */
uint64_t reference_run(const struct pdnn_graph *graph, double **values, size_t first, size_t last);

#endif
