/* Expressions as people write them. */
#include "models/expression/expression.h"

/* How strongly a kind binds; what stands inside must bind at least as strongly, or more on the right side. */
static int strength(const struct pdnn_expression *expression) {
    switch (expression->kind) {
    case PDNN_EXPRESSION_CHOOSE:
        return 0;
    case PDNN_EXPRESSION_OR:
        return 1;
    case PDNN_EXPRESSION_AND:
        return 2;
    case PDNN_EXPRESSION_NOT:
        return 3;
    case PDNN_EXPRESSION_EQUAL:
    case PDNN_EXPRESSION_UNEQUAL:
    case PDNN_EXPRESSION_LESS:
    case PDNN_EXPRESSION_AT_MOST:
    case PDNN_EXPRESSION_GREATER:
    case PDNN_EXPRESSION_AT_LEAST:
        return 4;
    case PDNN_EXPRESSION_ADD:
    case PDNN_EXPRESSION_SUBTRACT:
        return 5;
    case PDNN_EXPRESSION_MULTIPLY:
    case PDNN_EXPRESSION_DIVIDE:
        return 6;
    case PDNN_EXPRESSION_NEGATE:
        return 7;
    case PDNN_EXPRESSION_POWER:
        return 8;
    default:
        return 9;
    }
}

static void say_inside(const struct pdnn_expression *expression, int least, struct pdnn_str *out) {
    const bool needs = strength(expression) < least;
    pdnn_str_printf(out, "%s", needs ? "(" : "");
    pdnn_expression_say(expression, out);
    pdnn_str_printf(out, "%s", needs ? ")" : "");
}

static void say_operands(const struct pdnn_expression *expression, const char *open, const char *close,
                         struct pdnn_str *out) {
    pdnn_str_printf(out, "%s", open);
    for (size_t i = 0; i < expression->n_operands; i++) {
        pdnn_str_printf(out, "%s", i ? ", " : "");
        pdnn_expression_say(expression->operands[i], out);
    }
    pdnn_str_printf(out, "%s", close);
}

static void say_binary(const struct pdnn_expression *expression, struct pdnn_str *out) {
    const int own = strength(expression);
    const bool is_power = expression->kind == PDNN_EXPRESSION_POWER;
    say_inside(expression->operands[0], is_power ? own + 1 : own, out);
    pdnn_str_printf(out, is_power ? "%s" : " %s ", pdnn_expression_rows[expression->kind].head);
    say_inside(expression->operands[1], is_power ? own - 1 : own + 1, out);
}

void pdnn_expression_say(const struct pdnn_expression *expression, struct pdnn_str *out) {
    char number[PDNN_RATIONAL_TEXT];
    const enum pdnn_expression_kind kind = expression->kind;
    if (kind == PDNN_EXPRESSION_NUMBER) {
        pdnn_str_printf(out, "%s", pdnn_rational_format(number, expression->number));
    } else if (kind == PDNN_EXPRESSION_NAME || kind == PDNN_EXPRESSION_REAL) {
        pdnn_str_printf(out, "%s", expression->text);
    } else if (kind == PDNN_EXPRESSION_WORD) {
        pdnn_str_printf(out, "'%s'", expression->text);
    } else if (kind == PDNN_EXPRESSION_LIST) {
        say_operands(expression, "[", "]", out);
    } else if (kind == PDNN_EXPRESSION_INDEX) {
        say_inside(expression->operands[0], 9, out);
        pdnn_str_printf(out, "%s", "[");
        pdnn_expression_say(expression->operands[1], out);
        pdnn_str_printf(out, "%s", "]");
    } else if (kind == PDNN_EXPRESSION_FIELD) {
        say_inside(expression->operands[0], 9, out);
        pdnn_str_printf(out, ".%s", pdnn_field_names[expression->field]);
    } else if (kind == PDNN_EXPRESSION_CHOOSE) {
        say_inside(expression->operands[0], 1, out);
        pdnn_str_printf(out, "%s", " ? ");
        pdnn_expression_say(expression->operands[1], out);
        pdnn_str_printf(out, "%s", " : ");
        pdnn_expression_say(expression->operands[2], out);
    } else if (kind == PDNN_EXPRESSION_NOT || kind == PDNN_EXPRESSION_NEGATE) {
        pdnn_str_printf(out, "%s", kind == PDNN_EXPRESSION_NOT ? "not " : "-");
        say_inside(expression->operands[0], strength(expression), out);
    } else if ((int)kind >= PDNN_EXPRESSION_FIRST_FUNCTION) {
        pdnn_str_printf(out, "%s", pdnn_expression_rows[kind].head);
        say_operands(expression, "(", ")", out);
    } else {
        say_binary(expression, out);
    }
}
