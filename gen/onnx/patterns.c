#include "gen/onnx/step.h"

#include "models/op.h"

#include <math.h>
#include <string.h>

#define OUT(k)        pdnn_trace_out(trace, node, k)
#define GIVER(id, op) pdnn_trace_giver(trace, id, op)
#define ID(of, k)     pdnn_trace_id(trace, of, k)

/* Of a node of that operator, one of whose two inputs, which is input `at` unless that is -1, is a number:
 * the other; -1: there is none. */
static int32_t with_number(const struct pdnn_trace *trace, int32_t id, const char *op, int at,
                           double *number) {
    const struct pdnn_onnx_node *node = GIVER(id, op);
    for (int k = 0; node && node->proto->n_input == 2 && k < 2; k++)
        if ((at < 0 || at == k) && pdnn_numbers_scalar(pdnn_trace_in(trace, node, (size_t)k), number))
            return ID(node, 1 - k);
    return -1;
}

enum { FACTORS = 4 };

/* Whether data is other data times a number. */
static bool is_multiple(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    double number;
    bool has_number = false, has_data = false;
    for (size_t k = 0; k < 2; k++) {
        const struct pdnn_value_of *in = pdnn_trace_in(trace, node, k);
        const bool is_number = in && pdnn_numbers_scalar(in, &number);
        has_number = has_number || is_number;
        has_data = has_data || (in && !is_number && in->kind == PDNN_VALUE_DATA);
    }
    return has_number && has_data;
}

/* The factors of a product of products that are not numbers, and the product of the others. Returns how many;
 * -1: too many. What is data already is one factor, unless it is a multiple of other data. */
static int factors_of(struct pdnn_trace *trace, int32_t id, int32_t factor[FACTORS], int count,
                      double *number, int depth) {
    const struct pdnn_onnx_node *node = depth < FACTORS && id >= 0 ? trace->giver[id] : NULL;
    const bool is_ratio = node && node == GIVER(id, "Div");
    double one;
    if (id < 0 || count < 0)
        return -1;
    if (pdnn_numbers_scalar(&trace->value[id], &one)) {
        *number *= one;
        return count;
    }
    const bool is_open = node && (is_ratio || node == GIVER(id, "Mul")) && node->proto->n_input == 2 &&
                         (trace->value[id].kind != PDNN_VALUE_DATA || is_multiple(trace, node));
    if (is_open && is_ratio && pdnn_numbers_scalar(pdnn_trace_in(trace, node, 1), &one)) {
        *number /= one;
        return factors_of(trace, ID(node, 0), factor, count, number, depth + 1);
    }
    if (is_open && !is_ratio) {
        count = factors_of(trace, ID(node, 0), factor, count, number, depth + 1);
        return factors_of(trace, ID(node, 1), factor, count, number, depth + 1);
    }
    if (count == FACTORS)
        return -1;
    factor[count] = id;
    return count + 1;
}

enum { POWERS = 4, NESTED = 6 };

/* A value as a polynomial in x, of any degree below POWERS; false: it is none. */
static bool polynomial(struct pdnn_trace *trace, int32_t id, int32_t x, int depth, double of[POWERS]) {
    double left[POWERS], right[POWERS], one, product[POWERS] = {0};
    const struct pdnn_onnx_node *node = id >= 0 && depth < NESTED ? trace->giver[id] : NULL;
    memset(of, 0, POWERS * sizeof *of);
    of[1] = id == x;
    if (id < 0 || id == x)
        return id == x;
    if (pdnn_numbers_scalar(&trace->value[id], &of[0]))
        return true;
    if (!node || node->proto->n_input != 2 || !polynomial(trace, ID(node, 0), x, depth + 1, left))
        return false;
    const bool is_number = pdnn_numbers_scalar(pdnn_trace_in(trace, node, 1), &one);
    if (is_number && node == GIVER(id, "Pow")) {
        of[1] = 0;
        for (int k = 0; k < POWERS; k++)
            of[k] = k == one;
        return ID(node, 0) == x && (one == 2 || one == 3);
    }
    if (is_number && one != 0 && node == GIVER(id, "Div")) {
        for (int k = 0; k < POWERS; k++)
            of[k] = left[k] / one;
        return true;
    }
    if (!polynomial(trace, ID(node, 1), x, depth + 1, right))
        return false;
    for (int k = 0; k < POWERS; k++) {
        of[k] = left[k] + right[k];
        for (int j = 0; j + k < POWERS; j++)
            product[k + j] += left[k] * right[j];
    }
    if (node == GIVER(id, "Mul")) {
        memcpy(of, product, sizeof product);
        return left[2] * right[2] == 0 && left[3] * (right[1] + right[2] + right[3]) == 0 &&
               right[3] * (left[1] + left[2]) == 0;
    }
    return node == GIVER(id, "Add");
}

