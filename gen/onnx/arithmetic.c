#include "gen/onnx/step.h"

#include <math.h>
#include <string.h>

#define IN(k)  pdnn_trace_in(trace, node, k)
#define OUT(k) pdnn_trace_out(trace, node, k)

static bool is_constant(const struct pdnn_value_of *value) {
    return value->kind == PDNN_VALUE_NUMBERS || value->kind == PDNN_VALUE_WEIGHT;
}

/* A formula of that shape, by the first node that made one: a refusal names it. */
static bool formula(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int rank,
                    const int64_t *dim) {
    struct pdnn_value_of *out = OUT(0),
                         made = {.kind = PDNN_VALUE_FORMULA, .is_plain = true, .factor = 1, .node = node};
    for (size_t k = node->proto->n_input; k-- > 0;) {
        made.is_plain = made.is_plain && (!IN(k) || IN(k)->is_plain || is_constant(IN(k)));
        if (IN(k) && IN(k)->kind == PDNN_VALUE_FORMULA)
            made.node = IN(k)->node;
    }
    if (!pdnn_strided_shape(trace, &made, rank, dim))
        return false;
    *out = made;
    return true;
}

static double negate(double a) {
    return -a;
}
static double reciprocal(double a) {
    return 1 / a;
}
static double not(double a) {
    return a == 0;
}
static double is_nan(double a) {
    return isnan(a);
}

static const struct unary {
    const char *onnx;
    double (*of)(double); /* numbers; NULL: is not computed */
    const char *op;       /* of data; NULL: it is a formula */
} unaries[] = {
    {"Relu", NULL, "relu"},
    {"Sigmoid", NULL, "sigmoid"},
    {"Tanh", tanh, "tanh"},
    {"Softplus", NULL, "softplus"},
    {"HardSwish", NULL, "hardswish"},
    {"Softsign", NULL, NULL},
    {"Elu", NULL, NULL},
    {"LeakyRelu", NULL, NULL},
    {"Erf", erf, NULL},
    {"Sqrt", sqrt, NULL},
    {"Exp", exp, NULL},
    {"Log", log, NULL},
    {"Abs", fabs, NULL},
    {"Neg", negate, NULL},
    {"Reciprocal", reciprocal, NULL},
    {"Floor", floor, NULL},
    {"Ceil", ceil, NULL},
    {"Round", rint, NULL},
    {"Not", not, NULL},
    {"IsNaN", is_nan, NULL},
    {"Sin", sin, NULL},
    {"Cos", cos, NULL},
    {"Mish", NULL, NULL},
    {"LogSoftmax", NULL, NULL},
};

static bool unary(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of in = *IN(0);
    const struct unary *row = unaries;
    struct pdnn_value_of *out = OUT(0), made = in;
    double *number;
    while (strcmp(row->onnx, node->proto->op_type) != 0)
        row++;
    if (in.kind == PDNN_VALUE_NUMBERS) {
        if (!row->of || !pdnn_strided_shape(trace, &made, in.rank, in.dim) ||
            !pdnn_numbers_room(trace, &made, &number))
            return true;
        for (int64_t k = 0; k < pdnn_strided_elements(&in); k++)
            number[k] = row->of(pdnn_numbers_at(&in, k));
        *out = made;
        return true;
    }
    if (in.kind == PDNN_VALUE_WEIGHT) {
        made.tensor = NULL;
        *out = made;
    } else if (in.kind == PDNN_VALUE_DATA && row->of == negate) {
        *out = in;
        out->factor = -in.factor;
    } else if (in.kind == PDNN_VALUE_FORMULA || !row->op || in.is_whole)
        return formula(trace, node, in.rank, in.dim);
    else
        return pdnn_strided_apply(trace, row->op, &in, out);
    return true;
}

static bool gelu(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    return pdnn_strided_apply(trace, pdnn_trace_has_text(node, "approximate", "tanh") ? "gelu_tanh" : "gelu",
                              IN(0), OUT(0));
}

static bool hard_sigmoid(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const bool is_ours = fabs(pdnn_trace_real(node, "alpha", 0.2) - 1.0 / 6) < 1e-3 &&
                         pdnn_trace_real(node, "beta", 0.5) == 0.5 && IN(0)->kind == PDNN_VALUE_DATA;
    return is_ours ? pdnn_strided_apply(trace, "hardsigmoid", IN(0), OUT(0)) != NULL
                   : formula(trace, node, IN(0)->rank, IN(0)->dim);
}

