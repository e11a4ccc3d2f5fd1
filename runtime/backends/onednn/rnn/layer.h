/* A graph of one recurrent layer alone, with all passes of its step: what is measured. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_LAYER_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_LAYER_H

#include "runtime/backends/onednn/rnn/ways.h"

/* Into an initialised graph, whose status says whether that went well. */
void pdnn_onednn_rnn_build_layer(const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence way,
                                 struct pdnn_graph *graph);

#endif
