/* What an open `onednn` backend keeps between compilations. */
#ifndef RUNTIME_BACKENDS_ONEDNN_STATE_H
#define RUNTIME_BACKENDS_ONEDNN_STATE_H

#include "runtime/backend/tune.h"
#include "runtime/lowering/options.h"
#include "runtime/backends/onednn/dense/costs.h"
#include "runtime/backends/onednn/matmul/implementations.h"
#include "runtime/backends/onednn/library/library.h"

struct pdnn_onednn {
    struct pdnn_onednn_library *library;
    struct pdnn_step_options options;
    struct pdnn_tune tune;
    /* Of the current compilation, as in struct pdnn_program: */
    uint64_t trial_bytes;
    bool is_untried;
    /* For tests: used for every shape instead of measuring; NULL: measure. */
    const struct pdnn_onednn_dense_choice *forced_dense;
    const enum pdnn_onednn_matmul_way *forced_matmul;
};

#endif