static bool clip(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    double low = -INFINITY, high = INFINITY;
    const struct pdnn_value_of in = *IN(0);
    if ((IN(1) && !pdnn_numbers_scalar(IN(1), &low)) || (IN(2) && !pdnn_numbers_scalar(IN(2), &high)) ||
        in.kind != PDNN_VALUE_DATA || in.is_whole || isinf(low) || (isinf(high) && low != 0))
        return is_constant(&in) || formula(trace, node, in.rank, in.dim);
    struct pdnn_draft_entry *entry =
        pdnn_strided_apply(trace, isinf(high) ? "relu" : "hardtanh", &in, OUT(0));
    if (entry && !isinf(high)) {
        pdnn_draft_real(entry, "low", low);
        pdnn_draft_real(entry, "high", high);
    }
    return entry;
}

static bool softmax(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of in = *IN(0);
    const int64_t axis = pdnn_trace_int(node, "axis", trace->onnx->opset < 13 ? 1 : -1);
    if (in.kind != PDNN_VALUE_DATA || (axis != -1 && axis != in.rank - 1))
        return formula(trace, node, in.rank, in.dim);
    /* Of rows, or of scores as they are: the last dimension must be one in memory, too. */
    const struct pdnn_draft_entry *x = trace->program.entry[in.base];
    if (pdnn_strided_is_compact(trace, &in) && x->rank && x->dim[x->rank - 1] == in.dim[in.rank - 1])
        return pdnn_strided_apply(trace, "softmax", &in, OUT(0));
    struct pdnn_value_of rows;
    int32_t from;
    if (!pdnn_strided_take_rows(trace, &in, &from, &rows))
        return false;
    x = trace->program.entry[from];
    pdnn_draft_add(&trace->program, "softmax", (int32_t[]){from, -1}, 2, x->dim);
    return pdnn_strided_give_rows(trace, &rows, trace->program.n_entries - 1, in.dim[in.rank - 1], in.rank,
                                  in.dim, OUT(0));
}

