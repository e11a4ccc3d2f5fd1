#include "gen/where/expression.h"

#include "base/memory.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Nesting limit for signs, parentheses and branches; each level is a few calls deep. */
enum { DEPTH_MAX = 256, NUMBER_TEXT = 64, LEVELS = 6 };

/* Code for a stack machine: values are pushed, functions pop their arguments. */
struct step {
    enum { PUSH_NUMBER, PUSH_VARIABLE, CALL_ONE, CALL_TWO, JUMP_IF_FALSE, JUMP } kind;
    double number;
    const double *variable;
    double (*one)(double a);
    double (*two)(double a, double b);
    size_t distance; /* jumps: number of steps to skip */
};

struct pdnn_expression {
    struct step *steps;
    size_t n_steps, room;
    double *stack; /* room for n_steps values, which is always enough */
};

struct parser {
    const char *text, *at;
    const struct pdnn_variables *variables;
    struct pdnn_expression *expression;
    int depth;
};

static double negate(double a) {
    return -a;
}

static double round_half_up(double a) {
    return floor(a + 0.5);
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

static double least(double a, double b) {
    return b < a ? b : a;
}

static double greatest(double a, double b) {
    return a < b ? b : a;
}

static double both(double a, double b) {
    return a != 0 && b != 0;
}

static double either(double a, double b) {
    return a != 0 || b != 0;
}

static double is_equal(double a, double b) {
    return a == b;
}

static double is_unequal(double a, double b) {
    return a != b;
}

static double is_less(double a, double b) {
    return a < b;
}

static double is_most(double a, double b) {
    return a <= b;
}

static double is_greater(double a, double b) {
    return a > b;
}

static double is_least(double a, double b) {
    return a >= b;
}

/* Left-associative. The weakest binding comes first; within a level, the longest spelling. */
static const struct operator_row {
    int level;
    const char *text;
    double (*two)(double a, double b);
} operators[] = {
    {0, "||", either},  {1, "&&", both},     {2, "==", is_equal}, {2, "!=", is_unequal},
    {3, "<=", is_most}, {3, ">=", is_least}, {3, "<", is_less},   {3, ">", is_greater},
    {4, "+", add},      {4, "-", subtract},  {5, "*", multiply},  {5, "/", divide},
};

const char *const pdnn_expression_functions[PDNN_EXPRESSION_FUNCTIONS] = {
    "min", "max", "abs", "sqrt", "exp", "ln", "log2", "log10", "rint", "mod"};

/* In the order of pdnn_expression_functions. */
static const struct function_row {
    double (*one)(double a);
    double (*two)(double a, double b);
    bool many; /* takes one or more arguments, combined pairwise */
} functions[PDNN_EXPRESSION_FUNCTIONS] = {
    {NULL, least, true},          {NULL, greatest, true}, {fabs, NULL, false}, {sqrt, NULL, false},
    {exp, NULL, false},           {log, NULL, false},     {log2, NULL, false}, {log10, NULL, false},
    {round_half_up, NULL, false}, {NULL, fmod, false}};

static double run(const struct pdnn_expression *expression, size_t first) {
    double *stack = expression->stack;
    size_t top = 0;
    for (size_t i = first; i < expression->n_steps; i++) {
        const struct step *step = &expression->steps[i];
        switch (step->kind) {
        case PUSH_NUMBER:
            stack[top++] = step->number;
            break;
        case PUSH_VARIABLE:
            stack[top++] = *step->variable;
            break;
        case CALL_ONE:
            stack[top - 1] = step->one(stack[top - 1]);
            break;
        case CALL_TWO:
            top--;
            stack[top - 1] = step->two(stack[top - 1], stack[top]);
            break;
        case JUMP_IF_FALSE:
            i += stack[--top] != 0 ? 0 : step->distance;
            break;
        case JUMP:
            i += step->distance;
            break;
        }
    }
    return stack[0];
}

double pdnn_expression_eval(const struct pdnn_expression *expression) {
    return run(expression, 0);
}

/* Always true, so that it can stand in a chain of what is parsed. */
static bool emit(struct parser *parser, const struct step *step) {
    struct pdnn_expression *expression = parser->expression;
    size_t count = expression->n_steps, room = expression->room;
    expression->steps = pdnn_grow(expression->steps, &room, count, sizeof *expression->steps);
    expression->stack = pdnn_grow(expression->stack, &expression->room, count, sizeof *expression->stack);
    expression->steps[expression->n_steps++] = *step;
    return true;
}

/* If the code emitted since `first` contains no variable, replaces it by its value. */
static bool fold(struct parser *parser, size_t first) {
    struct pdnn_expression *expression = parser->expression;
    for (size_t i = first; i < expression->n_steps; i++) {
        if (expression->steps[i].kind == PUSH_VARIABLE)
            return true;
    }
    double number = run(expression, first);
    expression->n_steps = first;
    return emit(parser, &(struct step){.kind = PUSH_NUMBER, .number = number});
}

static void skip_spaces(struct parser *parser) {
    parser->at += strspn(parser->at, " ");
}

static bool take(struct parser *parser, const char *token) {
    size_t length = strlen(token);
    skip_spaces(parser);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static bool parse_branch(struct parser *parser);
static bool parse_sign(struct parser *parser);

/* Digits, a point, an exponent. */
static bool parse_number(struct parser *parser) {
    char copy[NUMBER_TEXT];
    size_t length = strspn(parser->at, "0123456789.");
    if (length && (parser->at[length] == 'e' || parser->at[length] == 'E')) {
        size_t sign = parser->at[length + 1] == '+' || parser->at[length + 1] == '-';
        size_t digits = strspn(parser->at + length + 1 + sign, "0123456789");
        length += digits ? 1 + sign + digits : 0;
    }
    struct step step = {.kind = PUSH_NUMBER};
    if (!length || length >= sizeof copy)
        return false;
    memcpy(copy, parser->at, length);
    copy[length] = 0;
    if (!pdnn_parse_double(copy, &step.number))
        return false;
    parser->at += length;
    return emit(parser, &step);
}

static bool parse_call(struct parser *parser, const struct function_row *function) {
    size_t first = parser->expression->n_steps, count = 1;
    const struct step call = {
        .kind = function->two ? CALL_TWO : CALL_ONE, .one = function->one, .two = function->two};
    if (!take(parser, "(") || !parse_branch(parser))
        return false;
    for (; (function->many || (function->two && count < 2)) && take(parser, ","); count++) {
        if (!parse_branch(parser) || !emit(parser, &call))
            return false;
    }
    if (!take(parser, ")") || (function->two && !function->many && count != 2))
        return false;
    return (function->two || emit(parser, &call)) && fold(parser, first);
}

/* A variable or a call. */
static bool parse_name(struct parser *parser) {
    size_t length = 0;
    const char *name = parser->at;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    for (const struct pdnn_variables *row = parser->variables; row->kind; row++) {
        size_t number = 0;
        if (name[0] != row->kind || length < 2 || length > 9 || strspn(name + 1, "0123456789") != length - 1)
            continue;
        for (size_t i = 1; i < length; i++)
            number = 10 * number + (size_t)(name[i] - '0');
        if (number >= row->count)
            return false;
        parser->at += length;
        return emit(parser, &(struct step){.kind = PUSH_VARIABLE, .variable = &row->values[number]});
    }
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS; i++) {
        const char *function = pdnn_expression_functions[i];
        if (strlen(function) == length && memcmp(function, name, length) == 0) {
            parser->at += length;
            return parse_call(parser, &functions[i]);
        }
    }
    return false;
}

static bool parse_operand(struct parser *parser) {
    skip_spaces(parser);
    if (isalpha((unsigned char)*parser->at))
        return parse_name(parser);
    if (take(parser, "("))
        return parse_branch(parser) && take(parser, ")");
    return parse_number(parser);
}

/* a ^ b ^ c is a ^ (b ^ c), and the exponent may have a sign. */
static bool parse_power(struct parser *parser) {
    static const struct step power = {.kind = CALL_TWO, .two = pow};
    size_t first = parser->expression->n_steps;
    if (!parse_operand(parser))
        return false;
    if (!take(parser, "^"))
        return true;
    if (++parser->depth > DEPTH_MAX || !parse_sign(parser))
        return false;
    parser->depth--;
    return emit(parser, &power) && fold(parser, first);
}

/* -a ^ b is -(a ^ b). */
static bool parse_sign(struct parser *parser) {
    static const struct step minus = {.kind = CALL_ONE, .one = negate};
    size_t first = parser->expression->n_steps;
    bool is_negative = take(parser, "-");
    if (!is_negative && !take(parser, "+"))
        return parse_power(parser);
    if (++parser->depth > DEPTH_MAX || !parse_sign(parser))
        return false;
    parser->depth--;
    return !is_negative || (emit(parser, &minus) && fold(parser, first));
}

static const struct operator_row *take_operator(struct parser *parser, int level) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].level == level && take(parser, operators[i].text))
            return &operators[i];
    }
    return NULL;
}

