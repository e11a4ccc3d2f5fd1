/* An instance's network for other runtimes: the forward graph of inference, f32, node by node as the ops'
 * forms say. */
#ifndef MODELS_ONNX_NETWORK_H
#define MODELS_ONNX_NETWORK_H

#include "models/instance.h"
#include "models/onnx/nodes.h"

enum { PDNN_EXPORT_OPSET = 17 };

/* Builds the graph of the instance's model and what it is in ONNX, with a name for each value. Of the run
 * settings, only the dtype counts. What is made is in the arena. PDNN_UNSUPPORTED, with each op that has no
 * form, how many nodes of it there are, and the first; or if the dtype is not f32. */
enum pdnn_status pdnn_export_build(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                   struct pdnn_export **onnx, struct pdnn_err *err);

/* "hidden1.dense.0": the layer and op that a node is a part of, and its number, since runtimes want each name
 * once. Returns buffer. */
enum { PDNN_EXPORT_NAME = 128 };
const char *pdnn_export_node_name(const struct pdnn_export *onnx, size_t node, char buffer[PDNN_EXPORT_NAME]);

#endif