static double add(double a, double b) {
    return a + b;
}
static double subtract(double a, double b) {
    return a - b;
}
static double multiply(double a, double b) {
    return a * b;
}
static double divide(double a, double b) {
    return a / b;
}
static double modulo(double a, double b) {
    const double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static double equal(double a, double b) {
    return a == b;
}
static double less(double a, double b) {
    return a < b;
}
static double greater(double a, double b) {
    return a > b;
}
static double at_most(double a, double b) {
    return a <= b;
}
static double at_least(double a, double b) {
    return a >= b;
}
static double both(double a, double b) {
    return a != 0 && b != 0;
}
static double either(double a, double b) {
    return a != 0 || b != 0;
}

static const struct binary {
    const char *onnx;
    double (*of)(double, double);
    bool is_truth;
} binaries[] = {
    {"Add", add, false},
    {"Sub", subtract, false},
    {"Mul", multiply, false},
    {"Div", divide, false},
    {"Pow", pow, false},
    {"Mod", modulo, false},
    {"Max", fmax, false},
    {"Min", fmin, false},
    {"Equal", equal, true},
    {"Less", less, true},
    {"Greater", greater, true},
    {"LessOrEqual", at_most, true},
    {"GreaterOrEqual", at_least, true},
    {"And", both, true},
    {"Or", either, true},
};

/* How the smaller operand meets the larger one, of a shape: the dimensions that both have as entries. */
static bool meet(const struct pdnn_value_of *small, int rank, const int64_t *dim, int *large_rank,
                 int64_t *large_dim, int *small_rank, int64_t *small_dim) {
    int64_t own[PDNN_TRACE_RANK], rows = 1;
    int equal_to = 0;
    for (int d = 0; d < rank; d++)
        own[d] = d < rank - small->rank ? 1 : small->dim[d - (rank - small->rank)];
    while (equal_to < rank && own[equal_to] == dim[equal_to])
        equal_to++;
    for (int d = 0; d < rank - 1; d++)
        rows *= dim[d];
    memcpy(large_dim, (int64_t[]){rows, dim[rank - 1]}, 2 * sizeof *dim);
    *large_rank = *small_rank = 2;
    if (rank == 4 && equal_to == 2 && own[2] == 1 && own[3] == 1) { /* over pixels */
        memcpy(large_dim, dim, 4 * sizeof *dim);
        memcpy(small_dim, own, 4 * sizeof *own);
        *large_rank = *small_rank = 4;
        return true;
    }
    if (equal_to == rank - 1 && own[rank - 1] == 1) { /* over columns */
        memcpy(small_dim, (int64_t[]){rows, 1}, 2 * sizeof *dim);
        return true;
    }
    int64_t groups = 1;
    for (int d = 0; d < equal_to; d++)
        groups *= dim[d];
    for (int d = equal_to; d < rank - 1; d++)
        if (own[d] != 1)
            return false;
    memcpy(small_dim, (int64_t[]){groups, dim[rank - 1]}, 2 * sizeof *dim);
    if (equal_to == 0) { /* over rows */
        small_dim[0] = dim[rank - 1];
        *small_rank = 1;
    }
    return own[rank - 1] == dim[rank - 1];
}

/* Data and data. */
static bool join(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, const char *op,
                 struct pdnn_value_of a, struct pdnn_value_of b, int rank, const int64_t *dim) {
    int64_t large[PDNN_TRACE_RANK], small[PDNN_TRACE_RANK];
    int large_rank = 0, small_rank = 0;
    const int64_t all[1] = {1};
    if (!rank) {
        rank = 1;
        dim = all;
    }
    if (pdnn_strided_elements(&a) < pdnn_strided_elements(&b)) {
        const struct pdnn_value_of other = a;
        a = b;
        b = other;
    }
    struct pdnn_value_of shape = {0};
    if (!pdnn_strided_shape(trace, &shape, rank, dim))
        return false;
    const bool is_equal = pdnn_strided_elements(&a) == pdnn_strided_elements(&b);
    const struct pdnn_value_of p = pdnn_strided_fine(&a), q = pdnn_strided_fine(&b);
    if (is_equal && a.factor == 1 && b.factor == 1 && p.rank == q.rank && pdnn_strided_covers(trace, &a) &&
        pdnn_strided_covers(trace, &b) &&
        memcmp(p.stride, q.stride, (size_t)p.rank * sizeof *p.stride) == 0 &&
        memcmp(p.dim, q.dim, (size_t)p.rank * sizeof *p.dim) == 0) {
        const struct pdnn_draft_entry *x = trace->program.entry[a.base], *y = trace->program.entry[b.base];
        if (x->rank == y->rank && memcmp(x->dim, y->dim, sizeof x->dim) == 0) {
            pdnn_draft_add(&trace->program, op, (int32_t[]){a.base, b.base, -1}, x->rank, x->dim);
            *OUT(0) = a;
            OUT(0)->base = trace->program.n_entries - 1;
            OUT(0)->node = node;
            return true;
        }
    }
    if (!is_equal && (pdnn_strided_elements(&a) != pdnn_strided_elements(&shape) ||
                      !meet(&b, rank, dim, &large_rank, large, &small_rank, small)))
        return formula(trace, node, rank, dim);
    const int32_t x = pdnn_strided_entry(trace, &a, is_equal ? 0 : large_rank, is_equal ? NULL : large);
    if (x < 0)
        return false;
    const struct pdnn_draft_entry *of = trace->program.entry[x];
    const int32_t y =
        pdnn_strided_entry(trace, &b, is_equal ? of->rank : small_rank, is_equal ? of->dim : small);
    if (y < 0)
        return false;
    of = trace->program.entry[x];
    pdnn_draft_add(&trace->program, op, (int32_t[]){x, y, -1}, of->rank, of->dim);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, dim, OUT(0));
}

/* Data and a weight: one number for each column of rows or channel of images, or a table of rows. */
static bool join_weight(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, bool is_sum,
                        const struct pdnn_value_of *data, const struct pdnn_value_of *weight, int rank,
                        const int64_t *dim) {
    const int64_t count = pdnn_strided_elements(weight);
    int at = -1, others = 0;
    for (int d = 0; d < weight->rank; d++) {
        at = weight->dim[d] != 1 ? d + rank - weight->rank : at;
        others += weight->dim[d] != 1;
    }
    at = at < 0 ? rank - 1 : at;
    const bool is_image = rank == 4 && at == 1;
    if (data->rank != rank || memcmp(data->dim, dim, (size_t)rank * sizeof *dim) != 0)
        return formula(trace, node, rank, dim);
    if (others > 1 || (at != rank - 1 && !is_image)) {
        struct pdnn_value_of table;
        if (weight->dim[weight->rank - 1] != dim[rank - 1] || count == 1)
            return formula(trace, node, rank, dim);
        return pdnn_strided_table(trace, weight, rank, dim, &table) &&
               join(trace, node, is_sum ? "add" : "multiply", *data, table, rank, dim);
    }
    struct pdnn_value_of rows;
    int32_t from = is_image ? pdnn_strided_entry(trace, data, 4, dim) : 0;
    if (from < 0 || (!is_image && !pdnn_strided_take_rows(trace, data, &from, &rows)))
        return false;
    const struct pdnn_draft_entry *x = trace->program.entry[from];
    if (count != x->dim[1])
        return formula(trace, node, rank, dim);
    pdnn_draft_weight(
        pdnn_draft_add(&trace->program, is_sum ? "bias" : "multiply", (int32_t[]){from, -1}, x->rank, x->dim),
        "b", weight->base);
    const int32_t made = trace->program.n_entries - 1;
    return is_image ? pdnn_strided_of(trace, made, rank, dim, OUT(0))
                    : pdnn_strided_give_rows(trace, &rows, made, count, rank, dim, OUT(0));
}

