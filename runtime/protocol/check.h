/* Results of comparing a backend with `reference`. */
#ifndef RUNTIME_PROTOCOL_CHECK_H
#define RUNTIME_PROTOCOL_CHECK_H

#include "runtime/protocol/visit.h"

/* The largest error of one tensor of an instance. */
struct pdnn_check_row {
    char op[PDNN_OP_KEY_TEXT]; /* "dense/backward-weights" and the layer */
    char tensor[64];           /* role, number and shape: "activation 12 (64x1024)" */
    /* largest |difference| relative to the tensor's largest |reference value|, or, where terms cancel,
     * relative to the size of the terms (runtime/worker/rounding.h) */
    double error;
    double tolerance;
};

#endif