/* Whether the node's input is that polynomial in x. */
static bool is_of(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int32_t x,
                  const double expected[POWERS]) {
    double of[POWERS];
    bool is = node && polynomial(trace, ID(node, 0), x, 0, of);
    for (int k = 0; is && k < POWERS; k++)
        is = fabs(of[k] - expected[k]) < 1e-4;
    return is;
}

static bool activate(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, const char *op, int32_t x) {
    return trace->value[x].kind == PDNN_VALUE_DATA && pdnn_strided_apply(trace, op, &trace->value[x], OUT(0));
}

/* x sigmoid(x); x / 2 (1 + erf(x / sqrt 2)); x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)));
 * x hardsigmoid(x), also in pieces. */
static bool match_activation(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    static const double of_erf[POWERS] = {0, 0.70710678}, of_tanh[POWERS] = {0, 0.79788456, 0, 0.03567741},
                        of_clip[POWERS] = {3, 1};
    int32_t factor[FACTORS];
    double number = 1, one = 0;
    const int count = factors_of(trace, node->out[0], factor, 0, &number, 0);
    for (int k = 0; count == 2 && k < 2; k++) {
        const int32_t x = factor[1 - k], by = factor[k];
        const struct pdnn_onnx_node *sigmoid = GIVER(by, "Sigmoid"), *hard = GIVER(by, "HardSigmoid");
        const struct pdnn_onnx_node *clip = GIVER(by, "Clip");
        double low = 1, high = 0;
        if (sigmoid && ID(sigmoid, 0) == x && number == 1)
            return activate(trace, node, "silu", x);
        if (hard && ID(hard, 0) == x && number == 1 && trace->value[by].kind == PDNN_VALUE_DATA)
            return activate(trace, node, "hardswish", x);
        if (is_of(trace, clip, x, of_clip) && fabs(number - 1.0 / 6) < 1e-6 && clip->proto->n_input == 3 &&
            pdnn_numbers_scalar(pdnn_trace_in(trace, clip, 1), &low) && low == 0 &&
            pdnn_numbers_scalar(pdnn_trace_in(trace, clip, 2), &high) && high == 6)
            return activate(trace, node, "hardswish", x);
        const int32_t inner = with_number(trace, by, "Add", -1, &one);
        if (inner < 0 || one != 1 || fabs(number - 0.5) > 1e-6)
            continue;
        if (is_of(trace, GIVER(inner, "Erf"), x, of_erf))
            return activate(trace, node, "gelu", x);
        if (is_of(trace, GIVER(inner, "Tanh"), x, of_tanh))
            return activate(trace, node, "gelu_tanh", x);
    }
    return false;
}

/* Whether the mean is of each row, which stays as a dimension. */
static bool is_row_mean(const struct pdnn_trace *trace, const struct pdnn_onnx_node *mean) {
    if (!mean || mean->out[0] < 0)
        return false;
    const struct pdnn_value_of *of = pdnn_trace_in(trace, mean, 0), *means = &trace->value[mean->out[0]];
    bool is = of && of->rank > 0 && means->rank == of->rank && means->dim[of->rank - 1] == 1;
    for (int d = 0; is && d + 1 < of->rank; d++)
        is = means->dim[d] == of->dim[d];
    return is;
}

/* The mean of squares that a root is taken of, plus epsilon: Sqrt(Add(ReduceMean(y^2), epsilon)); returns y.
 */
static int32_t root_mean_square(struct pdnn_trace *trace, int32_t id, double *epsilon) {
    const struct pdnn_onnx_node *root = GIVER(id, "Sqrt");
    const int32_t mean_id = root ? with_number(trace, ID(root, 0), "Add", -1, epsilon) : -1;
    const struct pdnn_onnx_node *mean = GIVER(mean_id, "ReduceMean");
    double two = 0;
    if (!is_row_mean(trace, mean))
        return -1;
    const int32_t powered = with_number(trace, ID(mean, 0), "Pow", 1, &two);
    const struct pdnn_onnx_node *square = GIVER(ID(mean, 0), "Mul");
    return powered >= 0 && two == 2 ? powered : square && ID(square, 0) == ID(square, 1) ? ID(square, 0) : -1;
}

