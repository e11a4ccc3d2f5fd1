#include "gen/onnx/step.h"

#include "models/op.h"

#include <string.h>

#define IN(k)  pdnn_trace_in(trace, node, k)
#define OUT(k) pdnn_trace_out(trace, node, k)

/* Rows times a weight (K, N), whose result has this shape. */
static bool dense(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                  const struct pdnn_value_of *data, const struct pdnn_value_of *weight, int rank,
                  const int64_t *dim) {
    const int64_t out = dim[rank - 1], rows = pdnn_strided_elements(data) / data->dim[data->rank - 1];
    const struct pdnn_draft_entry *x = trace->program.entry[data->base];
    /* An image that is flattened is read as it is. */
    const bool is_flat =
        data->factor == 1 && pdnn_strided_is_compact(trace, data) && x->rank >= 2 && x->dim[0] == rows;
    struct pdnn_value_of places;
    int32_t from = data->base;
    if (!is_flat && !pdnn_strided_take_rows(trace, data, &from, &places))
        return false;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "dense", (int32_t[]){from, -1}, 2, (int64_t[]){rows, out});
    pdnn_draft_size(entry, "out", out);
    pdnn_draft_weight(entry, "w", weight->base);
    const int32_t made = trace->program.n_entries - 1;
    return is_flat ? pdnn_strided_of(trace, made, rank, dim, OUT(0))
                   : pdnn_strided_give_rows(trace, &places, made, out, rank, dim, OUT(0));
}

static bool gemm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *a = IN(0), *b = IN(1), *c = IN(2);
    const bool is_transposed = pdnn_trace_int(node, "transB", 0) != 0;
    if (!a || !b || a->kind != PDNN_VALUE_DATA || a->rank != 2 || b->kind != PDNN_VALUE_WEIGHT ||
        b->rank != 2 || pdnn_trace_int(node, "transA", 0) || pdnn_trace_real(node, "alpha", 1) != 1 ||
        pdnn_trace_real(node, "beta", 1) != 1)
        return true;
    const int64_t out = b->dim[is_transposed ? 0 : 1], inner = b->dim[is_transposed ? 1 : 0];
    if (a->dim[1] != inner)
        return pdnn_trace_fail(trace, "the inner sizes are %d and %d", (int)a->dim[1], (int)inner);
    if (!dense(trace, node, a, b, 2, (int64_t[]){a->dim[0], out}) || !c)
        return !c;
    if (c->kind != PDNN_VALUE_WEIGHT || pdnn_strided_elements(c) != out)
        return pdnn_trace_fail(trace, "its bias is no weight of %d values", (int)out);
    const struct pdnn_draft_entry *x = trace->program.entry[OUT(0)->base];
    pdnn_draft_weight(pdnn_draft_add(&trace->program, "bias", (int32_t[]){OUT(0)->base, -1}, 2, x->dim), "b",
                      c->base);
    OUT(0)->base = trace->program.n_entries - 1;
    return true;
}

/* An operand of heads: S sequences of h heads, matrices of rows and columns. */
struct operand {
    int64_t sequences, heads, rows, columns; /* as ONNX has them */
    int64_t sequence_step, head_step, row_step, column_step;
    bool is_beside;     /* heads lie side by side in rows, and entry has these rows, of `width` numbers */
    bool is_transposed; /* in memory */
    int64_t column, width;
    int32_t entry;
};

/* Dimensions from first on as one; false if their strides do not make one. */
static bool merge(const struct pdnn_value_of *value, int first, int end, int64_t *size, int64_t *step) {
    *size = 1;
    *step = 0;
    for (int d = end - 1; d >= first; d--) {
        if (value->dim[d] == 1)
            continue;
        if (*size > 1 && value->stride[d] != *size * *step)
            return false;
        *step = *size > 1 ? *step : value->stride[d];
        *size *= value->dim[d];
    }
    return true;
}

/* The last two dimensions are matrices, n_heads before these are heads, all others sequences. */
static bool read_operand(const struct pdnn_value_of *value, int n_heads, struct operand *operand) {
    const int r = value->rank, at = r - 2 - n_heads;
    *operand = (struct operand){.rows = value->dim[r - 2],
                                .columns = value->dim[r - 1],
                                .row_step = value->stride[r - 2],
                                .column_step = value->stride[r - 1]};
    return merge(value, at, r - 2, &operand->heads, &operand->head_step) &&
           merge(value, 0, at, &operand->sequences, &operand->sequence_step);
}

