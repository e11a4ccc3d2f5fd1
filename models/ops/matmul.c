/* matmul: y = op(a) op(b) for each of B sequences and h heads, where op optionally transposes; M N K as
 * in (M, K) times (K, N). A tensor (B*rows, ld) is viewed as heads: the heads of a sequence share its
 * rows, and head i has the d columns from `column` + i*d on. A tensor (B*h, rows, columns) has one matrix
 * per head. Attention thus needs no copies to split and merge heads: scores = q k^T is (B*h, n, m),
 * context = p v is (B*n, h*d).
 * da = dy op(b)^T and db = op(a)^T dy, or their transposes if the operand is transposed: the same op with
 * other attributes, one node per gradient. If several operands are columns of one tensor (query, key and
 * value side by side), each node writes its own columns of that tensor's gradient. Every node but the first
 * takes the gradient written so far as a third input, which its output continues.
 * FLOP: 2 M N K per sequence and head. Bytes: only the columns used. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/heads.h"
#include "models/op.h"

#include <string.h>

/* Whether the tensor can hold such matrices from the column on. */
static bool is_operand(const struct pdnn_tensor *tensor, const int64_t *attr, int64_t column) {
    int64_t sequences = attr[PDNN_MATMUL_SEQUENCES], heads = attr[PDNN_MATMUL_HEADS];
    int64_t d = attr[PDNN_MATMUL_WIDTH];
    if (tensor->rank == 2)
        return tensor->dim[0] % sequences == 0 && d >= 1 && column >= 0 &&
               column + heads * d <= tensor->dim[1];
    return tensor->rank == 3 && tensor->dim[0] == sequences * heads;
}

/* Rows or columns of one matrix after op. */
static int64_t extent(const struct pdnn_tensor *tensor, const int64_t *attr, bool transposed, bool of_rows) {
    if (tensor->rank == 3)
        return tensor->dim[of_rows == transposed ? 2 : 1];
    return of_rows == transposed ? attr[PDNN_MATMUL_WIDTH] : tensor->dim[0] / attr[PDNN_MATMUL_SEQUENCES];
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const int64_t *attr = node->attr;
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, PDNN_MATMUL_A),
                             *b = pdnn_node_in(graph, node, PDNN_MATMUL_B);
    int64_t sequences = attr[PDNN_MATMUL_SEQUENCES], heads = attr[PDNN_MATMUL_HEADS];
    int64_t d = attr[PDNN_MATMUL_WIDTH], y_width = attr[PDNN_MATMUL_Y_WIDTH];
    bool fits = node->n_inputs == PDNN_MATMUL_INPUTS && sequences >= 1 && heads >= 1 &&
                a->dtype == b->dtype && is_operand(a, attr, attr[PDNN_MATMUL_A_COLUMN]) &&
                is_operand(b, attr, attr[PDNN_MATMUL_B_COLUMN]);
    bool a_transposed = attr[PDNN_MATMUL_TRANSPOSE_A] != 0, b_transposed = attr[PDNN_MATMUL_TRANSPOSE_B] != 0;
    fits = fits && extent(a, attr, a_transposed, false) == extent(b, attr, b_transposed, true);
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "matmul: expected matrices (M, K) and (K, N) of each sequence and head");
    int64_t M = extent(a, attr, a_transposed, true), N = extent(b, attr, b_transposed, false);
    if (!y_width) {
        outputs[0].rank = 3;
        memcpy(outputs[0].dim, (int64_t[]){sequences * heads, M, N}, 3 * sizeof M);
        return PDNN_OK;
    }
    if (N != d || y_width != heads * d || attr[PDNN_MATMUL_Y_COLUMN])
        return pdnn_fail(err, PDNN_INVALID, "matmul: the heads of a result are all of its columns");
    outputs[0].rank = 2;
    memcpy(outputs[0].dim, (int64_t[]){sequences * M, y_width}, 2 * sizeof M);
    return PDNN_OK;
}

