/* conv_transpose2d has no kernel of our own: only a library runs it, through its backend's rows. */
#include "models/op.h"
#include "runtime/lowering/calls.h"

const struct pdnn_lowering pdnn_lowering_conv_transpose2d = {.op = &pdnn_op_conv_transpose2d};