/* Looks whether heads are columns of rows, where they lie. */
static void find_beside(const struct pdnn_trace *trace, const struct pdnn_value_of *value,
                        struct operand *operand) {
    const bool is_transposed = operand->row_step == 1 && operand->column_step != 1;
    const int64_t width = is_transposed ? operand->rows : operand->columns,
                  step = is_transposed ? operand->column_step : operand->row_step;
    const int64_t rows = is_transposed ? operand->columns : operand->rows,
                  elements = pdnn_draft_elements(trace->program.entry[value->base]);
    if ((is_transposed ? operand->row_step : operand->column_step) != 1 || step < operand->heads * width ||
        value->offset >= step || (operand->heads > 1 && operand->head_step != width) ||
        (operand->sequences > 1 && operand->sequence_step != rows * step) ||
        operand->sequences * rows * step != elements)
        return;
    operand->is_beside = true;
    operand->is_transposed = is_transposed;
    operand->column = value->offset;
    operand->width = width;
}

/* The rows in which these columns are as in an entry of rows, and as many others as may be have been turned
 * or normalized: so those of queries, keys and values side by side stay together. */
static int32_t turned_rows(const struct pdnn_trace *trace, int32_t entry, int64_t first, int64_t end) {
    for (int32_t i = entry + 1; i < trace->program.n_entries; i++) {
        const struct pdnn_draft_entry *other = trace->program.entry[i];
        const bool is_norm = other->op == pdnn_op_rmsnorm.name && pdnn_draft_find(other, "heads");
        if ((other->op != pdnn_op_rope.name && !is_norm) || other->from[0] != entry)
            continue;
        const int64_t column = pdnn_draft_find(other, "column")->size,
                      columns = pdnn_draft_find(other, "heads")->size * pdnn_draft_find(other, "width")->size;
        if (end <= column || first >= column + columns)
            entry = i;
    }
    return entry;
}

/* The entry of an operand: rows with heads side by side, or matrices (S h, rows, columns), which may be
 * transposed ones. */
static bool find_entry(struct pdnn_trace *trace, const struct pdnn_value_of *value, bool may_turn,
                       struct operand *operand) {
    const int64_t matrices = operand->sequences * operand->heads;
    if (operand->is_beside) {
        const int64_t rows = operand->sequences * (operand->is_transposed ? operand->columns : operand->rows);
        const int64_t all = pdnn_draft_elements(trace->program.entry[value->base]);
        struct pdnn_value_of whole;
        if (!pdnn_strided_of(trace, value->base, 2, (int64_t[]){rows, all / rows}, &whole))
            return false;
        operand->entry = pdnn_strided_entry(trace, &whole, 2, whole.dim);
        operand->entry = turned_rows(trace, operand->entry, operand->column,
                                     operand->column + operand->heads * operand->width);
        return operand->entry >= 0;
    }
    struct pdnn_value_of plain = *value;
    plain.factor = 1;
    if (may_turn && operand->row_step == 1 &&
        operand->column_step == operand->rows) { /* transposed as a whole */
        pdnn_strided_swap(&plain, value->rank - 2, value->rank - 1);
        operand->is_transposed = true;
    }
    operand->entry =
        pdnn_strided_entry(trace, &plain, 3,
                           (int64_t[]){matrices, operand->is_transposed ? operand->columns : operand->rows,
                                       operand->is_transposed ? operand->rows : operand->columns});
    return operand->entry >= 0;
}

bool pdnn_products_beside(struct pdnn_trace *trace, struct pdnn_value_of *value,
                          struct pdnn_side_by_side *beside) {
    struct operand of;
    const int r = value->rank;
    const bool is_read = read_operand(value, r > 3, &of);
    if (is_read)
        find_beside(trace, value, &of);
    if (!is_read || !of.is_beside || of.is_transposed) { /* (..., rows, heads, columns) in one piece */
        struct pdnn_value_of rows = *value;
        const int64_t heads = r > 3 ? rows.dim[r - 3] : 1, columns = heads * rows.dim[r - 1];
        if (r > 3)
            pdnn_strided_swap(&rows, r - 3, r - 2);
        rows.factor = 1;
        const int32_t entry =
            pdnn_strided_entry(trace, &rows, 2, (int64_t[]){pdnn_strided_elements(value) / columns, columns});
        if (entry < 0 || !pdnn_strided_of(trace, entry, r, rows.dim, &rows))
            return false;
        if (r > 3)
            pdnn_strided_swap(&rows, r - 3, r - 2);
        rows.factor = value->factor;
        *value = rows;
        of = (struct operand){0};
        read_operand(value, r > 3, &of);
        find_beside(trace, value, &of);
    }
    if (!find_entry(trace, value, false, &of))
        return false;
    *beside = (struct pdnn_side_by_side){of.entry, of.sequences, of.heads, of.width, of.column};
    return true;
}

