/* What an open backend `onednn` keeps from one compilation to the next. */
#ifndef RUNTIME_BACKENDS_ONEDNN_STATE_H
#define RUNTIME_BACKENDS_ONEDNN_STATE_H

#include "runtime/core/backend.h"
#include "runtime/steps/options.h"
#include "runtime/backends/onednn/dense/tune.h"
#include "runtime/backends/onednn/matmul/tune.h"
#include "runtime/backends/onednn/rnn/tune.h"
#include "runtime/backends/onednn/library/library.h"

struct pdnn_onednn {
    struct pdnn_onednn_library *library;
    struct pdnn_step_options own;
    struct pdnn_onednn_dense_choices choices;
    struct pdnn_recurrences recurrences;
    struct pdnn_onednn_matmul_choices heads;
};

#endif
