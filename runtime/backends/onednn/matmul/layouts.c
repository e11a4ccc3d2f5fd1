#include "runtime/backends/onednn/matmul/layouts.h"

enum { RANK = 4 }; /* (B, h, rows, columns) */

enum pdnn_status pdnn_onednn_matmul_layout(const struct pdnn_heads_product *product,
                                           const struct pdnn_heads *heads, enum pdnn_dtype dtype,
                                           struct pdnn_onednn_layout **layout, struct pdnn_err *err) {
    int64_t dim[RANK] = {product->B, product->h, heads->rows, heads->columns};
    int64_t stride[RANK] = {heads->sequence_stride, heads->head_stride, heads->row_stride, 1};
    if (heads->transposed) {
        dim[2] = heads->columns;
        dim[3] = heads->rows;
        stride[2] = 1;
        stride[3] = heads->row_stride;
    }
    return pdnn_onednn_layout_strided(dtype, RANK, dim, stride, layout, err);
}