bool pdnn_products_together(const struct pdnn_trace *trace, const struct pdnn_value_of *const *parts,
                            size_t count, int axis, struct pdnn_value_of *result) {
    int64_t columns = 0, first = 0;
    int32_t entry = -1;
    for (size_t k = 0; k < count; k++) {
        const struct pdnn_value_of *part = parts[k];
        if (part->kind != PDNN_VALUE_DATA || part->rank != 2 || axis != 1 || part->fine || part->factor != 1)
            return false;
        const struct pdnn_draft_entry *of = trace->program.entry[part->base];
        const int64_t column = part->offset;
        if (of->rank != 2 || part->dim[0] != of->dim[0] || part->stride[1] != 1 ||
            part->stride[0] != of->dim[1] || column + part->dim[1] > of->dim[1] ||
            (k && column != first + columns))
            return false;
        const int32_t at = turned_rows(trace, part->base, column, column + part->dim[1]);
        if (k && at != entry)
            return false;
        entry = at;
        first = k ? first : column;
        columns += part->dim[1];
    }
    *result = *parts[0];
    result->base = entry;
    result->dim[1] = columns;
    result->node = trace->node;
    return true;
}

/* Both operands of a product of heads: how many dimensions are heads; -1: these are none. Heads of the right
 * one may be fewer, each for several that follow each other on the left: it repeats them, in a dimension of
 * their own that has no stride, or one entry; *right loses it. */
static int read_operands(const struct pdnn_value_of *left, struct pdnn_value_of *right, struct operand *a,
                         struct operand *b) {
    const int r = left->rank;
    if (r != right->rank)
        return -1;
    if (r >= 3 && left->dim[r - 3] > 1 && (right->dim[r - 3] == 1 || right->stride[r - 3] == 0)) {
        right->dim[r - 3] = right->dim[r - 2];
        right->dim[r - 2] = right->dim[r - 1];
        right->stride[r - 3] = right->stride[r - 2];
        right->stride[r - 2] = right->stride[r - 1];
        right->rank--;
        for (int n = r > 4 ? 2 : 1; n > 0; n--)
            if (read_operand(left, n, a) && read_operand(right, n - 1, b) && a->sequences == b->sequences)
                return n;
        return -1;
    }
    const int n = r > 3;
    return read_operand(left, n, a) && read_operand(right, n, b) && a->sequences == b->sequences &&
                   a->heads == b->heads
               ? n
               : -1;
}

/* Data times data: a product of each head. */
static bool heads(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                  const struct pdnn_value_of *left, const struct pdnn_value_of *of_right, int rank,
                  const int64_t *dim) {
    struct operand a, b;
    struct pdnn_value_of *out = OUT(0), right = *of_right;
    const int n_heads = read_operands(left, &right, &a, &b);
    if (n_heads < 0)
        return true; /* not ours */
    const bool is_grouped = a.heads != b.heads;
    find_beside(trace, left, &a);
    find_beside(trace, &right, &b);
    if (a.is_beside && ((b.is_beside && a.width != b.width) || (is_grouped && a.is_transposed)))
        a.is_beside = a.is_transposed = false;
    const bool gives_rows = !a.is_beside && b.is_beside && !b.is_transposed && b.width == b.columns;
    if (!find_entry(trace, left, !is_grouped, &a) || !find_entry(trace, &right, true, &b))
        return false;
    const int64_t width = b.is_beside ? b.width : a.is_beside ? a.width : a.columns;
    const int64_t scores[3] = {a.sequences * a.heads, a.rows, b.columns},
                  beside[2] = {a.sequences * a.rows, a.heads * b.columns};
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "matmul", (int32_t[]){a.entry, b.entry, -1}, gives_rows ? 2 : 3,
                       gives_rows ? beside : scores);
    pdnn_draft_size(entry, "sequences", a.sequences);
    pdnn_draft_size(entry, "heads", a.heads);
    pdnn_draft_size(entry, "width", width);
    if (is_grouped)
        pdnn_draft_size(entry, "b_heads", b.heads);
    pdnn_draft_size(entry, "a_column", a.is_beside ? a.column : 0);
    pdnn_draft_size(entry, "b_column", b.is_beside ? b.column : 0);
    if (a.is_transposed)
        pdnn_draft_size(entry, "transpose_a", 1);
    if (b.is_transposed)
        pdnn_draft_size(entry, "transpose_b", 1);
    if (gives_rows)
        pdnn_draft_size(entry, "y_width", beside[1]);
    if (!pdnn_strided_of(trace, trace->program.n_entries - 1, rank, dim, out))
        return false;
    if (gives_rows) { /* (..., h, M, N) of rows (S M, h N) */
        int64_t step = b.columns;
        out->stride[rank - 2] = beside[1];
        for (int d = rank - 3; d >= 0; step *= dim[d--]) {
            step = d == rank - 3 - n_heads ? a.rows * beside[1] : step;
            out->stride[d] = step;
        }
    }
    out->factor = left->factor * right.factor;
    return true;
}

