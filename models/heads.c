#include "models/heads.h"

#include "models/attributes.h"
#include "models/op.h"

/* `fewer`: heads of the tensor if they are not all. */
static struct pdnn_heads heads_of(const struct pdnn_tensor *tensor, const int64_t *attr, int64_t column,
                                  int64_t fewer) {
    int64_t B = attr[PDNN_MATMUL_SEQUENCES], d = attr[PDNN_MATMUL_WIDTH];
    int64_t h = fewer ? fewer : attr[PDNN_MATMUL_HEADS];
    const int64_t *dim = tensor->dim;
    if (tensor->rank == 2)
        return (struct pdnn_heads){.heads = h,
                                   .rows = dim[0] / B,
                                   .columns = d,
                                   .offset = column,
                                   .sequence_stride = dim[0] / B * dim[1],
                                   .head_stride = d,
                                   .row_stride = dim[1]};
    return (struct pdnn_heads){.heads = h,
                               .rows = dim[1],
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
        .a = heads_of(pdnn_node_in(graph, node, 0), attr, attr[PDNN_MATMUL_A_COLUMN], 0),
        .b = heads_of(pdnn_node_in(graph, node, 1), attr, attr[PDNN_MATMUL_B_COLUMN],
                      attr[PDNN_MATMUL_B_HEADS]),
        .y = heads_of(pdnn_node_out(graph, node, 0), attr, attr[PDNN_MATMUL_Y_COLUMN],
                      attr[PDNN_MATMUL_Y_HEADS]),
        .window = attr[PDNN_MATMUL_WINDOW],
        .y_is_scores = pdnn_node_out(graph, node, 0)->rank == 3,
    };
    p.a.transposed = attr[PDNN_MATMUL_TRANSPOSE_A] != 0;
    p.b.transposed = attr[PDNN_MATMUL_TRANSPOSE_B] != 0;
    p.M = p.y.rows;
    p.N = p.y.columns;
    p.K = p.a.transposed ? p.a.rows : p.a.columns;
    return p;
}

int64_t pdnn_heads_elements(const struct pdnn_heads_product *product, const struct pdnn_heads *heads) {
    return product->B * heads->heads * heads->rows * heads->columns;
}

/* The sum of max(0, i + 1 + more) over rows i < n. */
static int64_t triangle(int64_t n, int64_t more) {
    int64_t rows = n + more < n ? n + more : n;
    if (more >= 0)
        return n * more + n * (n + 1) / 2;
    return rows > 0 ? rows * (rows + 1) / 2 : 0;
}

int64_t pdnn_heads_seen(const struct pdnn_heads_product *product, const struct pdnn_heads *scores) {
    int64_t n = scores->rows, m = scores->columns;
    if (!product->window)
        return n * m;
    return triangle(n, m - n) - triangle(n, m - n - product->window);
}
