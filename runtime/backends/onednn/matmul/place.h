/* Layouts of the operands of a batched product: as the heads of a plain tensor are, by strides. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_PLACE_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_PLACE_H

#include "models/heads.h"
#include "runtime/backends/onednn/library/layout.h"

/* The layout of one operand, as (B, h, rows, columns) or, where it is read transposed, (B, h, columns, rows).
 */
enum pdnn_status pdnn_onednn_matmul_layout(const struct pdnn_heads_product *product,
                                           const struct pdnn_heads *heads, enum pdnn_dtype dtype,
                                           struct pdnn_onednn_layout **layout, struct pdnn_err *err);

#endif