static bool numbers_of(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, const struct binary *row,
                       const struct pdnn_value_of *a, const struct pdnn_value_of *b, int rank,
                       const int64_t *dim) {
    struct pdnn_value_of made = {.factor = 1};
    double *number;
    made.is_whole = row->is_truth || (a->is_whole && b->is_whole);
    const bool is_band =
        rank >= 2 && pdnn_numbers_are_by_diagonal(a, rank, dim) && pdnn_numbers_are_by_diagonal(b, rank, dim);
    if (!pdnn_strided_shape(trace, &made, rank, dim) ||
        !(is_band ? pdnn_numbers_band : pdnn_numbers_room)(trace, &made, &number))
        return true;
    for (int64_t i = 0, count = pdnn_numbers_different(&made); i < count; i++) {
        const int64_t k = pdnn_numbers_place(&made, i);
        const double value =
            row->of(pdnn_numbers_broadcast(a, rank, dim, k), pdnn_numbers_broadcast(b, rank, dim, k));
        number[i] = made.is_whole ? trunc(value) : value;
    }
    *OUT(0) = made;
    return true;
}

/* The rules for data of +, -, * and / in turn, until one holds. */
static bool combine(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, const struct binary *row,
                    const struct pdnn_value_of *a, const struct pdnn_value_of *b, int rank,
                    const int64_t *dim) {
    const bool is_sum = row->of == add, is_product = row->of == multiply;
    const struct pdnn_value_of *data = a->kind == PDNN_VALUE_DATA ? a : b, *other = data == a ? b : a;
    double number;
    bool is_done = false;
    if (data->kind != PDNN_VALUE_DATA || data->is_whole)
        return formula(trace, node, rank, dim);
    if (is_sum && (!pdnn_scores_mask(trace, node, data, other, true, &is_done) || is_done))
        return is_done;
    const bool is_scalar = is_constant(other) && pdnn_numbers_scalar(other, &number);
    const bool is_weight = other->kind == PDNN_VALUE_WEIGHT && (!is_scalar || other->rank > 0) && rank > 0;
    if (is_scalar && !(is_weight && data->rank && data->dim[data->rank - 1] == 1)) {
        struct pdnn_value_of made = *data;
        if (is_product || (row->of == divide && data == a && number != 0))
            made.factor *= is_product ? number : 1 / number;
        else if (!(is_sum || row->of == subtract) || number != 0)
            return formula(trace, node, rank, dim);
        else if (row->of == subtract && data == b)
            made.factor = -data->factor;
        *OUT(0) = made;
        return rank == data->rank || pdnn_strided_reshape(trace, &made, rank, dim, OUT(0));
    }
    if (is_weight && is_sum && (!pdnn_scores_relative(trace, node, data, other, &is_done) || is_done))
        return is_done;
    if (is_weight && (is_sum || is_product))
        return join_weight(trace, node, is_sum, data, other, rank, dim);
    if (is_product && (!pdnn_scores_window(trace, node, data, other, &is_done) || is_done))
        return is_done;
    if (a->kind != PDNN_VALUE_DATA || b->kind != PDNN_VALUE_DATA || b->is_whole)
        return formula(trace, node, rank, dim);
    if (is_sum && (!pdnn_scores_add(trace, node, a, b, &is_done) || is_done))
        return is_done;
    if (is_sum || is_product)
        return join(trace, node, is_sum ? "add" : "multiply", *a, *b, rank, dim);
    if (row->of != subtract)
        return formula(trace, node, rank, dim);
    struct pdnn_value_of minus = *b;
    minus.factor = -b->factor;
    return join(trace, node, "add", *a, minus, rank, dim);
}