/* Numbers times numbers, of few inner ones each. */
static bool numbers(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                    const struct pdnn_value_of *a, const struct pdnn_value_of *b, int rank,
                    const int64_t *dim) {
    enum { INNER = 64 };
    struct pdnn_value_of made = {.factor = 1};
    const int64_t inner = a->dim[a->rank - 1], n = dim[rank - 1], m = dim[rank - 2];
    int64_t of_a[PDNN_TRACE_RANK], of_b[PDNN_TRACE_RANK];
    double *number;
    if (inner > INNER || !pdnn_strided_shape(trace, &made, rank, dim) ||
        !pdnn_numbers_room(trace, &made, &number))
        return true;
    memcpy(of_a, dim, (size_t)rank * sizeof *dim);
    memcpy(of_b, dim, (size_t)rank * sizeof *dim);
    of_a[rank - 1] = of_b[rank - 2] = inner;
    for (int64_t k = 0; k < pdnn_strided_elements(&made); k++) {
        number[k] = 0;
        for (int64_t i = 0; i < inner; i++)
            number[k] += pdnn_numbers_broadcast(a, rank, of_a, k / n * inner + i) *
                         pdnn_numbers_broadcast(b, rank, of_b, (k / n / m * inner + i) * n + k % n);
    }
    *OUT(0) = made;
    return true;
}

/* a (..., M, K) times b (..., K, N), whose shapes fit: their leading dimensions make those of the result. */
static bool multiply(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                     const struct pdnn_value_of *a, const struct pdnn_value_of *b, int rank,
                     const int64_t *dim) {
    struct pdnn_value_of x, y;
    const bool has_numbers = a->kind == PDNN_VALUE_NUMBERS || b->kind == PDNN_VALUE_NUMBERS;
    if (has_numbers && pdnn_numbers_known(a, &x) && pdnn_numbers_known(b, &y))
        return numbers(trace, node, &x, &y, rank, dim);
    if (a->kind == PDNN_VALUE_DATA && b->kind == PDNN_VALUE_WEIGHT && b->rank == 2)
        return dense(trace, node, a, b, rank, dim);
    if (a->kind != PDNN_VALUE_DATA || b->kind != PDNN_VALUE_DATA)
        return true;
    const struct pdnn_value_of left = pdnn_strided_fine(a), right = pdnn_strided_fine(b);
    if (!a->fine && !b->fine)
        return heads(trace, node, &left, &right, rank, dim);
    /* The leading dimensions of the side that has more of them, on both; then matrices. */
    const struct pdnn_value_of *more = left.rank > right.rank ? &left : &right;
    int64_t fine[PDNN_TRACE_RANK], own[PDNN_TRACE_RANK];
    const int last = more->rank - 1;
    memcpy(fine, more->dim, sizeof fine);
    memcpy(own, more->dim, sizeof own);
    fine[last - 1] = a->dim[a->rank - 2];
    fine[last] = own[last - 1] = a->dim[a->rank - 1];
    own[last] = b->dim[b->rank - 1];
    int64_t elements[2] = {1, 1};
    for (int d = 0; d <= last; d++) {
        elements[0] *= fine[d];
        elements[1] *= own[d];
    }
    if (elements[0] != pdnn_strided_elements(a) || elements[1] != pdnn_strided_elements(b) ||
        !pdnn_strided_reshape(trace, &left, last + 1, fine, &x) ||
        !pdnn_strided_reshape(trace, &right, last + 1, own, &y) || x.fine || y.fine)
        return trace->err->status == PDNN_OK && pdnn_strided_plain(trace, a, &x) &&
               pdnn_strided_plain(trace, b, &y) && heads(trace, node, &x, &y, rank, dim);
    fine[last] = own[last];
    if (!heads(trace, node, &x, &y, last + 1, fine))
        return false;
    const struct pdnn_value_of made = *OUT(0);
    return made.kind != PDNN_VALUE_DATA || pdnn_strided_reshape(trace, &made, rank, dim, OUT(0));
}

