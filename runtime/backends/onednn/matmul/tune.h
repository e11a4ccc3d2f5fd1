/* Which way multiplies the matrices of a shape fastest, by measuring. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H

#include "runtime/backends/onednn/matmul/ways.h"
#include "runtime/backends/onednn/state.h"

/* The library's matmul, unless something takes 10 % less; PDNN_UNSUPPORTED when there is no way. */
enum pdnn_status pdnn_onednn_matmul_choose(struct pdnn_onednn *onednn,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way *way, struct pdnn_err *err);

#endif
