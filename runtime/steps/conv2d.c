/* conv2d: only a library does it, in rows of its backend. */
#include "models/op.h"
#include "runtime/steps/steps.h"

const struct pdnn_step_def PDNN_STEP(conv2d) = {.op = &pdnn_op_conv2d};
