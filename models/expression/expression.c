#include "models/expression/expression.h"

#include "base/units.h"
#include "base/visible.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pdnn_field_names[PDNN_FIELD_COUNT] = {
    "size", "matrices", "rows", "columns", "images", "channels", "height", "width", "features", "inputs"};

const struct pdnn_expression_row pdnn_expression_rows[PDNN_EXPRESSION_KIND_COUNT] = {
    [PDNN_EXPRESSION_LIST] = {"list", 1, SIZE_MAX},
    [PDNN_EXPRESSION_INDEX] = {"[]", 2, 2},
    [PDNN_EXPRESSION_FIELD] = {NULL, 1, 1},
    [PDNN_EXPRESSION_CHOOSE] = {"?", 3, 3},
    [PDNN_EXPRESSION_NEGATE] = {"-", 1, 1},
    [PDNN_EXPRESSION_NOT] = {"not", 1, 1},
    [PDNN_EXPRESSION_OR] = {"or", 2, 2},
    [PDNN_EXPRESSION_AND] = {"and", 2, 2},
    [PDNN_EXPRESSION_EQUAL] = {"==", 2, 2},
    [PDNN_EXPRESSION_UNEQUAL] = {"!=", 2, 2},
    [PDNN_EXPRESSION_LESS] = {"<", 2, 2},
    [PDNN_EXPRESSION_AT_MOST] = {"<=", 2, 2},
    [PDNN_EXPRESSION_GREATER] = {">", 2, 2},
    [PDNN_EXPRESSION_AT_LEAST] = {">=", 2, 2},
    [PDNN_EXPRESSION_ADD] = {"+", 2, 2},
    [PDNN_EXPRESSION_SUBTRACT] = {"-", 2, 2},
    [PDNN_EXPRESSION_MULTIPLY] = {"*", 2, 2},
    [PDNN_EXPRESSION_DIVIDE] = {"/", 2, 2},
    [PDNN_EXPRESSION_POWER] = {"^", 2, 2},
    [PDNN_EXPRESSION_MIN] = {"min", 1, SIZE_MAX},
    [PDNN_EXPRESSION_MAX] = {"max", 1, SIZE_MAX},
    [PDNN_EXPRESSION_ABS] = {"abs", 1, 1},
    [PDNN_EXPRESSION_MOD] = {"mod", 2, 2},
    [PDNN_EXPRESSION_FLOOR] = {"floor", 1, 1},
    [PDNN_EXPRESSION_CEIL] = {"ceil", 1, 1},
    [PDNN_EXPRESSION_DIVISIBLE] = {"divisible", 2, 2},
    [PDNN_EXPRESSION_LEN] = {"len", 1, 1},
    [PDNN_EXPRESSION_SUM] = {"sum", 1, 1},
    [PDNN_EXPRESSION_SQRT] = {"sqrt", 1, 1},
    [PDNN_EXPRESSION_EXP] = {"exp", 1, 1},
    [PDNN_EXPRESSION_LN] = {"ln", 1, 1},
    [PDNN_EXPRESSION_LOG2] = {"log2", 1, 1},
    [PDNN_EXPRESSION_LOG10] = {"log10", 1, 1},
    [PDNN_EXPRESSION_RINT] = {"rint", 1, 1},
};

struct pdnn_expression *pdnn_expression_make(struct pdnn_arena *arena, enum pdnn_expression_kind kind,
                                             int offset, const struct pdnn_expression *const *operands,
                                             size_t n_operands) {
    int depth = 0;
    for (size_t i = 0; i < n_operands; i++)
        depth = operands[i]->depth > depth ? operands[i]->depth : depth;
    if (depth >= PDNN_EXPRESSION_DEPTH)
        return NULL;
    struct pdnn_expression *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    *made = (struct pdnn_expression){
        .kind = kind, .offset = offset, .depth = depth + 1, .n_operands = n_operands};
    if (n_operands) {
        made->operands = pdnn_arena_alloc(arena, n_operands, sizeof *made->operands);
        memcpy(made->operands, operands, n_operands * sizeof *made->operands);
    }
    return made;
}

/* "12.50e-3" as "125e-4", in which nothing is said that another text could say too; false for 0, for an
 * exponent of five digits and for what is not a number. */