/* Whether a weight, or -1 for none, has a value for each entry of a dimension, counted from the last. */
static bool is_along(const struct pdnn_trace *trace, int32_t weight, int from_last, int64_t count) {
    if (weight < 0)
        return true;
    const struct pdnn_value_of *value = &trace->value[weight];
    return pdnn_strided_elements(value) == count &&
           (count == 1 || (value->rank > from_last && value->dim[value->rank - 1 - from_last] == count));
}

/* A norm of x's rows, with these weights; -1: without. */
static bool norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, const char *op, int32_t x,
                 double epsilon, int32_t gamma, int32_t beta) {
    const struct pdnn_value_of in = trace->value[x];
    const int32_t from = in.kind == PDNN_VALUE_DATA ? pdnn_strided_rows(trace, &in) : -1;
    if (from < 0)
        return false;
    const struct pdnn_draft_entry *of = trace->program.entry[from];
    if (!is_along(trace, gamma, 0, of->dim[1]) || !is_along(trace, beta, 0, of->dim[1]))
        return false;
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, op, (int32_t[]){from, -1}, 2, of->dim);
    pdnn_draft_real(entry, "epsilon", (double)(float)epsilon);
    if (gamma < 0)
        pdnn_draft_size(entry, "affine", 0);
    else
        pdnn_draft_weight(entry, "gamma", trace->value[gamma].base);
    if (beta >= 0)
        pdnn_draft_weight(entry, "beta", trace->value[beta].base);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, in.rank, in.dim, OUT(0));
}

/* A norm of heads, side by side in wider rows, of which the other columns stay; false where it is none. */
static bool head_norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int32_t x, double epsilon,
                      int32_t gamma) {
    struct pdnn_value_of in = trace->value[x];
    struct pdnn_side_by_side beside;
    if (in.kind != PDNN_VALUE_DATA || in.rank != 3 || in.fine || in.factor != 1 || gamma < 0 ||
        trace->program.entry[in.base]->rank != 2 || (in.dim[1] > 1 && in.stride[1] != in.dim[2]) ||
        in.stride[2] != 1 || in.stride[0] != trace->program.entry[in.base]->dim[1] ||
        !is_along(trace, gamma, 0, in.dim[2]))
        return false;
    struct pdnn_value_of heads = in; /* (1, heads, rows, width) */
    heads.rank = 4;
    memcpy(heads.dim, (int64_t[]){1, in.dim[1], in.dim[0], in.dim[2]}, 4 * sizeof *in.dim);
    memcpy(heads.stride, (int64_t[]){0, in.dim[2], in.stride[0], 1}, 4 * sizeof *in.dim);
    if (!pdnn_products_beside(trace, &heads, &beside))
        return false;
    const struct pdnn_draft_entry *of = trace->program.entry[beside.entry];
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, pdnn_op_rmsnorm.name, (int32_t[]){beside.entry, -1}, 2, of->dim);
    pdnn_draft_size(entry, "heads", beside.heads);
    pdnn_draft_size(entry, "width", beside.width);
    pdnn_draft_size(entry, "column", beside.column);
    pdnn_draft_real(entry, "epsilon", (double)(float)epsilon);
    pdnn_draft_weight(entry, "gamma", trace->value[gamma].base);
    in.base = trace->program.n_entries - 1;
    in.offset = beside.column;
    in.node = node;
    *OUT(0) = in;
    return true;
}

/* The d = x - mean(x) of a layer norm before its weights, d / sqrt(mean(d^2) + epsilon); returns x. */
static int32_t centered(struct pdnn_trace *trace, int32_t id, double *epsilon) {
    const struct pdnn_onnx_node *ratio = GIVER(id, "Div");
    const struct pdnn_onnx_node *minus = ratio ? GIVER(ID(ratio, 0), "Sub") : NULL;
    const struct pdnn_onnx_node *mean = minus ? GIVER(ID(minus, 1), "ReduceMean") : NULL;
    return is_row_mean(trace, mean) && ID(mean, 0) == ID(minus, 0) &&
                   root_mean_square(trace, ID(ratio, 1), epsilon) == ID(ratio, 0)
               ? ID(minus, 0)
               : -1;
}

