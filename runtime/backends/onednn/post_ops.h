/* The ops that oneDNN can fuse into a primitive as post-ops. */
#ifndef RUNTIME_BACKENDS_ONEDNN_POST_OPS_H
#define RUNTIME_BACKENDS_ONEDNN_POST_OPS_H

#include "runtime/backends/onednn/library/primitive.h"

/* False if the op is not a function that oneDNN knows. */
bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, enum pdnn_onednn_post_op *function);

/* The op's name, or "sum". */
const char *pdnn_onednn_post_op_name(enum pdnn_onednn_post_op post_op);

/* Fails with PDNN_UNSUPPORTED: the node's i-th post cannot be fused. */
enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err);

#endif