static bool normalize_literal(const char *text, char normal[PDNN_LITERAL_TEXT + 16]) {
    size_t length = 0, end = 0, behind_point = 0;
    bool has_point = false;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !has_point); text++) {
        has_point = has_point || *text == '.';
        if (*text == '.' || (*text == '0' && length == 0)) {
            behind_point += has_point && *text == '0';
            continue;
        }
        behind_point += has_point;
        normal[length++] = *text;
        end = *text == '0' ? end : length;
    }
    const char *digits = text + (*text != 0);
    digits += *digits == '-' || *digits == '+';
    if (!end || (*text && *text != 'e' && *text != 'E') || strlen(digits) > 4)
        return false;
    snprintf(normal + end, 12, "e%d", (*text ? atoi(text + 1) : 0) + (int)(length - end) - (int)behind_point);
    return true;
}

struct pdnn_expression *pdnn_expression_make_number(struct pdnn_arena *arena, const char *text, int offset) {
    struct pdnn_expression node = {.kind = PDNN_EXPRESSION_NUMBER, .offset = offset, .depth = 1};
    if (!pdnn_rational_parse(text, &node.number)) {
        char normal[PDNN_LITERAL_TEXT + 16];
        const bool is_plain = isdigit((unsigned char)*text) || *text == '.';
        node.kind = PDNN_EXPRESSION_REAL;
        if (!is_plain || strlen(text) >= PDNN_LITERAL_TEXT || !pdnn_parse_double(text, &node.real) ||
            node.real == 0 || !normalize_literal(text, normal) || strlen(normal) >= PDNN_LITERAL_TEXT)
            return NULL;
        node.text = pdnn_arena_strdup(arena, normal);
    }
    struct pdnn_expression *made = pdnn_expression_make(arena, node.kind, offset, NULL, 0);
    *made = node;
    return made;
}

bool pdnn_expression_is_word(const char *text, size_t length) {
    for (size_t i = 0, letter; i < length; i += letter) {
        letter = pdnn_visible_letter(text + i, length - i);
        if (!letter)
            return false;
    }
    return !memchr(text, '\'', length) || !memchr(text, '"', length);
}

size_t pdnn_expression_name_length(const char *text) {
    static const char *const reserved[] = {"and", "or", "not"};
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' ||
           (length && isdigit((unsigned char)text[length])))
        length++;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strlen(reserved[i]) == length && memcmp(reserved[i], text, length) == 0)
            return 0;
    return length;
}

bool pdnn_expression_is_equal(const struct pdnn_expression *a, const struct pdnn_expression *b) {
    if (a->kind != b->kind || a->n_operands != b->n_operands || a->field != b->field)
        return false;
    if (a->kind == PDNN_EXPRESSION_NUMBER && pdnn_rational_compare(a->number, b->number) != 0)
        return false;
    if (a->text && strcmp(a->text, b->text) != 0)
        return false;
    for (size_t i = 0; i < a->n_operands; i++)
        if (!pdnn_expression_is_equal(a->operands[i], b->operands[i]))
            return false;
    return true;
}

void pdnn_expression_write(const struct pdnn_expression *expression, struct pdnn_str *out) {
    char number[PDNN_RATIONAL_TEXT];
    if (expression->kind == PDNN_EXPRESSION_NUMBER) {
        pdnn_str_printf(out, "%s", pdnn_rational_format(number, expression->number));
    } else if (expression->kind == PDNN_EXPRESSION_WORD) {
        const char quote = strchr(expression->text, '\'') ? '"' : '\'';
        pdnn_str_printf(out, "%c%s%c", quote, expression->text, quote);
    } else if (expression->text) {
        pdnn_str_printf(out, "%s", expression->text);
    } else {
        const char *head = pdnn_expression_rows[expression->kind].head;
        pdnn_str_printf(out, "(%s%s", head ? "" : ".", head ? head : pdnn_field_names[expression->field]);
        for (size_t i = 0; i < expression->n_operands; i++) {
            pdnn_str_append(out, " ", 1);
            pdnn_expression_write(expression->operands[i], out);
        }
        pdnn_str_append(out, ")", 1);
    }
}

static struct pdnn_expression *read_node(const char **text, int depth, struct pdnn_arena *arena);