/* Whether the operand uses only some of its tensor's columns. */
static bool is_part(const struct pdnn_tensor *tensor, const int64_t *attr) {
    return tensor->rank == 2 && attr[PDNN_MATMUL_HEADS] * attr[PDNN_MATMUL_WIDTH] < tensor->dim[1];
}

/* Whether the products that read the tensor use disjoint columns that cover it. Otherwise its gradient is not
 * the columns that they write side by side. */
static bool is_divided(const struct pdnn_backward *backward, uint32_t tensor, int64_t column, int64_t width) {
    const struct pdnn_graph *graph = pdnn_backward_graph(backward);
    const struct pdnn_readers readers = pdnn_backward_readers(backward, tensor);
    int64_t total = 0, overlapping = 0;
    for (uint32_t i = readers.first; i < readers.end; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const int64_t *attr = node->attr;
        int64_t used = attr[PDNN_MATMUL_HEADS] * attr[PDNN_MATMUL_WIDTH];
        for (int k = 0; k < node->n_inputs; k++) {
            if (node->input[k] != readers.tensor)
                continue;
            if (node->op != &pdnn_op_matmul)
                return false;
            int64_t first = attr[PDNN_MATMUL_A_COLUMN + k];
            overlapping += first < column + width && column < first + used;
            total += used;
        }
    }
    return overlapping == 1 && total == graph->tensors[tensor].dim[1];
}

/* Emits the gradient of input k. */
static void emit(struct pdnn_backward *backward, const struct pdnn_node *node, int k, uint32_t dy) {
    const struct pdnn_graph *graph = pdnn_backward_graph(backward);
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, k);
    const int64_t *attr = node->attr;
    struct pdnn_node turned = *node;
    uint32_t inputs[PDNN_MATMUL_INPUTS + 2] = {[PDNN_MATMUL_REST] = PDNN_NONE,
                                               [PDNN_MATMUL_REST + 1] = PDNN_NONE},
                                         target = node->input[k];
    bool transposed = attr[PDNN_MATMUL_TRANSPOSE_A + k] != 0;
    bool other_transposed = attr[PDNN_MATMUL_TRANSPOSE_A + !k] != 0;
    int at = k == (int)transposed ? PDNN_MATMUL_A : PDNN_MATMUL_B; /* index of dy */
    inputs[at] = dy;
    inputs[!at] = node->input[!k];
    turned.attr[PDNN_MATMUL_A_COLUMN + at] = attr[PDNN_MATMUL_Y_COLUMN];
    turned.attr[PDNN_MATMUL_A_COLUMN + !at] = attr[PDNN_MATMUL_A_COLUMN + !k];
    turned.attr[PDNN_MATMUL_Y_COLUMN] = attr[PDNN_MATMUL_A_COLUMN + k];
    turned.attr[PDNN_MATMUL_TRANSPOSE_A + at] = transposed;
    turned.attr[PDNN_MATMUL_TRANSPOSE_A + !at] = other_transposed == transposed;
    turned.attr[PDNN_MATMUL_Y_WIDTH] = x->rank == 2 ? x->dim[1] : 0;
    if (!is_part(x, attr)) {
        pdnn_backward_emit(backward, &turned, PDNN_BACKWARD_DATA, target, inputs);
        return;
    }
    if (!is_divided(backward, target, attr[PDNN_MATMUL_A_COLUMN + k],
                    attr[PDNN_MATMUL_HEADS] * attr[PDNN_MATMUL_WIDTH])) {
        pdnn_backward_refuse(backward,
                             "matmul: a tensor has a gradient only if the products that read it split "
                             "its columns among them");
        return;
    }
    inputs[PDNN_MATMUL_REST] = pdnn_backward_of(backward, target);
    pdnn_backward_continue(backward, &turned, PDNN_BACKWARD_DATA, target, inputs);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    for (int k = PDNN_MATMUL_A; k <= PDNN_MATMUL_B; k++) {
        if (pdnn_backward_wants(backward, node->input[k]))
            emit(backward, node, k, dy);
    }
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    struct pdnn_heads_product p = pdnn_heads_product_of(graph, node);
    pdnn_count_add(count, 2 * p.B * p.h * p.M, p.N, p.K);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct pdnn_heads_product p = pdnn_heads_product_of(graph, node);
    uint64_t element = pdnn_dtype_bytes(pdnn_node_in(graph, node, PDNN_MATMUL_A)->dtype);
    bytes[PDNN_MATMUL_A] = (uint64_t)pdnn_heads_elements(&p, &p.a) * element;
    bytes[PDNN_MATMUL_B] = (uint64_t)pdnn_heads_elements(&p, &p.b) * element;
    bytes[PDNN_MATMUL_REST] = 0; /* it stays in place; without it this is the output, set below */
    bytes[node->n_inputs] = (uint64_t)pdnn_heads_elements(&p, &p.y) * element;
}

