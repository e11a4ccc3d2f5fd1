#include "gen/where/evaluate.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Code for a stack machine: values are pushed, functions pop their arguments. */
struct step {
    enum { PUSH_NUMBER, PUSH_VARIABLE, CALL_ONE, CALL_TWO, JUMP_IF_FALSE, JUMP } kind;
    double number;
    const double *variable;
    double (*one)(double a);
    double (*two)(double a, double b);
    size_t distance; /* jumps: number of steps to skip */
};

struct pdnn_where_code {
    struct step *steps;
    size_t n_steps, room;
    double *stack; /* room for n_steps values, which is always enough */
};

static double negate(double a) {
    return -a;
}

static double round_half_up(double a) {
    return floor(a + 0.5);
}

static double is_false(double a) {
    return a == 0;
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

/* With the sign of b, as of rationals. */
static double modulo(double a, double b) {
    const double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Operations on one number, and on two; of more than two, pairwise. */
static const struct operation_row {
    double (*one)(double a);
    double (*two)(double a, double b);
} operations[PDNN_EXPRESSION_KIND_COUNT] = {
    [PDNN_EXPRESSION_NEGATE] = {negate, NULL},
    [PDNN_EXPRESSION_NOT] = {is_false, NULL},
    [PDNN_EXPRESSION_OR] = {NULL, either},
    [PDNN_EXPRESSION_AND] = {NULL, both},
    [PDNN_EXPRESSION_EQUAL] = {NULL, is_equal},
    [PDNN_EXPRESSION_UNEQUAL] = {NULL, is_unequal},
    [PDNN_EXPRESSION_LESS] = {NULL, is_less},
    [PDNN_EXPRESSION_AT_MOST] = {NULL, is_most},
    [PDNN_EXPRESSION_GREATER] = {NULL, is_greater},
    [PDNN_EXPRESSION_AT_LEAST] = {NULL, is_least},
    [PDNN_EXPRESSION_ADD] = {NULL, add},
    [PDNN_EXPRESSION_SUBTRACT] = {NULL, subtract},
    [PDNN_EXPRESSION_MULTIPLY] = {NULL, multiply},
    [PDNN_EXPRESSION_DIVIDE] = {NULL, divide},
    [PDNN_EXPRESSION_POWER] = {NULL, pow},
    [PDNN_EXPRESSION_MIN] = {NULL, least},
    [PDNN_EXPRESSION_MAX] = {NULL, greatest},
    [PDNN_EXPRESSION_ABS] = {fabs, NULL},
    [PDNN_EXPRESSION_MOD] = {NULL, modulo},
    [PDNN_EXPRESSION_FLOOR] = {floor, NULL},
    [PDNN_EXPRESSION_CEIL] = {ceil, NULL},
    [PDNN_EXPRESSION_SQRT] = {sqrt, NULL},
    [PDNN_EXPRESSION_EXP] = {exp, NULL},
    [PDNN_EXPRESSION_LN] = {log, NULL},
    [PDNN_EXPRESSION_LOG2] = {log2, NULL},
    [PDNN_EXPRESSION_LOG10] = {log10, NULL},
    [PDNN_EXPRESSION_RINT] = {round_half_up, NULL},
};

bool pdnn_where_has(enum pdnn_expression_kind kind) {
    return kind == PDNN_EXPRESSION_CHOOSE || operations[kind].one || operations[kind].two;
}

static double run(const struct pdnn_where_code *code, size_t first) {
    double *stack = code->stack;
    size_t top = 0;
    for (size_t i = first; i < code->n_steps; i++) {
        const struct step *step = &code->steps[i];
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

double pdnn_where_code_eval(const struct pdnn_where_code *code) {
    return run(code, 0);
}

static void emit(struct pdnn_where_code *code, const struct step *step) {
    size_t room = code->room;
    code->steps = pdnn_grow(code->steps, &room, code->n_steps, sizeof *code->steps);
    code->stack = pdnn_grow(code->stack, &code->room, code->n_steps, sizeof *code->stack);
    code->steps[code->n_steps++] = *step;
}

static void emit_number(struct pdnn_where_code *code, double number) {
    emit(code, &(struct step){.kind = PUSH_NUMBER, .number = number});
}

/* If the code emitted since `first` contains no variable, replaces it by its value. */
static void fold(struct pdnn_where_code *code, size_t first) {
    for (size_t i = first; i < code->n_steps; i++)
        if (code->steps[i].kind == PUSH_VARIABLE)
            return;
    const double number = run(code, first);
    code->n_steps = first;
    emit_number(code, number);
}

static void emit_leaf(struct pdnn_where_code *code, const struct pdnn_where_leaf *leaf) {
    if (!leaf->variable) {
        emit_number(code, leaf->number);
        return;
    }
    emit(code, &(struct step){.kind = PUSH_VARIABLE, .variable = leaf->variable});
    if (leaf->compare) {
        emit_number(code, leaf->number);
        emit(code, &(struct step){.kind = CALL_TWO, .two = operations[leaf->compare].two});
    }
}

static enum pdnn_status compile(struct pdnn_where_code *code, const struct pdnn_expression *node,
                                const struct pdnn_where_binder *binder, struct pdnn_err *err);

/* c ? a : b: jumps over a if c is false, over b otherwise. */
static enum pdnn_status compile_choice(struct pdnn_where_code *code, const struct pdnn_expression *node,
                                       const struct pdnn_where_binder *binder, struct pdnn_err *err) {
    size_t jumps[2];
    enum pdnn_status status = compile(code, node->operands[0], binder, err);
    for (int i = 0; i < 2 && status == PDNN_OK; i++) {
        jumps[i] = code->n_steps;
        emit(code, &(struct step){.kind = i ? JUMP : JUMP_IF_FALSE});
        status = compile(code, node->operands[i + 1], binder, err);
    }
    if (status != PDNN_OK)
        return status;
    code->steps[jumps[0]].distance = jumps[1] - jumps[0];
    code->steps[jumps[1]].distance = code->n_steps - jumps[1] - 1;
    return PDNN_OK;
}

static enum pdnn_status compile_operation(struct pdnn_where_code *code, const struct pdnn_expression *node,
                                          const struct pdnn_where_binder *binder, struct pdnn_err *err) {
    const struct operation_row *row = &operations[node->kind];
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < node->n_operands && status == PDNN_OK; i++) {
        status = compile(code, node->operands[i], binder, err);
        if (status == PDNN_OK && row->two && i)
            emit(code, &(struct step){.kind = CALL_TWO, .two = row->two});
    }
    if (status == PDNN_OK && row->one)
        emit(code, &(struct step){.kind = CALL_ONE, .one = row->one});
    return status;
}

static enum pdnn_status compile(struct pdnn_where_code *code, const struct pdnn_expression *node,
                                const struct pdnn_where_binder *binder, struct pdnn_err *err) {
    const size_t first = code->n_steps;
    struct pdnn_where_leaf leaf = {.is_taken = true, .number = node->real};
    enum pdnn_status status = PDNN_OK;
    if (node->kind == PDNN_EXPRESSION_NUMBER)
        leaf.number = pdnn_rational_to_double(node->number);
    else if (node->kind != PDNN_EXPRESSION_REAL) {
        leaf = (struct pdnn_where_leaf){0};
        status = binder->bind(binder->context, node, &leaf, err);
    }
    if (status != PDNN_OK)
        return status;
    if (leaf.is_taken) {
        emit_leaf(code, &leaf);
        return PDNN_OK;
    }
    assert(pdnn_where_has(node->kind));
    status = node->kind == PDNN_EXPRESSION_CHOOSE ? compile_choice(code, node, binder, err)
                                                  : compile_operation(code, node, binder, err);
    if (status == PDNN_OK)
        fold(code, first);
    return status;
}

enum pdnn_status pdnn_where_compile(const struct pdnn_expression *tree,
                                    const struct pdnn_where_binder *binder, struct pdnn_where_code **code,
                                    struct pdnn_err *err) {
    struct pdnn_where_code *made = pdnn_alloc(1, sizeof *made);
    enum pdnn_status status = compile(made, tree, binder, err);
    if (status == PDNN_OK)
        *code = made;
    else
        pdnn_where_code_destroy(made);
    return status;
}

void pdnn_where_code_destroy(struct pdnn_where_code *code) {
    if (!code)
        return;
    free(code->steps);
    free(code->stack);
    free(code);
}