/* -3/4, 17 or 5e-30. */
static struct pdnn_expression *read_number(const char **text, struct pdnn_arena *arena) {
    char copy[PDNN_LITERAL_TEXT + 16], again[PDNN_RATIONAL_TEXT];
    const size_t length = strspn(*text, "-/0123456789e");
    if (length >= sizeof copy)
        return NULL;
    memcpy(copy, *text, length);
    copy[length] = 0;
    *text += length;
    if (strchr(copy, 'e')) {
        struct pdnn_expression *real = pdnn_expression_make_number(arena, copy, -1);
        return real && real->kind == PDNN_EXPRESSION_REAL && strcmp(real->text, copy) == 0 ? real : NULL;
    }
    struct pdnn_rational number = {0, 1};
    char *slash = strchr(copy, '/');
    if (slash)
        *slash = 0;
    if (!pdnn_parse_i64(copy, &number.numerator) ||
        (slash && !pdnn_parse_i64(slash + 1, &number.denominator)) ||
        !pdnn_rational_make(number.numerator, number.denominator, &number))
        return NULL;
    const char *normal = pdnn_rational_format(again, number);
    if (strlen(normal) != length || memcmp(normal, *text - length, length) != 0)
        return NULL;
    struct pdnn_expression *made = pdnn_expression_make(arena, PDNN_EXPRESSION_NUMBER, -1, NULL, 0);
    made->number = number;
    return made;
}

static struct pdnn_expression *make_text(struct pdnn_arena *arena, enum pdnn_expression_kind kind,
                                         const char *text, size_t length) {
    struct pdnn_expression *made = pdnn_expression_make(arena, kind, -1, NULL, 0);
    char *copy = pdnn_arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    made->text = copy;
    return made;
}

static struct pdnn_expression *read_word(const char **text, struct pdnn_arena *arena) {
    const char quote = **text, *word = *text + 1, *end = strchr(word, quote);
    const size_t length = end ? (size_t)(end - word) : 0;
    if (!end || !pdnn_expression_is_word(word, length) || (quote == '"' && !memchr(word, '\'', length)))
        return NULL;
    *text = end + 1;
    return make_text(arena, PDNN_EXPRESSION_WORD, word, length);
}

/* The kind whose head that is and that takes so many operands; _KIND_COUNT if there is none. */
static enum pdnn_expression_kind find_kind(const char *head, size_t length, size_t n_operands,
                                           enum pdnn_field *field) {
    *field = 0;
    for (; length && *head == '.' && *field < PDNN_FIELD_COUNT; ++*field)
        if (strlen(pdnn_field_names[*field]) == length - 1 && n_operands == 1 &&
            memcmp(pdnn_field_names[*field], head + 1, length - 1) == 0)
            return PDNN_EXPRESSION_FIELD;
    for (size_t i = 0; i < PDNN_EXPRESSION_KIND_COUNT; i++) {
        const struct pdnn_expression_row *row = &pdnn_expression_rows[i];
        if (row->head && strlen(row->head) == length && memcmp(row->head, head, length) == 0 &&
            n_operands >= row->least && n_operands <= row->most)
            return (enum pdnn_expression_kind)i;
    }
    return PDNN_EXPRESSION_KIND_COUNT;
}

/* (head operand ... operand) */
static struct pdnn_expression *read_operation(const char **text, int depth, struct pdnn_arena *arena) {
    const char *head = *text + 1;
    const struct pdnn_expression **operands = NULL;
    size_t length = strcspn(head, " "), count = 0, room = 0;
    for (*text = head + length; **text == ' '; count++) {
        operands = pdnn_arena_grow(arena, operands, &room, count, sizeof *operands);
        ++*text;
        operands[count] = read_node(text, depth + 1, arena);
        if (!operands[count])
            return NULL;
    }
    enum pdnn_field field;
    const enum pdnn_expression_kind kind = find_kind(head, length, count, &field);
    if (**text != ')' || kind == PDNN_EXPRESSION_KIND_COUNT)
        return NULL;
    ++*text;
    struct pdnn_expression *made = pdnn_expression_make(arena, kind, -1, operands, count);
    if (made && kind == PDNN_EXPRESSION_FIELD)
        made->field = field;
    return made;
}

static struct pdnn_expression *read_node(const char **text, int depth, struct pdnn_arena *arena) {
    const size_t length = pdnn_expression_name_length(*text);
    if (depth > PDNN_EXPRESSION_DEPTH)
        return NULL;
    if (**text == '(')
        return read_operation(text, depth, arena);
    if (**text == '\'' || **text == '"')
        return read_word(text, arena);
    if (!length)
        return read_number(text, arena);
    *text += length;
    return make_text(arena, PDNN_EXPRESSION_NAME, *text - length, length);
}

enum pdnn_status pdnn_expression_read(const char **text, struct pdnn_arena *arena,
                                      const struct pdnn_expression **expression, struct pdnn_err *err) {
    const char *at = *text;
    const struct pdnn_expression *read = read_node(&at, 1, arena);
    if (!read)
        return pdnn_fail(err, PDNN_INVALID, "not an expression in prefix text, after %zu bytes",
                         (size_t)(at - *text));
    *text = at;
    *expression = read;
    return PDNN_OK;
}