/* The left operand, where it was multiplied by 1 in the window that a row sees, else by 0; NULL: it was not.
 */
static const struct pdnn_value_of *windowed(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                                            const struct pdnn_value_of **seen) {
    const struct pdnn_onnx_node *by = pdnn_trace_giver(trace, pdnn_trace_id(trace, node, 0), "Mul");
    for (size_t k = 0; by && k < 2; k++) {
        const struct pdnn_value_of *scores = pdnn_trace_in(trace, by, k),
                                   *window = pdnn_trace_in(trace, by, 1 - k);
        *seen = window;
        if (scores && window && pdnn_scores_seen(scores, window) > 0)
            return scores;
    }
    return NULL;
}

static bool matmul(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *a = IN(0), *b = IN(1);
    struct pdnn_value_of lead_a, lead_b;
    int64_t dim[PDNN_TRACE_RANK];
    int rank;
    const struct pdnn_value_of *seen = NULL;
    if (a && a->kind == PDNN_VALUE_FORMULA)
        a = windowed(trace, node, &seen);
    if (!a || !b || a->rank < 2 || b->rank < 2 || b->kind == PDNN_VALUE_FORMULA) {
        OUT(0)->node = IN(0) && IN(0)->node && IN(0)->kind == PDNN_VALUE_FORMULA ? IN(0)->node : node;
        return true;
    }
    if (a->dim[a->rank - 1] != b->dim[b->rank - 2])
        return pdnn_trace_fail(trace, "the inner sizes are %d and %d", (int)a->dim[a->rank - 1],
                               (int)b->dim[b->rank - 2]);
    lead_a = *a;
    lead_b = *b;
    lead_a.rank -= 2;
    lead_b.rank -= 2;
    if (!pdnn_strided_broadcast(trace, &lead_a, &lead_b, &rank, dim))
        return false;
    dim[rank++] = a->dim[a->rank - 2];
    dim[rank++] = b->dim[b->rank - 1];
    const int32_t first = trace->program.n_entries;
    if (!multiply(trace, node, a, b, rank, dim) || !seen || OUT(0)->kind != PDNN_VALUE_DATA)
        return trace->err->status == PDNN_OK;
    if (OUT(0)->base < first || trace->program.entry[OUT(0)->base]->op != pdnn_op_matmul.name) {
        OUT(0)->kind = PDNN_VALUE_REFUSED; /* not ours */
        return true;
    }
    pdnn_draft_size(trace->program.entry[OUT(0)->base], "window", pdnn_scores_seen(a, seen));
    return true;
}

/* The letters of Einsum's operands and result, in this order: those of all three, of the left one and the
 * result, of the right one and the result, and of both operands alone, which are summed over. */
enum { SIDES = 3, GROUPS = 4, LETTERS = 26 };
struct letters {
    char side[SIDES][PDNN_TRACE_RANK + 1], group[GROUPS][PDNN_TRACE_RANK + 1];
    int64_t size[LETTERS];
};

/* False for what is no product of two: other letters, one of them twice, or summed on one side alone. */
static bool read_equation(const struct pdnn_onnx_node *node, struct letters *letters) {
    static const char group_of[8] = {
        [7] = 1, [5] = 2, [6] = 3, [3] = 4}; /* by sides: 1 left, 2 right, 4 result */
    const struct Onnx__AttributeProto *equation = pdnn_trace_attribute(node, "equation");
    unsigned char sides[LETTERS] = {0};
    int side = 0, count = 0;
    memset(letters, 0, sizeof *letters);
    for (size_t i = 0; equation && i < equation->s.len; i++) {
        const char c = (char)equation->s.data[i];
        if (c == ' ')
            continue;
        if ((c == ',' && side == 0) ||
            (c == '-' && side == 1 && i + 1 < equation->s.len && equation->s.data[++i] == '>')) {
            side++;
            count = 0;
            continue;
        }
        if (c < 'a' || c > 'z' || count == PDNN_TRACE_RANK || sides[c - 'a'] >> side & 1)
            return false;
        sides[c - 'a'] |= (unsigned char)(1U << side);
        letters->side[side][count++] = c;
    }
    for (int k = 0; k < LETTERS; k++)
        if (sides[k] && !group_of[sides[k]])
            return false;
    for (int s = 0; s < 2; s++) /* in the order of the operands */
        for (const char *c = letters->side[s]; *c; c++) {
            char *group = letters->group[group_of[sides[*c - 'a']] - 1];
            if (!strchr(group, *c))
                group[strlen(group)] = *c;
        }
    return side == 2;
}

