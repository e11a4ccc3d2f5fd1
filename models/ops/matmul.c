/* matmul: y = op(a) op(b) for each of B sequences and h heads, where op optionally transposes; M N K as
 * in (M, K) times (K, N). A tensor (B*rows, ld) is viewed as heads: the heads of a sequence share its
 * rows, and head i has the d columns from `column` + i*d on. A tensor (B*h, rows, columns) has one matrix
 * per head. Attention thus needs no copies to split and merge heads: scores = q k^T is (B*h, n, m),
 * context = p v is (B*n, h*d).
 * da = dy op(b)^T and db = op(a)^T dy, or their transposes if the operand is transposed: the same op with
 * other attributes, one node per gradient. If several operands are columns of one tensor (query, key and
 * value side by side), each node writes its own columns of that tensor's gradient. Every node but the first
 * takes the gradient written so far as a third input, which its output continues.
 * b may have fewer heads: head i reads matrix i * b_heads / heads of b (grouped queries), which is not
 * copied, and db is the sum over the heads that read it. With a window, y or a is scores (B*h, n, m), all
 * else has heads side by side, and query i sees the keys from i + 1 + m - n - window to i + m - n: as many as
 * a window of its own place; m make it causal. What is not seen is not computed: it is 0 in y and not read in
 * a. FLOP: 2 M N K per sequence and head, or 2 d for each of the scores seen. Bytes: only the columns used,
 * of scores that are read what is seen. */
#include "base/memory.h"
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/heads.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

/* The heads of input k. */
static int64_t heads_of(const int64_t *attr, int k) {
    return k == PDNN_MATMUL_B && attr[PDNN_MATMUL_B_HEADS] ? attr[PDNN_MATMUL_B_HEADS]
                                                           : attr[PDNN_MATMUL_HEADS];
}

/* Whether the tensor can hold the matrices of input k. */
static bool is_operand(const struct pdnn_tensor *tensor, const int64_t *attr, int k) {
    int64_t sequences = attr[PDNN_MATMUL_SEQUENCES], heads = heads_of(attr, k);
    int64_t d = attr[PDNN_MATMUL_WIDTH], column = attr[PDNN_MATMUL_A_COLUMN + k];
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

/* With a window, scores are either the result or a, and everything else has heads side by side. */
static bool fits_window(const struct pdnn_tensor *a, const struct pdnn_tensor *b, const int64_t *attr) {
    bool makes_scores = a->rank == 2 && !attr[PDNN_MATMUL_Y_WIDTH];
    bool reads_scores = a->rank == 3 && attr[PDNN_MATMUL_Y_WIDTH] && !attr[PDNN_MATMUL_TRANSPOSE_A];
    return attr[PDNN_MATMUL_WINDOW] >= 0 && b->rank == 2 && !attr[PDNN_MATMUL_TRANSPOSE_A] &&
           (makes_scores || reads_scores);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const int64_t *attr = node->attr;
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, PDNN_MATMUL_A),
                             *b = pdnn_node_in(graph, node, PDNN_MATMUL_B);
    int64_t sequences = attr[PDNN_MATMUL_SEQUENCES], heads = attr[PDNN_MATMUL_HEADS];
    int64_t d = attr[PDNN_MATMUL_WIDTH], y_width = attr[PDNN_MATMUL_Y_WIDTH];
    int64_t b_heads = attr[PDNN_MATMUL_B_HEADS];
    if (b_heads && (b_heads < 0 || heads % b_heads || attr[PDNN_MATMUL_TRANSPOSE_A]))
        return pdnn_fail(err, PDNN_INVALID,
                         "matmul: heads=%" PRId64 " are not a multiple of b_heads=%" PRId64
                         ", or a is transposed",
                         heads, b_heads);
    bool fits = node->n_inputs == PDNN_MATMUL_INPUTS && sequences >= 1 && heads >= 1 &&
                a->dtype == b->dtype && is_operand(a, attr, PDNN_MATMUL_A) &&
                is_operand(b, attr, PDNN_MATMUL_B);
    bool a_transposed = attr[PDNN_MATMUL_TRANSPOSE_A] != 0, b_transposed = attr[PDNN_MATMUL_TRANSPOSE_B] != 0;
    int64_t of_a = fits ? extent(a, attr, a_transposed, false) : 0,
            of_b = fits ? extent(b, attr, b_transposed, true) : 0;
    if (fits && of_a != of_b)
        return pdnn_fail(err, PDNN_INVALID, "matmul: the inner sizes are %" PRId64 " and %" PRId64, of_a,
                         of_b);
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "matmul: expected matrices (M, K) and (K, N) of each sequence and head");
    if (attr[PDNN_MATMUL_WINDOW] && !fits_window(a, b, attr))
        return pdnn_fail(err, PDNN_INVALID,
                         "matmul: window=%" PRId64 " is for scores of, or times, heads side by side",
                         attr[PDNN_MATMUL_WINDOW]);
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

