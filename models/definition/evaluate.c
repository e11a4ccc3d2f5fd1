/* Exact arithmetic on rationals; words, lists and tensors beside it. */
#include "models/definition/message.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* For one graph: a tenth of a second of arithmetic, and values of lists that are made anew. */
enum { EVALUATED_MAX = 1 << 22, LISTED_MAX = 1 << 18 };

static struct pdnn_datum number_of(struct pdnn_rational number) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = number};
}

static struct pdnn_datum whole_of(int64_t number) {
    return number_of(pdnn_rational_whole(number));
}

static struct pdnn_datum real_of(double real) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_REAL, .real = real};
}

/* What messages call an operand: its name, if it is one. */
static const char *name_of(const struct pdnn_expression *expression) {
    return expression->kind == PDNN_EXPRESSION_NAME ? expression->text : "it";
}

int64_t pdnn_inputs_of(const struct pdnn_build *build, uint32_t tensor) {
    const struct pdnn_graph *graph = build->graph;
    for (size_t i = graph->n_nodes; i-- > build->first_node;) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (node->output[0] != tensor)
            continue;
        for (int k = 0; k < node->n_inputs && k < PDNN_OPERANDS; k++) {
            const struct pdnn_operand *row = &node->op->operands[k];
            const struct pdnn_tensor *weight = pdnn_node_in(graph, node, k);
            if (row->kind == PDNN_OPERAND_WEIGHT &&
                (row->range == PDNN_RANGE_HE || row->range == PDNN_RANGE_INIT))
                return pdnn_tensor_elements(weight) / weight->dim[0];
        }
        return 0;
    }
    return 0;
}

static bool overflows(struct pdnn_build *build, const struct pdnn_term *term) {
    return pdnn_build_fail(build, term->from->offset, "the result has more than 63 bits");
}

/* What the term gives, where it is, or in *made. NULL after an error. */
static const struct pdnn_datum *value_of(struct pdnn_build *build, const struct pdnn_term *term,
                                         struct pdnn_datum *made) {
    const struct pdnn_datum *datum = pdnn_term_known(build, term);
    return datum ? datum : pdnn_term_evaluate(build, term, made) ? made : NULL;
}

/* A list of one number is that number. NULL after an error. */
static const struct pdnn_datum *as_number(struct pdnn_build *build, const struct pdnn_term *term,
                                          const struct pdnn_datum *datum) {
    char kind[PDNN_DATUM_TEXT];
    if (datum->kind == PDNN_DATUM_LIST && datum->list->count == 1)
        datum = &datum->list->at[0];
    if (datum->kind == PDNN_DATUM_NUMBER || datum->kind == PDNN_DATUM_REAL)
        return datum;
    pdnn_build_fail(build, term->from->offset, "expected a number, %s is %s%s", name_of(term->from),
                    pdnn_datum_kind(build, datum, kind),
                    datum->kind == PDNN_DATUM_LIST ? ": take one with [i]" : "");
    return NULL;
}

static const struct pdnn_datum *number_in(struct pdnn_build *build, const struct pdnn_term *term,
                                          struct pdnn_datum *made) {
    const struct pdnn_datum *datum = value_of(build, term, made);
    return datum ? as_number(build, term, datum) : NULL;
}

static double real_value(const struct pdnn_datum *datum) {
    return datum->kind == PDNN_DATUM_REAL ? datum->real : pdnn_rational_to_double(datum->number);
}

static bool is_true(const struct pdnn_datum *datum) {
    return datum->kind == PDNN_DATUM_REAL ? datum->real != 0 : datum->number.numerator != 0;
}

static bool real_arithmetic(struct pdnn_build *build, const struct pdnn_term *term, double a, double b,
                            struct pdnn_datum *datum) {
    switch (term->from->kind) {
    case PDNN_EXPRESSION_ADD:
        *datum = real_of(a + b);
        return true;
    case PDNN_EXPRESSION_SUBTRACT:
        *datum = real_of(a - b);
        return true;
    case PDNN_EXPRESSION_MULTIPLY:
        *datum = real_of(a * b);
        return true;
    case PDNN_EXPRESSION_DIVIDE:
        *datum = real_of(a / b);
        return true;
    case PDNN_EXPRESSION_POWER:
        *datum = real_of(pow(a, b));
        return true;
    case PDNN_EXPRESSION_MOD:
        *datum = real_of(a - b * floor(a / b));
        return true;
    default:
        return pdnn_build_fail(build, term->from->offset, "needs exact numbers");
    }
}

