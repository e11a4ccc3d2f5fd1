/* The backend `onednn`: dense and convolution passes, products of heads and recurrent layers run as oneDNN
 * primitives if that is fastest, the rest on our own kernels. What it keeps between compilations while open.
 */
#ifndef RUNTIME_BACKENDS_ONEDNN_STATE_H
#define RUNTIME_BACKENDS_ONEDNN_STATE_H

#include "runtime/backend/backend.h"
#include "runtime/backend/tune.h"
#include "runtime/backends/onednn/dense/costs.h"
#include "runtime/backends/onednn/matmul/implementations.h"
#include "runtime/backends/onednn/library/layout.h"
#include "runtime/backends/onednn/library/library.h"

extern const struct pdnn_backend_def pdnn_backend_onednn;

/* How convolutions run that one of our kernels could, and where all images lie. */
struct pdnn_onednn_conv2d_choice {
    bool is_own; /* our kernel, where it can */
    enum pdnn_onednn_order order;
    bool keeps_weights; /* of Winograd's algorithm: transformed once */
    bool is_data_plain; /* what the step is given lies row-major, as where only convolutions read it */
};

struct pdnn_onednn {
    struct pdnn_onednn_library *library;
    struct pdnn_call_options options;
    struct pdnn_tune tune;
    uint64_t trial_bytes; /* of the current compilation, as in struct pdnn_program */
    bool is_trial;        /* the compilation is of a candidate */
    /* Used for every shape instead of measuring: by tests, and for a candidate. NULL: measure. */
    const struct pdnn_onednn_dense_choice *forced_dense;
    const enum pdnn_onednn_matmul_way *forced_matmul;
    const struct pdnn_onednn_conv2d_choice *forced_conv2d;
};

#endif
