/* What a comparison of a backend with `reference` finds. */
#ifndef RUNTIME_FACTS_CHECK_H
#define RUNTIME_FACTS_CHECK_H

#include "runtime/facts/visit.h"

/* The largest error of one tensor of an instance. */
struct pdnn_check_row {
    char op[PDNN_OP_KEY_TEXT]; /* "dense/backward-weights" and the layer */
    char tensor[64];           /* what it is: "activation 12 (64x1024)" */
    double error; /* largest |difference| over the largest |reference value| of the tensor, or, where that is
                     what is left of terms that cancel, over their size (runtime/worker/rounding.h) */
    double tolerance;
};

#endif