static bool arithmetic(struct pdnn_build *build, const struct pdnn_term *term, const struct pdnn_datum *a,
                       const struct pdnn_datum *b, struct pdnn_datum *datum) {
    struct pdnn_rational result = {0, 1};
    bool fits = true;
    enum pdnn_expression_kind kind = term->from->kind;
    if (a->kind == PDNN_DATUM_REAL || b->kind == PDNN_DATUM_REAL)
        return real_arithmetic(build, term, real_value(a), real_value(b), datum);
    if ((kind == PDNN_EXPRESSION_DIVIDE || kind == PDNN_EXPRESSION_MOD) && b->number.numerator == 0)
        return pdnn_build_fail(build, term->from->offset, "divides by zero");
    switch (kind) {
    case PDNN_EXPRESSION_ADD:
        fits = pdnn_rational_add(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_SUBTRACT:
        fits = pdnn_rational_subtract(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_MULTIPLY:
        fits = pdnn_rational_multiply(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_DIVIDE:
        fits = pdnn_rational_divide(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_MOD:
        fits = pdnn_rational_mod(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_DIVISIBLE:
        if (pdnn_rational_compare(b->number, pdnn_rational_whole(0)) <= 0)
            return pdnn_build_fail(build, term->from->offset, "divisible needs a multiple above 0");
        fits = pdnn_rational_divisible(a->number, b->number, &result);
        break;
    case PDNN_EXPRESSION_POWER:
        if (!pdnn_rational_is_whole(b->number) || b->number.numerator < 0 || b->number.numerator > 63)
            return pdnn_build_fail(build, term->from->offset, "an exponent is a whole number from 0 to 63");
        fits = pdnn_rational_power(a->number, (unsigned)b->number.numerator, &result);
        break;
    default:
        return pdnn_build_fail(build, term->from->offset, "means nothing for numbers");
    }
    *datum = number_of(result);
    return fits || overflows(build, term);
}

bool pdnn_term_room(struct pdnn_build *build, int32_t place, size_t count) {
    build->listed += count;
    return build->listed <= LISTED_MAX ||
           pdnn_build_fail(build, place, "lists and indexed names have more than %d values in all",
                           LISTED_MAX);
}

/* NULL after an error. */
static struct pdnn_data_list *list_of(struct pdnn_build *build, const struct pdnn_term *term, size_t count) {
    if (!pdnn_term_room(build, term->from->offset, count))
        return NULL;
    struct pdnn_data_list *list =
        pdnn_arena_alloc(build->arena, 1, sizeof *list + count * sizeof(struct pdnn_datum));
    list->count = count;
    return list;
}

static bool is_several(const struct pdnn_datum *datum) {
    return datum->kind == PDNN_DATUM_LIST && datum->list->count != 1;
}

/* By element where one of the two is a list; two lists have equal lengths. */
static bool list_arithmetic(struct pdnn_build *build, const struct pdnn_term *term,
                            const struct pdnn_datum *a, const struct pdnn_datum *b,
                            struct pdnn_datum *datum) {
    size_t count = is_several(a) ? a->list->count : b->list->count;
    if (is_several(a) && is_several(b) && a->list->count != b->list->count)
        return pdnn_build_fail(build, term->from->offset, "lists of %zu and %zu numbers", a->list->count,
                               b->list->count);
    struct pdnn_data_list *list = list_of(build, term, count);
    if (!list)
        return false;
    list->repeats_last = (is_several(a) ? a : b)->list->repeats_last;
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_datum *x = as_number(build, term->operands[0], is_several(a) ? &a->list->at[i] : a);
        const struct pdnn_datum *y =
            x ? as_number(build, term->operands[1], is_several(b) ? &b->list->at[i] : b) : NULL;
        if (!y || !arithmetic(build, term, x, y, &list->at[i]))
            return false;
    }
    *datum = (struct pdnn_datum){.kind = PDNN_DATUM_LIST, .list = list};
    return true;
}

static bool calculate(struct pdnn_build *build, const struct pdnn_term *term, const struct pdnn_datum *a,
                      const struct pdnn_datum *b, struct pdnn_datum *datum) {
    if (is_several(a) || is_several(b))
        return list_arithmetic(build, term, a, b, datum);
    a = as_number(build, term->operands[0], a);
    b = a ? as_number(build, term->operands[1], b) : NULL;
    return b && arithmetic(build, term, a, b, datum);
}

static bool is_equal(const struct pdnn_datum *a, const struct pdnn_datum *b) {
    if (a->kind == PDNN_DATUM_REAL || b->kind == PDNN_DATUM_REAL)
        return a->kind != PDNN_DATUM_WORD && b->kind != PDNN_DATUM_WORD && real_value(a) == real_value(b);
    if (a->kind == PDNN_DATUM_NUMBER && b->kind == PDNN_DATUM_NUMBER)
        return pdnn_rational_compare(a->number, b->number) == 0;
    if (a->kind == PDNN_DATUM_LIST && b->kind == PDNN_DATUM_LIST) {
        bool equal = a->list->count == b->list->count;
        for (size_t i = 0; equal && i < a->list->count; i++)
            equal = is_equal(&a->list->at[i], &b->list->at[i]);
        return equal;
    }
    return a->kind == PDNN_DATUM_WORD && b->kind == PDNN_DATUM_WORD && a->word == b->word;
}

static bool equate(struct pdnn_build *build, const struct pdnn_term *term, const struct pdnn_datum *a,
                   const struct pdnn_datum *b, struct pdnn_datum *datum) {
    char of_a[PDNN_DATUM_TEXT], of_b[PDNN_DATUM_TEXT];
    if ((a->kind == PDNN_DATUM_WORD) != (b->kind == PDNN_DATUM_WORD))
        return pdnn_build_fail(build, term->from->offset, "compares %s with %s",
                               pdnn_datum_kind(build, a, of_a), pdnn_datum_kind(build, b, of_b));
    *datum = whole_of(is_equal(a, b) == (term->from->kind == PDNN_EXPRESSION_EQUAL));
    return true;
}

static bool order_of(struct pdnn_build *build, const struct pdnn_term *term, const struct pdnn_datum *a,
                     const struct pdnn_datum *b, struct pdnn_datum *datum) {
    a = as_number(build, term->operands[0], a);
    b = a ? as_number(build, term->operands[1], b) : NULL;
    if (!b)
        return false;
    int order = a->kind == PDNN_DATUM_NUMBER && b->kind == PDNN_DATUM_NUMBER
                    ? pdnn_rational_compare(a->number, b->number)
                    : (real_value(a) > real_value(b)) - (real_value(a) < real_value(b));
    bool holds = term->from->kind == PDNN_EXPRESSION_LESS      ? order < 0
                 : term->from->kind == PDNN_EXPRESSION_AT_MOST ? order <= 0
                 : term->from->kind == PDNN_EXPRESSION_GREATER ? order > 0
                                                               : order >= 0;
    *datum = whole_of(holds);
    return true;
}

/* Of two whole numbers, as most are. False for other kinds, and where the result is none: the function of the
 * kind knows more. */
static bool combine_whole(enum pdnn_expression_kind kind, int64_t x, int64_t y, struct pdnn_datum *datum) {
    int64_t result = 0;
    bool fits = true;
    switch (kind) {
    case PDNN_EXPRESSION_ADD:
        fits = !__builtin_add_overflow(x, y, &result);
        break;
    case PDNN_EXPRESSION_SUBTRACT:
        fits = !__builtin_sub_overflow(x, y, &result);
        break;
    case PDNN_EXPRESSION_MULTIPLY:
        fits = !__builtin_mul_overflow(x, y, &result);
        break;
    case PDNN_EXPRESSION_EQUAL:
    case PDNN_EXPRESSION_UNEQUAL:
        result = (x == y) == (kind == PDNN_EXPRESSION_EQUAL);
        break;
    case PDNN_EXPRESSION_LESS:
    case PDNN_EXPRESSION_AT_LEAST:
        result = (x < y) == (kind == PDNN_EXPRESSION_LESS);
        break;
    case PDNN_EXPRESSION_GREATER:
    case PDNN_EXPRESSION_AT_MOST:
        result = (x > y) == (kind == PDNN_EXPRESSION_GREATER);
        break;
    default:
        return false;
    }
    *datum = whole_of(result);
    return fits;
}

static bool is_whole(const struct pdnn_datum *datum) {
    return datum->kind == PDNN_DATUM_NUMBER && pdnn_rational_is_whole(datum->number);
}

static bool evaluate_pair(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    struct pdnn_datum made[2];
    const enum pdnn_expression_kind kind = term->from->kind;
    const struct pdnn_datum *a = value_of(build, term->operands[0], &made[0]);
    const struct pdnn_datum *b = a ? value_of(build, term->operands[1], &made[1]) : NULL;
    if (!b)
        return false;
    if (is_whole(a) && is_whole(b) && combine_whole(kind, a->number.numerator, b->number.numerator, datum))
        return true;
    switch (kind) {
    case PDNN_EXPRESSION_EQUAL:
    case PDNN_EXPRESSION_UNEQUAL:
        return equate(build, term, a, b, datum);
    case PDNN_EXPRESSION_LESS:
    case PDNN_EXPRESSION_AT_MOST:
    case PDNN_EXPRESSION_GREATER:
    case PDNN_EXPRESSION_AT_LEAST:
        return order_of(build, term, a, b, datum);
    default:
        return calculate(build, term, a, b, datum);
    }
}

/* The second operand counts only where the first does not decide. */
static bool evaluate_logic(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    bool is_or = term->from->kind == PDNN_EXPRESSION_OR;
    bool holds;
    if (!pdnn_term_holds(build, term->operands[0], &holds) ||
        (holds != is_or && !pdnn_term_holds(build, term->operands[1], &holds)))
        return false;
    *datum = whole_of(holds);
    return true;
}

static bool index_results(struct pdnn_build *build, const struct pdnn_term *term,
                          const struct pdnn_indexed *results, int64_t index, struct pdnn_datum *datum) {
    const char *name = name_of(term->from->operands[0]);
    if (index >= 0 && (uint64_t)index < results->count && results->at[index] != PDNN_NONE) {
        *datum = (struct pdnn_datum){.kind = PDNN_DATUM_TENSOR, .tensor = results->at[index]};
        return true;
    }
    size_t first = 0;
    while (first < results->count && results->at[first] == PDNN_NONE)
        first++;
    if (first == results->count)
        return pdnn_build_fail(build, term->from->offset, "there is no %s[%" PRId64 "] yet", name, index);
    return pdnn_build_fail(build, term->from->offset, "there is no %s[%" PRId64 "], only %s[%zu] to [%zu]",
                           name, index, name, first, results->count - 1);
}

static bool index_tensor(struct pdnn_build *build, const struct pdnn_term *term, uint32_t tensor,
                         int64_t index, struct pdnn_datum *datum) {
    const struct pdnn_tensor *of = &build->graph->tensors[tensor];
    char shape[PDNN_SHAPE_TEXT];
    if (index < 0 || index >= of->rank)
        return pdnn_build_fail(build, term->from->offset, "%s is %s, which has dimensions 0 to %d",
                               name_of(term->from->operands[0]), pdnn_tensor_shape(of, shape), of->rank - 1);
    *datum = whole_of(of->dim[index]);
    return true;
}

static bool evaluate_index(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    struct pdnn_datum made[2];
    char kind[PDNN_DATUM_TEXT];
    const struct pdnn_datum *base = value_of(build, term->operands[0], &made[0]);
    const struct pdnn_datum *at = base ? number_in(build, term->operands[1], &made[1]) : NULL;
    if (!at)
        return false;
    if (at->kind != PDNN_DATUM_NUMBER || !pdnn_rational_is_whole(at->number))
        return pdnn_build_fail(build, term->from->offset, "the index is %s, expected a whole number",
                               pdnn_datum_say(build, at, kind));
    int64_t index = at->number.numerator;
    if (base->kind == PDNN_DATUM_RESULTS)
        return index_results(build, term, base->results, index, datum);
    if (base->kind == PDNN_DATUM_TENSOR)
        return index_tensor(build, term, base->tensor, index, datum);
    if (base->kind != PDNN_DATUM_LIST)
        return pdnn_build_fail(build, term->from->offset, "indexes %s", pdnn_datum_kind(build, base, kind));
    const struct pdnn_data_list *list = base->list;
    if (list->repeats_last && list->count && index >= (int64_t)list->count)
        index = (int64_t)list->count - 1;
    if (index < 0 || (uint64_t)index >= list->count)
        return pdnn_build_fail(build, term->from->offset, "%s has %zu value%s, there is no [%" PRId64 "]",
                               name_of(term->from->operands[0]), list->count, list->count == 1 ? "" : "s",
                               index);
    *datum = list->at[index];
    return true;
}

/* Which dimension a field is, by rank from 1 to 4; -1: none. */
static const signed char field_dim[PDNN_FIELD_COUNT][5] = {
    [PDNN_FIELD_SIZE] = {-1, 0, -1, -1, -1},      [PDNN_FIELD_MATRICES] = {-1, -1, -1, 0, -1},
    [PDNN_FIELD_ROWS] = {-1, -1, 0, 1, -1},       [PDNN_FIELD_COLUMNS] = {-1, -1, 1, 2, -1},
    [PDNN_FIELD_IMAGES] = {-1, -1, -1, -1, 0},    [PDNN_FIELD_CHANNELS] = {-1, -1, -1, -1, 1},
    [PDNN_FIELD_HEIGHT] = {-1, -1, -1, -1, 2},    [PDNN_FIELD_WIDTH] = {-1, -1, -1, -1, 3},
    [PDNN_FIELD_FEATURES] = {-1, -1, -1, -1, -1}, [PDNN_FIELD_INPUTS] = {-1, -1, -1, -1, -1},
};

/* A size of a tensor that a slot has; false for everything else. */
static bool size_of(const struct pdnn_build *build, const struct pdnn_term *term, int64_t *size) {
    if (!term->is_size || build->frame[term->slot].kind != PDNN_DATUM_TENSOR)
        return false;
    const struct pdnn_tensor *tensor = &build->graph->tensors[build->frame[term->slot].tensor];
    int dim = term->dim;
    if (dim < 0 && tensor->rank < 5)
        dim = term->from->field == PDNN_FIELD_FEATURES && tensor->rank == 2
                  ? 1
                  : field_dim[term->from->field][tensor->rank];
    if (dim < 0 || dim >= tensor->rank)
        return false;
    *size = tensor->dim[dim];
    return true;
}

static bool no_field(struct pdnn_build *build, const struct pdnn_term *term,
                     const struct pdnn_tensor *tensor) {
    char shape[PDNN_SHAPE_TEXT], has[PDNN_DATUM_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < PDNN_FIELD_FEATURES; i++)
        if (tensor->rank < 5 && field_dim[i][tensor->rank] >= 0)
            used += (size_t)snprintf(has + used, sizeof has - used, "%s%s", used ? ", " : "",
                                     pdnn_field_names[i]);
    return pdnn_build_fail(build, term->from->offset, "%s is %s, which has no .%s: %s",
                           name_of(term->from->operands[0]), pdnn_tensor_shape(tensor, shape),
                           pdnn_field_names[term->from->field], has);
}

static bool evaluate_field(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    struct pdnn_datum made;
    char kind[PDNN_DATUM_TEXT];
    enum pdnn_field field = term->from->field;
    const struct pdnn_datum *of = value_of(build, term->operands[0], &made);
    if (!of)
        return false;
    if (of->kind != PDNN_DATUM_TENSOR)
        return pdnn_build_fail(build, term->from->offset, "%s is %s, only results and inputs have .%s",
                               name_of(term->from->operands[0]), pdnn_datum_kind(build, of, kind),
                               pdnn_field_names[field]);
    const struct pdnn_tensor *tensor = &build->graph->tensors[of->tensor];
    if (field == PDNN_FIELD_FEATURES) {
        int64_t rows = tensor->dim[0];
        *datum = whole_of(pdnn_tensor_elements(tensor) / (rows ? rows : 1));
        return true;
    }
    if (field == PDNN_FIELD_INPUTS) {
        int64_t inputs = pdnn_inputs_of(build, of->tensor);
        *datum = whole_of(inputs ? inputs : tensor->dim[1]);
        return true;
    }
    int dim = tensor->rank < 5 ? field_dim[field][tensor->rank] : -1;
    if (dim < 0)
        return no_field(build, term, tensor);
    *datum = whole_of(tensor->dim[dim]);
    return true;
}

/* min, max: over all operands, and over a list if it is the only one. */
static bool evaluate_extreme(struct pdnn_build *build, const struct pdnn_term *term,
                             struct pdnn_datum *datum) {
    bool is_max = term->from->kind == PDNN_EXPRESSION_MAX;
    for (size_t i = 0; i < term->from->n_operands; i++) {
        struct pdnn_datum made;
        const struct pdnn_datum *next = number_in(build, term->operands[i], &made);
        if (!next)
            return false;
        bool both = i && next->kind == PDNN_DATUM_NUMBER && datum->kind == PDNN_DATUM_NUMBER;
        int order = !i     ? 0
                    : both ? pdnn_rational_compare(next->number, datum->number)
                           : (real_value(next) > real_value(datum)) - (real_value(next) < real_value(datum));
        if (!i || (is_max ? order > 0 : order < 0))
            *datum = *next;
    }
    return true;
}

static bool sum_up(struct pdnn_build *build, const struct pdnn_term *term, const struct pdnn_datum *list,
                   struct pdnn_datum *datum) {
    struct pdnn_rational sum = {0, 1};
    for (size_t i = 0; i < list->list->count; i++) {
        const struct pdnn_datum *next = as_number(build, term->operands[0], &list->list->at[i]);
        if (!next)
            return false;
        if (next->kind == PDNN_DATUM_REAL)
            return pdnn_build_fail(build, term->from->offset, "needs exact numbers");
        if (!pdnn_rational_add(sum, next->number, &sum))
            return overflows(build, term);
    }
    *datum = number_of(sum);
    return true;
}

static bool round_one(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    const struct pdnn_datum *number = as_number(build, term->operands[0], datum);
    if (!number)
        return false;
    *datum = *number;
    if (datum->kind == PDNN_DATUM_REAL) {
        datum->real = term->from->kind == PDNN_EXPRESSION_FLOOR ? floor(datum->real) : ceil(datum->real);
        return true;
    }
    datum->number = term->from->kind == PDNN_EXPRESSION_FLOOR ? pdnn_rational_floor(datum->number)
                                                              : pdnn_rational_ceil(datum->number);
    return true;
}

static bool evaluate_rounded(struct pdnn_build *build, const struct pdnn_term *term,
                             struct pdnn_datum *datum) {
    if (!pdnn_term_evaluate(build, term->operands[0], datum))
        return false;
    if (!is_several(datum))
        return round_one(build, term, datum);
    struct pdnn_data_list *list = list_of(build, term, datum->list->count);
    if (!list)
        return false;
    list->repeats_last = datum->list->repeats_last;
    for (size_t i = 0; i < list->count; i++) {
        list->at[i] = datum->list->at[i];
        if (!round_one(build, term, &list->at[i]))
            return false;
    }
    datum->list = list;
    return true;
}

static bool evaluate_length(struct pdnn_build *build, const struct pdnn_term *term,
                            struct pdnn_datum *datum) {
    struct pdnn_datum of;
    if (!pdnn_term_evaluate(build, term->operands[0], &of))
        return false;
    if (of.kind == PDNN_DATUM_RESULTS) {
        *datum = whole_of((int64_t)of.results->count);
        return true;
    }
    bool is_list = of.kind == PDNN_DATUM_LIST;
    if (term->from->kind == PDNN_EXPRESSION_SUM) {
        *datum = of;
        return is_list ? sum_up(build, term, &of, datum) : as_number(build, term->operands[0], datum) != NULL;
    }
    *datum = whole_of(is_list ? (int64_t)of.list->count : 1);
    return true;
}

static bool evaluate_call(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    enum pdnn_expression_kind kind = term->from->kind;
    const struct pdnn_datum *number = number_in(build, term->operands[0], datum);
    if (!number)
        return false;
    *datum = *number;
    if (kind == PDNN_EXPRESSION_ABS || kind == PDNN_EXPRESSION_NEGATE) {
        if (datum->kind == PDNN_DATUM_REAL)
            datum->real = kind == PDNN_EXPRESSION_ABS ? fabs(datum->real) : -datum->real;
        else if (!(kind == PDNN_EXPRESSION_ABS ? pdnn_rational_abs : pdnn_rational_negate)(datum->number,
                                                                                           &datum->number))
            return overflows(build, term);
        return true;
    }
    const double x = real_value(datum);
    if (kind == PDNN_EXPRESSION_SQRT && datum->kind == PDNN_DATUM_NUMBER &&
        pdnn_rational_sqrt(datum->number, &datum->number))
        return true;
    double y = kind == PDNN_EXPRESSION_SQRT    ? sqrt(x)
               : kind == PDNN_EXPRESSION_EXP   ? exp(x)
               : kind == PDNN_EXPRESSION_LN    ? log(x)
               : kind == PDNN_EXPRESSION_LOG2  ? log2(x)
               : kind == PDNN_EXPRESSION_LOG10 ? log10(x)
                                               : floor(x + 0.5);
    if (!isfinite(y))
        return pdnn_build_fail(build, term->from->offset, "%s of %.6g is no number",
                               pdnn_expression_rows[kind].head, x);
    *datum = real_of(y);
    return true;
}

static bool evaluate_list(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    struct pdnn_data_list *list = list_of(build, term, term->from->n_operands);
    if (!list)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (!pdnn_term_evaluate(build, term->operands[i], &list->at[i]))
            return false;
    *datum = (struct pdnn_datum){.kind = PDNN_DATUM_LIST, .list = list};
    return true;
}

static bool evaluate_choice(struct pdnn_build *build, const struct pdnn_term *term,
                            struct pdnn_datum *datum) {
    bool holds;
    return pdnn_term_holds(build, term->operands[0], &holds) &&
           pdnn_term_evaluate(build, term->operands[holds ? 1 : 2], datum);
}

static bool evaluate_not(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    bool holds;
    if (!pdnn_term_holds(build, term->operands[0], &holds))
        return false;
    *datum = whole_of(!holds);
    return true;
}

/* By the kind of the expression. */
static bool (*const evaluators[PDNN_EXPRESSION_KIND_COUNT])(struct pdnn_build *, const struct pdnn_term *,
                                                            struct pdnn_datum *) = {
    [PDNN_EXPRESSION_LIST] = evaluate_list,     [PDNN_EXPRESSION_INDEX] = evaluate_index,
    [PDNN_EXPRESSION_FIELD] = evaluate_field,   [PDNN_EXPRESSION_CHOOSE] = evaluate_choice,
    [PDNN_EXPRESSION_NEGATE] = evaluate_call,   [PDNN_EXPRESSION_NOT] = evaluate_not,
    [PDNN_EXPRESSION_OR] = evaluate_logic,      [PDNN_EXPRESSION_AND] = evaluate_logic,
    [PDNN_EXPRESSION_EQUAL] = evaluate_pair,    [PDNN_EXPRESSION_UNEQUAL] = evaluate_pair,
    [PDNN_EXPRESSION_LESS] = evaluate_pair,     [PDNN_EXPRESSION_AT_MOST] = evaluate_pair,
    [PDNN_EXPRESSION_GREATER] = evaluate_pair,  [PDNN_EXPRESSION_AT_LEAST] = evaluate_pair,
    [PDNN_EXPRESSION_ADD] = evaluate_pair,      [PDNN_EXPRESSION_SUBTRACT] = evaluate_pair,
    [PDNN_EXPRESSION_MULTIPLY] = evaluate_pair, [PDNN_EXPRESSION_DIVIDE] = evaluate_pair,
    [PDNN_EXPRESSION_POWER] = evaluate_pair,    [PDNN_EXPRESSION_MIN] = evaluate_extreme,
    [PDNN_EXPRESSION_MAX] = evaluate_extreme,   [PDNN_EXPRESSION_ABS] = evaluate_call,
    [PDNN_EXPRESSION_MOD] = evaluate_pair,      [PDNN_EXPRESSION_FLOOR] = evaluate_rounded,
    [PDNN_EXPRESSION_CEIL] = evaluate_rounded,  [PDNN_EXPRESSION_DIVISIBLE] = evaluate_pair,
    [PDNN_EXPRESSION_LEN] = evaluate_length,    [PDNN_EXPRESSION_SUM] = evaluate_length,
    [PDNN_EXPRESSION_SQRT] = evaluate_call,     [PDNN_EXPRESSION_EXP] = evaluate_call,
    [PDNN_EXPRESSION_LN] = evaluate_call,       [PDNN_EXPRESSION_LOG2] = evaluate_call,
    [PDNN_EXPRESSION_LOG10] = evaluate_call,    [PDNN_EXPRESSION_RINT] = evaluate_call,
};

static bool evaluate_layer(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    int64_t index;
    if (!pdnn_term_whole(build, term->operands[0], "the number of the layer", 0, &index))
        return false;
    *datum = (struct pdnn_datum){.kind = PDNN_DATUM_LAYER, .layer = {term->slot, index}};
    return true;
}

bool pdnn_term_evaluate(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum) {
    const struct pdnn_datum *is = pdnn_term_known(build, term);
    if (is) {
        *datum = *is;
        return true;
    }
    switch (term->kind) {
    case PDNN_TERM_IN:
        *datum = (struct pdnn_datum){.kind = build->in == PDNN_NONE ? PDNN_DATUM_NONE : PDNN_DATUM_TENSOR,
                                     .tensor = build->in};
        return true;
    case PDNN_TERM_INPUT:
        return build->input(build, term->slot, datum);
    case PDNN_TERM_STEM:
        return evaluate_layer(build, term, datum);
    default:
        break;
    }
    if (++build->evaluated > EVALUATED_MAX)
        return pdnn_build_fail(build, term->from->offset, "more than %d expressions are evaluated",
                               EVALUATED_MAX);
    if (!evaluators[term->from->kind](build, term, datum))
        return false;
    if (term->cache)
        build->caches[term->cache - 1] = *datum;
    return true;
}

bool pdnn_term_number(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_rational *number) {
    struct pdnn_datum made;
    const struct pdnn_datum *datum = number_in(build, term, &made);
    if (datum && datum->kind == PDNN_DATUM_REAL)
        return pdnn_build_fail(build, term->from->offset,
                               "%.6g is no exact number; only coefficients may be inexact", datum->real);
    if (datum)
        *number = datum->number;
    return datum;
}

bool pdnn_term_find_whole(struct pdnn_build *build, const struct pdnn_term *term, const char *what,
                          int64_t least, int64_t *number) {
    const struct pdnn_datum *datum = pdnn_term_known(build, term);
    struct pdnn_rational value = {0, 1};
    char expected[32] = "a whole number";
    if (datum && datum->kind == PDNN_DATUM_NUMBER)
        value = datum->number;
    else if (!size_of(build, term, &value.numerator) && !pdnn_term_number(build, term, &value))
        return false;
    *number = value.numerator;
    if (pdnn_rational_is_whole(value) && value.numerator >= least)
        return true;
    if (pdnn_rational_is_whole(value))
        snprintf(expected, sizeof expected, "%" PRId64 " or more", least);
    return pdnn_term_wrong(build, term, what, value, expected);
}

bool pdnn_term_real(struct pdnn_build *build, const struct pdnn_term *term, double *number) {
    struct pdnn_datum made;
    const struct pdnn_datum *datum = number_in(build, term, &made);
    if (datum)
        *number = real_value(datum);
    return datum;
}

bool pdnn_term_holds(struct pdnn_build *build, const struct pdnn_term *term, bool *holds) {
    struct pdnn_datum made;
    const struct pdnn_datum *datum = number_in(build, term, &made);
    if (datum)
        *holds = is_true(datum);
    return datum;
}