static bool parse_level(struct parser *parser, int level) {
    size_t first = parser->expression->n_steps;
    if (level == LEVELS)
        return parse_sign(parser);
    bool parsed = parse_level(parser, level + 1);
    const struct operator_row *row;
    while (parsed && (row = take_operator(parser, level)))
        parsed = parse_level(parser, level + 1) &&
                 emit(parser, &(struct step){.kind = CALL_TWO, .two = row->two}) && fold(parser, first);
    return parsed;
}

/* c ? a : b: jumps over a if c is false, over b otherwise. */
static bool parse_branch(struct parser *parser) {
    struct pdnn_expression *expression = parser->expression;
    size_t first = expression->n_steps;
    if (++parser->depth > DEPTH_MAX || !parse_level(parser, 0))
        return false;
    bool parsed = true;
    if (take(parser, "?")) {
        size_t over_a = expression->n_steps, over_b;
        parsed =
            emit(parser, &(struct step){.kind = JUMP_IF_FALSE}) && parse_branch(parser) && take(parser, ":");
        over_b = expression->n_steps;
        parsed = parsed && emit(parser, &(struct step){.kind = JUMP}) && parse_branch(parser);
        if (parsed) {
            expression->steps[over_a].distance = over_b - over_a;
            expression->steps[over_b].distance = expression->n_steps - over_b - 1;
            parsed = fold(parser, first);
        }
    }
    parser->depth--;
    return parsed;
}

enum pdnn_status pdnn_expression_create(const char *text, const struct pdnn_variables *variables,
                                        struct pdnn_expression **expression, size_t *place,
                                        struct pdnn_err *err) {
    struct parser parser = {.text = text, .at = text, .variables = variables};
    parser.expression = pdnn_alloc(1, sizeof *parser.expression);
    bool parsed = parse_branch(&parser);
    skip_spaces(&parser);
    if (parsed && !*parser.at) {
        *expression = parser.expression;
        return PDNN_OK;
    }
    pdnn_expression_destroy(parser.expression);
    *place = (size_t)(parser.at - text);
    return pdnn_fail(err, PDNN_INVALID, "does not parse");
}

void pdnn_expression_destroy(struct pdnn_expression *expression) {
    if (!expression)
        return;
    free(expression->steps);
    free(expression->stack);
    free(expression);
}
