/* What oneDNN can do to a primitive's result, by the ops that ask for it. */
#ifndef RUNTIME_BACKENDS_ONEDNN_POST_OPS_H
#define RUNTIME_BACKENDS_ONEDNN_POST_OPS_H

#include "runtime/backends/onednn/library/primitive.h"

/* False when the op is not a function that oneDNN knows. */
bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, enum pdnn_onednn_post_op *function);

/* As the op is called, or "sum". */
const char *pdnn_onednn_post_op_name(enum pdnn_onednn_post_op post_op);

/* PDNN_UNSUPPORTED: the node cannot take its i-th post. */
enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err);

#endif