/* The operand with its dimensions in the order of these groups, which are one dimension each but for the
 * first. False, with or without a message, if there is none. */
static bool order_operand(struct pdnn_trace *trace, const struct pdnn_value_of *in,
                          const struct letters *letters, int side, int rows, int columns,
                          struct pdnn_value_of *result) {
    struct pdnn_value_of turned, plain;
    int64_t dim[PDNN_TRACE_RANK + 2];
    int rank = 0, at = 0;
    if (!pdnn_strided_plain(trace, in, &plain))
        return false;
    turned = plain;
    for (int g = 0; g < 3; g++) {
        const char *group = letters->group[g == 0 ? 0 : g == 1 ? rows : columns];
        int64_t product = 1;
        for (const char *c = group; *c; c++, at++) {
            const long from = strchr(letters->side[side], *c) - letters->side[side];
            turned.dim[at] = plain.dim[from];
            turned.stride[at] = plain.stride[from];
            product *= plain.dim[from];
            if (g == 0)
                dim[rank++] = plain.dim[from];
        }
        if (g)
            dim[rank++] = product;
    }
    return pdnn_strided_reshape(trace, &turned, rank, dim, result);
}

/* A product of two that some letters make of matrices, and the others of many. */
static bool einsum(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in[2] = {IN(0), IN(1)};
    struct letters letters;
    struct pdnn_value_of a, b, made;
    int64_t dim[PDNN_TRACE_RANK];
    int rank = 0;
    if (node->proto->n_input != 2 || !in[1] || !read_equation(node, &letters))
        return true;
    for (int s = 0; s < 2; s++) {
        if (in[s]->rank != (int)strlen(letters.side[s]))
            return pdnn_trace_fail(trace, "input %d has %d dimensions, not one for each of '%s'", s,
                                   in[s]->rank, letters.side[s]);
        for (int d = 0; d < in[s]->rank; d++) {
            int64_t *size = &letters.size[letters.side[s][d] - 'a'];
            if (*size && *size != in[s]->dim[d])
                return pdnn_trace_fail(trace, "'%c' is %d and %d", letters.side[s][d], (int)*size,
                                       (int)in[s]->dim[d]);
            *size = in[s]->dim[d];
        }
    }
    if (in[0]->kind != PDNN_VALUE_DATA || strlen(letters.group[0]) + 2 > PDNN_TRACE_RANK)
        return true;
    if (!order_operand(trace, in[0], &letters, 0, 1, 3, &a) ||
        !order_operand(trace, in[1], &letters, 1, 3, 2, &b))
        return false;
    memcpy(dim, a.dim, sizeof dim);
    dim[a.rank - 1] = b.dim[b.rank - 1];
    if (!multiply(trace, node, &a, &b, a.rank, dim) || OUT(0)->kind != PDNN_VALUE_DATA)
        return trace->err->status == PDNN_OK;
    for (int g = 0; g < 3; g++)
        for (const char *c = letters.group[g]; *c; c++)
            dim[rank++] = letters.size[*c - 'a'];
    if (!pdnn_strided_reshape(trace, OUT(0), rank, dim, &a) || !pdnn_strided_plain(trace, &a, &made))
        return false;
    *OUT(0) = made;
    rank = 0;
    for (int g = 0; g < 3; g++)
        for (const char *c = letters.group[g]; *c; c++, rank++) {
            const long to = strchr(letters.side[2], *c) - letters.side[2];
            OUT(0)->dim[to] = made.dim[rank];
            OUT(0)->stride[to] = made.stride[rank];
        }
    return true;
}

const struct pdnn_trace_row pdnn_trace_products[] = {
    {"Gemm", gemm, false},
    {"MatMul", matmul, true},
    {"Einsum", einsum, false},
    {0},
};
