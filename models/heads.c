#include "models/heads.h"

#include "models/attributes.h"
#include "models/op.h"

static struct pdnn_heads heads_of(const struct pdnn_tensor *tensor, const int64_t *attr, int64_t column) {
    int64_t B = attr[PDNN_MATMUL_SEQUENCES], h = attr[PDNN_MATMUL_HEADS], d = attr[PDNN_MATMUL_WIDTH];
    const int64_t *dim = tensor->dim;
    if (tensor->rank == 2)
        return (struct pdnn_heads){.rows = dim[0] / B,
                                   .columns = d,
                                   .offset = column,
                                   .sequence_stride = dim[0] / B * dim[1],
                                   .head_stride = d,
                                   .row_stride = dim[1]};
    return (struct pdnn_heads){.rows = dim[1],
                               .columns = dim[2],
                               .sequence_stride = h * dim[1] * dim[2],
                               .head_stride = dim[1] * dim[2],
                               .row_stride = dim[2]};
}

struct pdnn_heads_product pdnn_heads_product_of(const struct pdnn_graph *graph,
                                                const struct pdnn_node *node) {
    const int64_t *attr = node->attr;
    struct pdnn_heads_product p = {
        .B = attr[PDNN_MATMUL_SEQUENCES],
        .h = attr[PDNN_MATMUL_HEADS],
        .a = heads_of(pdnn_node_in(graph, node, 0), attr, attr[PDNN_MATMUL_A_COLUMN]),
        .b = heads_of(pdnn_node_in(graph, node, 1), attr, attr[PDNN_MATMUL_B_COLUMN]),
        .y = heads_of(pdnn_node_out(graph, node, 0), attr, attr[PDNN_MATMUL_Y_COLUMN]),
    };
    p.a.transposed = attr[PDNN_MATMUL_TRANSPOSE_A] != 0;
    p.b.transposed = attr[PDNN_MATMUL_TRANSPOSE_B] != 0;
    p.M = p.y.rows;
    p.N = p.y.columns;
    p.K = p.a.transposed ? p.a.rows : p.a.columns;
    return p;
}

int64_t pdnn_heads_elements(const struct pdnn_heads_product *product, const struct pdnn_heads *heads) {
    return product->B * product->h * heads->rows * heads->columns;
}
