/* A graph with a single recurrent layer and all passes of its step, to be measured. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_LAYER_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_LAYER_H

#include "runtime/backends/onednn/rnn/implementations.h"

/* Builds into an initialised graph; the graph's status says whether that succeeded. */
void pdnn_onednn_rnn_build_layer(const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence way,
                                 struct pdnn_graph *graph);

#endif
