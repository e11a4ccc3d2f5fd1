/* conv2d runs in a library, through its backend's rows: what kernel of our own there is competes with the
 * library's in that backend. */
#include "models/op.h"
#include "runtime/lowering/calls.h"

const struct pdnn_lowering pdnn_lowering_conv2d = {.op = &pdnn_op_conv2d};