/* x / sqrt(mean(x^2) + epsilon), also as a product with the reciprocal; returns x. */
static int32_t scaled(struct pdnn_trace *trace, int32_t id, double *epsilon) {
    const struct pdnn_onnx_node *ratio = GIVER(id, "Div"), *product = GIVER(id, "Mul");
    if (ratio && root_mean_square(trace, ID(ratio, 1), epsilon) == ID(ratio, 0))
        return ID(ratio, 0);
    for (int k = 0; product && k < 2; k++) {
        const struct pdnn_onnx_node *inverse = GIVER(ID(product, k), "Reciprocal");
        double one = 1;
        const int32_t root = inverse ? ID(inverse, 0) : with_number(trace, ID(product, k), "Div", 0, &one);
        if (root >= 0 && one == 1 && root_mean_square(trace, root, epsilon) == ID(product, 1 - k))
            return ID(product, 1 - k);
    }
    return -1;
}

static bool is_weight(const struct pdnn_trace *trace, int32_t id) {
    return id >= 0 && trace->value[id].kind == PDNN_VALUE_WEIGHT;
}

/* Of a product with a weight: the weight, and the other factor. */
static int32_t weighted(const struct pdnn_trace *trace, int32_t id, int32_t *weight) {
    const struct pdnn_onnx_node *product = GIVER(id, "Mul");
    for (int k = 0; product && k < 2; k++)
        if (is_weight(trace, ID(product, k))) {
            *weight = ID(product, k);
            return ID(product, 1 - k);
        }
    return -1;
}

/* PyTorch's group norm: Reshape to (N, G, -1), InstanceNormalization, Reshape back, weights. */
static bool match_group_norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int32_t normed,
                             int32_t gamma, int32_t beta) {
    const struct pdnn_onnx_node *back = GIVER(normed, "Reshape"),
                                *inner = back ? GIVER(ID(back, 0), "InstanceNormalization") : NULL;
    const struct pdnn_onnx_node *to = inner ? GIVER(ID(inner, 0), "Reshape") : NULL;
    const struct pdnn_value_of *x = to ? pdnn_trace_in(trace, to, 0) : NULL,
                               *groups = inner ? pdnn_trace_in(trace, inner, 0) : NULL;
    if (!x || x->kind != PDNN_VALUE_DATA || x->rank != 4 || groups->rank != 3 ||
        trace->value[normed].rank != 4 || groups->dim[0] != x->dim[0] || x->dim[1] % groups->dim[1] ||
        memcmp(trace->value[normed].dim, x->dim, 4 * sizeof *x->dim) != 0 ||
        !is_along(trace, gamma, 2, x->dim[1]) || !is_along(trace, beta, 2, x->dim[1]))
        return false;
    const int64_t n_groups = groups->dim[1];
    const int32_t from = pdnn_strided_entry(trace, x, 4, x->dim);
    if (from < 0)
        return false;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "groupnorm", (int32_t[]){from, -1}, 4, x->dim);
    pdnn_draft_size(entry, "groups", n_groups);
    pdnn_draft_real(entry, "epsilon", pdnn_trace_real(inner, "epsilon", 1e-5));
    return pdnn_strided_of(trace, trace->program.n_entries - 1, 4, x->dim, OUT(0));
}

bool pdnn_pattern_match(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const char *op = node->proto->op_type;
    double epsilon = 0;
    int32_t gamma = -1, x;
    if (strcmp(op, "Mul") == 0 || strcmp(op, "Div") == 0) {
        if (match_activation(trace, node))
            return true;
        x = strcmp(op, "Div") == 0 ? centered(trace, node->out[0], &epsilon) : -1;
        if (x >= 0)
            return norm(trace, node, "layernorm", x, epsilon, -1, -1);
        const int32_t inner = weighted(trace, node->out[0], &gamma);
        x = inner >= 0 ? scaled(trace, inner, &epsilon) : -1;
        return x >= 0 && (head_norm(trace, node, x, epsilon, gamma) ||
                          norm(trace, node, "rmsnorm", x, epsilon, gamma, -1));
    }
    for (int k = 0; strcmp(op, "Add") == 0 && k < 2; k++) {
        const int32_t inner = is_weight(trace, ID(node, k)) ? weighted(trace, ID(node, 1 - k), &gamma) : -1;
        if (inner < 0)
            continue;
        x = centered(trace, inner, &epsilon);
        if (x >= 0)
            return norm(trace, node, "layernorm", x, epsilon, gamma, ID(node, k));
        return match_group_norm(trace, node, inner, gamma, ID(node, k));
    }
    return strcmp(op, "Add") == 0 && pdnn_rotary_match(trace, node);
}