/* Whether input k uses only some of its tensor's columns. */
static bool is_part(const struct pdnn_tensor *tensor, const int64_t *attr, int k) {
    return tensor->rank == 2 && heads_of(attr, k) * attr[PDNN_MATMUL_WIDTH] < tensor->dim[1];
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
        for (int k = 0; k < node->n_inputs; k++) {
            if (node->input[k] != readers.tensor)
                continue;
            if (node->op != &pdnn_op_matmul)
                return false;
            int64_t used = heads_of(attr, k) * attr[PDNN_MATMUL_WIDTH];
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
    turned.attr[PDNN_MATMUL_Y_HEADS] = k == PDNN_MATMUL_B ? attr[PDNN_MATMUL_B_HEADS] : 0;
    turned.attr[PDNN_MATMUL_B_HEADS] = k == PDNN_MATMUL_B ? 0 : attr[PDNN_MATMUL_B_HEADS];
    if (!is_part(x, attr, k)) {
        pdnn_backward_emit(backward, &turned, PDNN_BACKWARD_DATA, target, inputs);
        return;
    }
    if (!is_divided(backward, target, attr[PDNN_MATMUL_A_COLUMN + k],
                    heads_of(attr, k) * attr[PDNN_MATMUL_WIDTH])) {
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
    if (!p.window)
        pdnn_count_add(count, 2 * p.B * p.h * p.M, p.N, p.K);
    else if (p.y_is_scores)
        pdnn_count_add(count, 2 * p.B * p.h, pdnn_heads_seen(&p, &p.y), p.K);
    else
        pdnn_count_add(count, 2 * p.B * p.h, pdnn_heads_seen(&p, &p.a), p.N);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct pdnn_heads_product p = pdnn_heads_product_of(graph, node);
    uint64_t element = pdnn_dtype_bytes(pdnn_node_in(graph, node, PDNN_MATMUL_A)->dtype);
    bytes[PDNN_MATMUL_A] = (uint64_t)pdnn_heads_elements(&p, &p.a) * element;
    if (p.window && !p.y_is_scores)
        bytes[PDNN_MATMUL_A] = (uint64_t)(p.B * p.h * pdnn_heads_seen(&p, &p.a)) * element;
    bytes[PDNN_MATMUL_B] = (uint64_t)pdnn_heads_elements(&p, &p.b) * element;
    bytes[PDNN_MATMUL_REST] = 0; /* it stays in place; without it this is the output, set below */
    bytes[node->n_inputs] = (uint64_t)pdnn_heads_elements(&p, &p.y) * element;
}

static double at(const double *x, const struct pdnn_heads *heads, int64_t r, int64_t c) {
    return heads->transposed ? x[c * heads->row_stride + r] : x[r * heads->row_stride + c];
}

/* Whether element (r, c) of the stored scores is seen. */
static bool is_seen(const struct pdnn_heads_product *p, const struct pdnn_heads *scores, int64_t r,
                    int64_t c) {
    int64_t begin, end;
    pdnn_heads_window(scores->rows, scores->columns, p->window, r, &begin, &end);
    return c >= begin && c < end;
}

/* Whether the term k of element (m, n) is computed. */
static bool is_term(const struct pdnn_heads_product *p, int64_t m, int64_t n, int64_t k) {
    if (!p->window)
        return true;
    if (p->y_is_scores)
        return is_seen(p, &p->y, m, n);
    return p->a.transposed ? is_seen(p, &p->a, k, m) : is_seen(p, &p->a, m, k);
}

/* Adds one head's product. */
static void multiply(struct pdnn_reference *r, const struct pdnn_heads_product *p, int64_t sequence,
                     int64_t head) {
    const double *a = pdnn_ref_in(r, PDNN_MATMUL_A) + pdnn_heads_at(p, &p->a, sequence, head);
    const double *b = pdnn_ref_in(r, PDNN_MATMUL_B) + pdnn_heads_at(p, &p->b, sequence, head);
    double *y = pdnn_ref_out(r, 0) + pdnn_heads_at(p, &p->y, sequence, head);
    bool is_first = head % (p->h / p->y.heads) == 0;
    for (int64_t i = 0; i < p->M * p->N; i++) {
        int64_t m = i / p->N, n = i % p->N;
        double sum = is_first ? 0 : y[m * p->y.row_stride + n];
        for (int64_t k = 0; k < p->K; k++) {
            if (!is_term(p, m, n, k))
                continue;
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

/* The matrices of input k as (B, h, rows, columns), transposed where the product wants it: last, which
 * runtimes leave to the product. */
static uint32_t matrices(struct pdnn_export *onnx, int k) {
    const struct pdnn_tensor *shape = pdnn_export_shape_in(onnx, k);
    const int64_t *attr = onnx->at->attr, B = attr[PDNN_MATMUL_SEQUENCES], heads = heads_of(attr, k),
                  h = attr[PDNN_MATMUL_HEADS], rows = shape->rank == 3 ? shape->dim[1] : shape->dim[0] / B,
                  columns = shape->rank == 3 ? shape->dim[2] : attr[PDNN_MATMUL_WIDTH];
    uint32_t x;
    if (shape->rank == 3) {
        x = pdnn_export_scores_in(onnx, k, B);
    } else {
        x = pdnn_export_in(onnx, k);
        if (is_part(shape, attr, k))
            x = pdnn_export_slice(onnx, x, 1, attr[PDNN_MATMUL_A_COLUMN + k], heads * columns);
        x = pdnn_export_reshape(onnx, x, 4, (int64_t[]){B, rows, heads, columns});
        x = pdnn_export_transpose(onnx, x, 4, (int64_t[]){0, 2, 1, 3});
    }
    if (heads < h) { /* those that heads share are repeated, as in PyTorch */
        x = pdnn_export_reshape(onnx, x, 5, (int64_t[]){B, heads, 1, rows, columns});
        x = pdnn_export_op2(onnx, "Expand", x,
                            pdnn_export_wholes(onnx, 5, (int64_t[]){B, heads, h / heads, rows, columns}));
        x = pdnn_export_reshape(onnx, x, 4, (int64_t[]){B, h, rows, columns});
    }
    return attr[PDNN_MATMUL_TRANSPOSE_A + k] ? pdnn_export_transpose(onnx, x, 4, (int64_t[]){0, 1, 3, 2}) : x;
}

/* 1 where a query sees a key of its window, else 0. */
static uint32_t seen(struct pdnn_export *onnx, int64_t n, int64_t m) {
    const int64_t end = m - n + 1;
    const uint32_t kept = pdnn_export_kept(onnx, 0);
    return kept != PDNN_NONE
               ? kept
               : pdnn_export_keep(
                     onnx, 0, pdnn_export_band(onnx, n, m, end - onnx->at->attr[PDNN_MATMUL_WINDOW], end, 1));
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_heads_product p = pdnn_heads_product_of(onnx->graph, onnx->at);
    uint32_t a = matrices(onnx, PDNN_MATMUL_A);
    if (p.window && !p.y_is_scores)
        a = pdnn_export_op2(onnx, "Mul", a, seen(onnx, p.M, p.K));
    uint32_t y = pdnn_export_op2(onnx, "MatMul", a, matrices(onnx, PDNN_MATMUL_B));
    if (p.window && p.y_is_scores)
        y = pdnn_export_op2(onnx, "Mul", y, seen(onnx, p.M, p.N));
    if (!onnx->at->attr[PDNN_MATMUL_Y_WIDTH])
        return pdnn_export_give_scores(onnx, y, p.B);
    return pdnn_export_as_output(onnx, pdnn_export_transpose(onnx, y, 4, (int64_t[]){0, 2, 1, 3}));
}

const struct pdnn_op_def pdnn_op_matmul = {
    .name = "matmul",
    .category = "attention gemm",
    .formula = "y = op(a) op(b) of each head",
    .operands = {{"a", PDNN_OPERAND_DATA}, {"b", PDNN_OPERAND_DATA}},
    .attributes = {{"sequences", PDNN_MATMUL_SEQUENCES, .required = true},
                   {"heads", PDNN_MATMUL_HEADS, .fallback = "1"},
                   {"width", PDNN_MATMUL_WIDTH, .required = true},
                   {"a_column", PDNN_MATMUL_A_COLUMN},
                   {"b_column", PDNN_MATMUL_B_COLUMN},
                   {"y_column", PDNN_MATMUL_Y_COLUMN, .derived = true},
                   {"transpose_a", PDNN_MATMUL_TRANSPOSE_A},
                   {"transpose_b", PDNN_MATMUL_TRANSPOSE_B},
                   {"y_width", PDNN_MATMUL_Y_WIDTH},
                   {"b_heads", PDNN_MATMUL_B_HEADS},
                   {"y_heads", PDNN_MATMUL_Y_HEADS, .derived = true},
                   {"window", PDNN_MATMUL_WINDOW}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = reference, .bytes = bytes},
             [PDNN_BACKWARD_DATA] =
                 {.flop = flop, .reference = reference, .bytes = bytes, .in_place = PDNN_MATMUL_REST + 1}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