static bool binary(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct binary *row = binaries;
    const struct pdnn_value_of *a = IN(0), *b = IN(1);
    int64_t dim[PDNN_TRACE_RANK];
    int rank;
    while (strcmp(row->onnx, node->proto->op_type) != 0)
        row++;
    if (!a || !b || node->proto->n_input != 2) {
        *OUT(0) = *IN(0);
        return node->proto->n_input == 1 || pdnn_trace_fail(trace, "expected two inputs");
    }
    if (!pdnn_strided_broadcast(trace, a, b, &rank, dim))
        return false;
    const bool is_typed = a->kind != PDNN_VALUE_FORMULA && b->kind != PDNN_VALUE_FORMULA;
    if (is_typed && a->is_whole != b->is_whole && row->of != pow)
        return pdnn_trace_fail(trace, "types do not match: integers and real numbers");
    const struct pdnn_value_of left = *a, right = *b;
    if (a->kind == PDNN_VALUE_NUMBERS && b->kind == PDNN_VALUE_NUMBERS)
        return numbers_of(trace, node, row, &left, &right, rank, dim);
    if (is_constant(a) && is_constant(b)) { /* of weights alone: no work of a step */
        struct pdnn_value_of made = a->kind == PDNN_VALUE_WEIGHT ? *a : *b;
        if (!pdnn_strided_shape(trace, &made, rank, dim))
            return false;
        made.tensor = NULL;
        *OUT(0) = made;
        return true;
    }
    if (pdnn_pattern_match(trace, node))
        return trace->err->status == PDNN_OK;
    return combine(trace, node, row, &left, &right, rank, dim);
}

/* Whether a node chooses its third input, of softmax, but a known number where that is not a number. PyTorch
 * does so for rows of scores that are all hidden; ours never are. */
static bool replaces_nan(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const int32_t chosen = pdnn_trace_id(trace, node, 2);
    const struct pdnn_onnx_node *test = pdnn_trace_giver(trace, pdnn_trace_id(trace, node, 0), "IsNaN");
    double fill;
    return test && pdnn_trace_id(trace, test, 0) == chosen && pdnn_trace_giver(trace, chosen, "Softmax") &&
           IN(2)->kind == PDNN_VALUE_DATA && IN(1)->rank <= IN(2)->rank && pdnn_numbers_scalar(IN(1), &fill);
}

static bool where(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *by = IN(0), *a = IN(1), *b = IN(2);
    struct pdnn_value_of made = {.factor = 1}, both_of = {0};
    int64_t dim[PDNN_TRACE_RANK];
    int rank;
    double *number;
    bool is_done = false;
    if (!by || !a || !b)
        return pdnn_trace_fail(trace, "expected three inputs");
    if (!pdnn_strided_broadcast(trace, a, b, &rank, dim) || !pdnn_strided_shape(trace, &both_of, rank, dim) ||
        !pdnn_strided_broadcast(trace, by, &both_of, &rank, dim))
        return false;
    if (by->kind == PDNN_VALUE_NUMBERS && a->kind == PDNN_VALUE_NUMBERS && b->kind == PDNN_VALUE_NUMBERS) {
        made.is_whole = a->is_whole;
        if (!pdnn_strided_shape(trace, &made, rank, dim) || !pdnn_numbers_room(trace, &made, &number))
            return true;
        for (int64_t k = 0; k < pdnn_strided_elements(&made); k++)
            number[k] =
                pdnn_numbers_broadcast(pdnn_numbers_broadcast(by, rank, dim, k) != 0 ? a : b, rank, dim, k);
        *OUT(0) = made;
        return true;
    }
    if (replaces_nan(trace, node)) {
        *OUT(0) = *b;
        return true;
    }
    const bool seen_if = a->kind == PDNN_VALUE_DATA && !a->is_plain;
    const struct pdnn_value_of scores = seen_if ? *a : *b, seen = *by;
    if (pdnn_scores_are_hidden(seen_if ? b : a) &&
        !pdnn_scores_mask(trace, node, &scores, &seen, seen_if, &is_done))
        return false;
    return is_done || formula(trace, node, rank, dim);
}

