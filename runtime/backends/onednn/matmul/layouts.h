/* Layouts for the operands of a batched product: strided views of the heads in a plain tensor. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_LAYOUTS_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_LAYOUTS_H

#include "models/heads.h"
#include "runtime/backends/onednn/library/layout.h"

/* The layout of one operand: (B, h, rows, columns), or (B, h, columns, rows) if it is read transposed. */
enum pdnn_status pdnn_onednn_matmul_layout(const struct pdnn_heads_product *product,
                                           const struct pdnn_heads *heads, enum pdnn_dtype dtype,
                                           struct pdnn_onednn_layout **layout, struct pdnn_err *err);

#endif
