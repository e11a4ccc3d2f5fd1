/* Seeded data of what no op of a graph computes: inputs, labels, weights, state. */
#ifndef RUNTIME_PLAN_FILL_H
#define RUNTIME_PLAN_FILL_H

#include "models/example_lengths.h"
#include "models/graph.h"

/* Where the data come from. */
struct pdnn_fill_source {
    uint64_t seed;
    const struct pdnn_example_lengths *lengths; /* NULL: drawn as well */
    bool on_one_thread;                         /* the calling one; else the OpenMP team may help */
    /* Of several ranks, each has examples of its own: where they are the outermost dimension, those that
     * follow the ones of the rank before in the minibatch of all ranks together. */
    int64_t rank;
};

/* Generates the content of a tensor that no op computes, as a plain array of its dtype. The same for every
 * backend. */
void pdnn_fill_tensor(const struct pdnn_graph *graph, uint32_t tensor, const struct pdnn_fill_source *source,
                      void *plain);

#endif