/* Means, sums and largest values along axes. */
static bool reduce(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of in = *IN(0), *list = IN(1);
    const char *kind = node->proto->op_type + strlen("Reduce");
    const bool is_sum = strcmp(kind, "Sum") == 0, is_mean = strcmp(kind, "Mean") == 0,
               is_max = strcmp(kind, "Max") == 0;
    const bool is_product = strcmp(kind, "Prod") == 0, keeps = pdnn_trace_int(node, "keepdims", 1) != 0;
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, "axes");
    int64_t dim[PDNN_TRACE_RANK], count = list        ? pdnn_strided_elements(list)
                                          : attribute ? (int64_t)attribute->n_ints
                                                      : 0;
    unsigned goes = 0;
    int rank = 0;
    double *number;
    if (list && list->kind != PDNN_VALUE_NUMBERS)
        return true;
    for (int64_t k = 0; k < count; k++) {
        int64_t axis = list ? pdnn_numbers_whole(list, k) : attribute->ints[k];
        axis += axis < 0 ? in.rank : 0;
        if (axis < 0 || axis >= in.rank)
            return pdnn_trace_fail(trace, "an axis that %d dimensions do not have", in.rank);
        goes |= 1U << axis;
    }
    if (!count)
        goes = (1U << in.rank) - 1;
    count = 1;
    for (int d = 0; d < in.rank; d++) {
        count *= goes >> d & 1 ? in.dim[d] : 1;
        if (!(goes >> d & 1) || keeps)
            dim[rank++] = goes >> d & 1 ? 1 : in.dim[d];
    }
    if (in.kind == PDNN_VALUE_NUMBERS && goes == (1U << in.rank) - 1 && (is_sum || is_product || is_max)) {
        struct pdnn_value_of made = in;
        if (!pdnn_strided_shape(trace, &made, rank, dim) || !pdnn_numbers_room(trace, &made, &number))
            return true;
        *number = pdnn_numbers_at(&in, 0);
        for (int64_t k = 1; k < count; k++) {
            const double next = pdnn_numbers_at(&in, k);
            *number = is_sum ? *number + next : is_product ? *number * next : fmax(*number, next);
        }
        *OUT(0) = made;
        return true;
    }
    const bool is_image = in.rank == 4 && goes == 12;
    /* The dimensions between the first and the last, or the last. */
    const bool is_rows = in.rank >= 3 && goes == ((1U << (in.rank - 1)) - 2),
               is_column = in.rank >= 2 && goes == 1U << (in.rank - 1);
    if (in.kind != PDNN_VALUE_DATA || in.is_whole ||
        !((is_image && is_max) || ((is_sum || is_mean) && (is_image || is_rows || is_column))))
        return is_constant(&in) || formula(trace, node, rank, dim);
    const int32_t from = is_image ? pdnn_strided_entry(trace, &in, 4, in.dim) : pdnn_strided_rows(trace, &in);
    if (from < 0)
        return false;
    const int64_t rows = pdnn_strided_elements(&in) / in.dim[in.rank - 1];
    const int64_t image[4] = {in.dim[0], in.rank > 1 ? in.dim[1] : 1, 1, 1},
                  matrix[2] = {is_rows ? in.dim[0] : rows, is_rows ? in.dim[in.rank - 1] : 1};
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, is_image ? "pool2d" : "mean", (int32_t[]){from, -1}, is_image ? 4 : 2,
                       is_image ? image : matrix);
    if (is_image) {
        pdnn_draft_word(entry, "kind", is_max ? "max" : "average");
        pdnn_draft_size(entry, "to", 1);
    } else if (is_rows)
        pdnn_draft_size(entry, "sequences", in.dim[0]);
    else
        pdnn_draft_word(entry, "along", "columns");
    if (!pdnn_strided_of(trace, trace->program.n_entries - 1, rank, dim, OUT(0)))
        return false;
    OUT(0)->factor = is_sum ? (double)count : 1;
    return true;
}

const struct pdnn_trace_row pdnn_trace_arithmetic[] = {
    {"Gelu", gelu, false},        {"HardSigmoid", hard_sigmoid, true},
    {"Clip", clip, true},         {"Softmax", softmax, true},
    {"Where", where, true},       {"ReduceMean", reduce, true},
    {"ReduceSum", reduce, true},  {"ReduceMax", reduce, true},
    {"ReduceProd", reduce, true}, {0},
};

const struct pdnn_trace_row *pdnn_trace_elementwise(const char *op) {
    static const struct pdnn_trace_row of_one = {"", unary, true}, of_two = {"", binary, true};
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (strcmp(unaries[i].onnx, op) == 0)
            return &of_one;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (strcmp(binaries[i].onnx, op) == 0)
            return &of_two;
    return NULL;
}