static double at(const double *x, const struct pdnn_heads *heads, int64_t r, int64_t c) {
    return heads->transposed ? x[c * heads->row_stride + r] : x[r * heads->row_stride + c];
}

static void multiply(struct pdnn_reference *r, const struct pdnn_heads_product *p, int64_t sequence,
                     int64_t head) {
    const double *a = pdnn_ref_in(r, PDNN_MATMUL_A) + p->a.offset + sequence * p->a.sequence_stride +
                      head * p->a.head_stride;
    const double *b = pdnn_ref_in(r, PDNN_MATMUL_B) + p->b.offset + sequence * p->b.sequence_stride +
                      head * p->b.head_stride;
    double *y = pdnn_ref_out(r, 0) + p->y.offset + sequence * p->y.sequence_stride + head * p->y.head_stride;
    for (int64_t i = 0; i < p->M * p->N; i++) {
        int64_t m = i / p->N, n = i % p->N;
        double sum = 0;
        for (int64_t k = 0; k < p->K; k++) {
            sum += at(a, &p->a, m, k) * at(b, &p->b, k, n);
            r->flop += 2;
        }
        y[m * p->y.row_stride + n] = sum;
    }
}

static void reference(struct pdnn_reference *r) {
    struct pdnn_heads_product p = pdnn_heads_product_of(r->graph, r->node);
    double *y = pdnn_ref_out(r, 0);
    if (r->node->n_inputs > PDNN_MATMUL_REST && pdnn_ref_in(r, PDNN_MATMUL_REST) != y)
        memcpy(y, pdnn_ref_in(r, PDNN_MATMUL_REST),
               (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0)) * sizeof *y);
    for (int64_t i = 0; i < p.B * p.h; i++)
        multiply(r, &p, i / p.h, i % p.h);
}

const struct pdnn_op_def pdnn_op_matmul = {
    .name = "matmul",
    .category = "attention gemm",
    .formula = "y = op(a) op(b) of each head",
    .attr_names = {[PDNN_MATMUL_SEQUENCES] = "sequences",
                   [PDNN_MATMUL_HEADS] = "heads",
                   [PDNN_MATMUL_WIDTH] = "width",
                   [PDNN_MATMUL_A_COLUMN] = "a_column",
                   [PDNN_MATMUL_B_COLUMN] = "b_column",
                   [PDNN_MATMUL_Y_COLUMN] = "y_column",
                   [PDNN_MATMUL_TRANSPOSE_A] = "transpose_a",
                   [PDNN_MATMUL_TRANSPOSE_B] = "transpose_b",
                   [PDNN_MATMUL_Y_WIDTH] = "y_width"},
    .n_outputs = 1,
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = reference, .bytes = bytes},
             [PDNN_BACKWARD_DATA] =
                 {.flop = flop, .reference = reference, .bytes = bytes, .in_place = PDNN_MATMUL_REST + 1}},
    .tolerance = 1e-6,
};
