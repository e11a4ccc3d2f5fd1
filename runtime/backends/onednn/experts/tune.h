/* Finds by measuring which way is fastest for the products of experts in f32: the ways of a batched product
 * (matmul/tune.h), on some experts of as many rows as the mean. */
#ifndef RUNTIME_BACKENDS_ONEDNN_EXPERTS_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_EXPERTS_TUNE_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/matmul/implementations.h"

/* The library's matmul, unless something takes 10 % less time. */
enum pdnn_status pdnn_onednn_experts_choose(const struct pdnn_onednn_compile *compile,
                                            const struct pdnn_node *node, enum pdnn_onednn_matmul_way *way,
                                            struct pdnn_err *err);

#endif
