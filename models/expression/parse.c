#include "models/expression/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 30, LEVELS = 5, COMPARISONS = 2 };
static const char blanks[] = " \t\r\n";

struct parser {
    const char *text, *at; /* at the next token */
    const struct pdnn_bare_words *bare;
    struct pdnn_arena *arena;
    int base;  /* what nodes' offsets begin with */
    int depth; /* of the recursion; each level of the grammar that nests is a few calls deep */
    size_t *place;
    struct pdnn_err *err;
};

/* Left-associative; the weakest binding comes first, and within a level the longest spelling. */
static const struct operator_row {
    int level;
    const char *text;
    enum pdnn_expression_kind kind;
} operators[] = {
    {0, "or", PDNN_EXPRESSION_OR},
    {0, "||", PDNN_EXPRESSION_OR},
    {1, "and", PDNN_EXPRESSION_AND},
    {1, "&&", PDNN_EXPRESSION_AND},
    {COMPARISONS, "==", PDNN_EXPRESSION_EQUAL},
    {COMPARISONS, "!=", PDNN_EXPRESSION_UNEQUAL},
    {COMPARISONS, "<=", PDNN_EXPRESSION_AT_MOST},
    {COMPARISONS, ">=", PDNN_EXPRESSION_AT_LEAST},
    {COMPARISONS, "<", PDNN_EXPRESSION_LESS},
    {COMPARISONS, ">", PDNN_EXPRESSION_GREATER},
    {3, "+", PDNN_EXPRESSION_ADD},
    {3, "-", PDNN_EXPRESSION_SUBTRACT},
    {4, "*", PDNN_EXPRESSION_MULTIPLY},
    {4, "/", PDNN_EXPRESSION_DIVIDE},
};

/* What other languages write, and what to write here; the first row that fits. */
static const struct hint_row {
    const char *text, *hint;
} hints[] = {
    {"==", ""},
    {"!=", ""},
    {"&&", ""},
    {"||", ""},
    {"//", ", write floor(a / b)"},
    {"**", ", write a ^ b"},
    {"%", ", write mod(a, b)"},
    {"=", ", compare with '=='"},
    {"!", ", write not"},
    {"&", ", write and"},
    {"|", ", write or"},
    {",", ", a comma separates what a function or a list takes"},
};

static const struct {
    const char *unit;
    int64_t factor;
} units[] = {{"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000},
             {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

/* NULL, so that it can be returned. */
__attribute__((format(printf, 3, 4))) static struct pdnn_expression *fail_at(struct parser *p, const char *at,
                                                                             const char *format, ...) {
    char message[PDNN_ERR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    *p->place = (size_t)(at - p->text);
    pdnn_fail(p->err, PDNN_INVALID, "%s", message);
    return NULL;
}

/* The letters that a message shows, and none of them cut in two. */
static int shown(const char *at) {
    int length = 0;
    while (at[length] && at[length] != '\n' && length < SHOWN)
        length++;
    while (length && at[length] && ((unsigned char)at[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* What stands here is nothing that can follow; expected: what could, or NULL. */
static struct pdnn_expression *fail_here(struct parser *p, const char *expected) {
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof hints / sizeof *hints && !hint; i++)
        if (strncmp(hints[i].text, p->at, strlen(hints[i].text)) == 0)
            hint = hints[i].hint;
    if (!*p->at && !expected)
        return fail_at(p, p->at, "ends too early");
    if (!*p->at)
        return fail_at(p, p->at, "expected '%s' at the end", expected);
    if (expected && (!hint || !*hint))
        return fail_at(p, p->at, "expected '%s' before '%.*s'", expected, shown(p->at), p->at);
    return fail_at(p, p->at, "does not parse at '%.*s'%s", shown(p->at), p->at, hint ? hint : "");
}

static void skip(struct parser *p, size_t length) {
    p->at += length;
    p->at += strspn(p->at, blanks);
}

/* Takes a token; a word only as a whole one, and no operator that hints know by a longer spelling. */
static bool take(struct parser *p, const char *token) {
    const size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    if (isalpha((unsigned char)*token) && (isalnum((unsigned char)p->at[length]) || p->at[length] == '_'))
        return false;
    if ((*token == '/' || *token == '*') && p->at[length] == *token)
        return false;
    skip(p, length);
    return true;
}

static bool need(struct parser *p, const char *token) {
    return take(p, token) || fail_here(p, token);
}

static struct pdnn_expression *make(struct parser *p, enum pdnn_expression_kind kind, const char *at,
                                    const struct pdnn_expression *const *operands, size_t n_operands) {
    struct pdnn_expression *made =
        pdnn_expression_make(p->arena, kind, p->base + (int)(at - p->text), operands, n_operands);
    return made ? made
                : fail_at(p, at, "nests deeper than %d levels, of which each + in a + b + c is one",
                          PDNN_EXPRESSION_DEPTH);
}

static struct pdnn_expression *make_text(struct parser *p, enum pdnn_expression_kind kind, const char *at,
                                         const char *text, size_t length) {
    struct pdnn_expression *made = make(p, kind, at, NULL, 0);
    made->text = pdnn_arena_printf(p->arena, "%.*s", (int)length, text);
    return made;
}

/* Before a part that nests; p->depth-- behind it. */
static bool enter(struct parser *p) {
    return ++p->depth <= PDNN_EXPRESSION_DEPTH ||
           fail_at(p, p->at, "nests deeper than %d levels", PDNN_EXPRESSION_DEPTH);
}

static struct pdnn_expression *parse_branch(struct parser *p);
static struct pdnn_expression *parse_level(struct parser *p, int level);
static struct pdnn_expression *parse_sign(struct parser *p);

/* 1e9, .5, 8GiB. What begins with a digit and is none of these, such as 3x3, is no number. */
static struct pdnn_expression *parse_number(struct parser *p) {
    char copy[PDNN_LITERAL_TEXT];
    const char *start = p->at;
    size_t digits = strspn(start, "0123456789."), length;
    if (start[digits] == 'e' || start[digits] == 'E') {
        const size_t sign = start[digits + 1] == '+' || start[digits + 1] == '-';
        const size_t exponent = strspn(start + digits + 1 + sign, "0123456789");
        digits += exponent ? 1 + sign + exponent : 0;
    }
    for (length = digits; isalnum((unsigned char)start[length]) || start[length] == '_';)
        length++;
    snprintf(copy, sizeof copy, "%.*s", (int)(digits < sizeof copy ? digits : 0), start);
    struct pdnn_expression *made =
        pdnn_expression_make_number(p->arena, copy, p->base + (int)(start - p->text));
    bool is_known = length == digits;
    for (size_t i = 0; made && i < sizeof units / sizeof *units && !is_known; i++)
        is_known = strlen(units[i].unit) == length - digits &&
                   memcmp(units[i].unit, start + digits, length - digits) == 0 &&
                   made->kind == PDNN_EXPRESSION_NUMBER &&
                   pdnn_rational_multiply(made->number, pdnn_rational_whole(units[i].factor), &made->number);
    if (!made || !is_known)
        return fail_at(p, start, "expected a number such as 64, 1e9, 100MB or 8GiB, but got '%.*s'",
                       (int)(length < SHOWN ? length : SHOWN), start);
    skip(p, length);
    return made;
}

static struct pdnn_expression *parse_word(struct parser *p) {
    const char *start = p->at, *end = strchr(start + 1, *start);
    if (!end)
        return fail_at(p, start, "the word that begins with %c has no end", *start);
    const size_t length = (size_t)(end - start - 1);
    if (!pdnn_expression_is_word(start + 1, length))
        return fail_at(p, start, "a word stands on one line and has letters that one can see");
    skip(p, length + 2);
    return make_text(p, PDNN_EXPRESSION_WORD, start, start + 1, length);
}

/* One expression or more, and the bracket behind them; the one before them is taken. */
static bool parse_operands(struct parser *p, const char *close, const struct pdnn_expression ***operands,
                           size_t *count) {
    size_t room = 0;
    *operands = NULL;
    for (*count = 0; *count == 0 || take(p, ","); ++*count) {
        *operands = pdnn_arena_grow(p->arena, *operands, &room, *count, sizeof **operands);
        if (!((*operands)[*count] = parse_branch(p)))
            return false;
    }
    return need(p, close);
}

static struct pdnn_expression *fail_function(struct parser *p, const char *start, size_t length) {
    char name[PDNN_LITERAL_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
    const char *words[PDNN_EXPRESSION_KIND_COUNT];
    size_t count = 0;
    for (size_t i = PDNN_EXPRESSION_FIRST_FUNCTION; i < PDNN_EXPRESSION_KIND_COUNT; i++)
        words[count++] = pdnn_expression_rows[i].head;
    snprintf(name, sizeof name, "%.*s", (int)length, start);
    return fail_at(p, start, "no function '%s'%s", name, pdnn_suggest(suggestion, name, words, count));
}

/* A call, of which the name and the parenthesis are taken. */
static struct pdnn_expression *parse_call(struct parser *p, const char *start, size_t length) {
    const struct pdnn_expression **operands = NULL;
    size_t count = 0, kind = PDNN_EXPRESSION_FIRST_FUNCTION;
    while (kind < PDNN_EXPRESSION_KIND_COUNT && (strlen(pdnn_expression_rows[kind].head) != length ||
                                                 memcmp(pdnn_expression_rows[kind].head, start, length) != 0))
        kind++;
    if (kind == PDNN_EXPRESSION_KIND_COUNT)
        return fail_function(p, start, length);
    if (!take(p, ")") && !parse_operands(p, ")", &operands, &count))
        return NULL;
    const struct pdnn_expression_row *row = &pdnn_expression_rows[kind];
    if (count < row->least || count > row->most)
        return fail_at(p, start, "%s takes %zu argument%s%s, not %zu", row->head, row->least,
                       row->least > 1 ? "s" : "", row->most > row->least ? " or more" : "", count);
    return make(p, (enum pdnn_expression_kind)kind, start, operands, count);
}

static struct pdnn_expression *parse_atom(struct parser *p) {
    const char *start = p->at;
    const struct pdnn_expression **operands;
    size_t length = pdnn_expression_name_length(start), count;
    if (isdigit((unsigned char)*start) || *start == '.')
        return parse_number(p);
    if (*start == '\'' || *start == '"')
        return parse_word(p);
    if (length) {
        skip(p, length);
        return take(p, "(") ? parse_call(p, start, length)
                            : make_text(p, PDNN_EXPRESSION_NAME, start, start, length);
    }
    if (take(p, "(")) {
        struct pdnn_expression *inner = parse_branch(p);
        return inner && need(p, ")") ? inner : NULL;
    }
    if (take(p, "["))
        return parse_operands(p, "]", &operands, &count)
                   ? make(p, PDNN_EXPRESSION_LIST, start, operands, count)
                   : NULL;
    if (*start && !strchr("+-*/^()<>?:,.[]=%!&|", *start) && !isalpha((unsigned char)*start)) {
        const bool is_ascii = (unsigned char)*start < 128 && isprint((unsigned char)*start);
        return fail_at(p, start, "has '%c', which means nothing here", is_ascii ? *start : '?');
    }
    return fail_here(p, NULL);
}

static struct pdnn_expression *parse_field(struct parser *p, const char *at, struct pdnn_expression *of) {
    char name[PDNN_LITERAL_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
    const size_t length = pdnn_expression_name_length(p->at);
    if (!length)
        return fail_here(p, NULL);
    snprintf(name, sizeof name, "%.*s", (int)length, p->at);
    for (size_t i = 0; i < PDNN_FIELD_COUNT; i++) {
        if (strcmp(pdnn_field_names[i], name) != 0)
            continue;
        skip(p, length);
        struct pdnn_expression *made =
            make(p, PDNN_EXPRESSION_FIELD, at, (const struct pdnn_expression *const[]){of}, 1);
        if (made)
            made->field = (enum pdnn_field)i;
        return made;
    }
    const char *hint = pdnn_suggest(suggestion, name, pdnn_field_names, PDNN_FIELD_COUNT);
    return fail_at(p, p->at, "no dimension '%s'%s", name,
                   *hint ? hint
                         : ": an image has images, channels, height and width, others have rows and columns");
}

/* x, x[i], x.channels */
static struct pdnn_expression *parse_postfix(struct parser *p) {
    struct pdnn_expression *made = parse_atom(p);
    while (made) {
        const char *at = p->at;
        if (take(p, ".")) {
            made = parse_field(p, at, made);
        } else if (take(p, "[")) {
            struct pdnn_expression *index = parse_branch(p);
            if (!index || !need(p, "]"))
                return NULL;
            made =
                make(p, PDNN_EXPRESSION_INDEX, at, (const struct pdnn_expression *const[]){made, index}, 2);
        } else {
            break;
        }
    }
    return made;
}

/* a ^ b ^ c is a ^ (b ^ c), and the exponent may have a sign. */
static struct pdnn_expression *parse_power(struct parser *p) {
    struct pdnn_expression *base = parse_postfix(p);
    const char *at = p->at;
    if (!base || !take(p, "^"))
        return base;
    struct pdnn_expression *exponent = enter(p) ? parse_sign(p) : NULL;
    p->depth--;
    return exponent ? make(p, PDNN_EXPRESSION_POWER, at,
                           (const struct pdnn_expression *const[]){base, exponent}, 2)
                    : NULL;
}

/* -a ^ b is -(a ^ b), and `not` extends as far as in Python: to the next and, or, ?, or the end. */
static struct pdnn_expression *parse_sign(struct parser *p) {
    const char *at = p->at;
    const bool is_not = take(p, "not"), is_negative = !is_not && take(p, "-");
    if (!is_not && !is_negative && !take(p, "+"))
        return parse_power(p);
    if (!enter(p))
        return NULL;
    struct pdnn_expression *inner = is_not ? parse_level(p, COMPARISONS) : parse_sign(p);
    p->depth--;
    if (!inner || (!is_not && !is_negative))
        return inner;
    return make(p, is_not ? PDNN_EXPRESSION_NOT : PDNN_EXPRESSION_NEGATE, at,
                (const struct pdnn_expression *const[]){inner}, 1);
}

static const struct operator_row *take_operator(struct parser *p, int level) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].level == level && take(p, operators[i].text))
            return &operators[i];
    return NULL;
}

/* The right side of an operator. */
static struct pdnn_expression *parse_right(struct parser *p, int level, const struct pdnn_expression *left) {
    const bool may_be_word = level == COMPARISONS && p->bare && left->kind == PDNN_EXPRESSION_NAME;
    const char *start = p->at;
    const size_t length = may_be_word ? p->bare->length(p->bare->context, left->text, start) : 0;
    if (!length)
        return parse_level(p, level + 1);
    skip(p, length);
    return make_text(p, PDNN_EXPRESSION_WORD, start, start, length);
}

static struct pdnn_expression *parse_level(struct parser *p, int level) {
    if (level == LEVELS)
        return parse_sign(p);
    struct pdnn_expression *left = parse_level(p, level + 1);
    for (int count = 0; left; count++) {
        const char *at = p->at;
        const struct operator_row *row = take_operator(p, level);
        if (!row)
            break;
        if (level == COMPARISONS && count)
            return fail_at(p, at, "compares twice, write a < b and b < c");
        struct pdnn_expression *right = parse_right(p, level, left);
        if (!right)
            return NULL;
        left = make(p, row->kind, at, (const struct pdnn_expression *const[]){left, right}, 2);
    }
    return left;
}

static struct pdnn_expression *parse_branch(struct parser *p) {
    struct pdnn_expression *made = enter(p) ? parse_level(p, 0) : NULL;
    const char *at = p->at;
    if (made && take(p, "?")) {
        const struct pdnn_expression *yes = parse_branch(p);
        const struct pdnn_expression *no = yes && need(p, ":") ? parse_branch(p) : NULL;
        made = no ? make(p, PDNN_EXPRESSION_CHOOSE, at,
                         (const struct pdnn_expression *const[]){made, yes, no}, 3)
                  : NULL;
    }
    p->depth--;
    return made;
}

enum pdnn_status pdnn_expression_parse(const char *text, int base, const struct pdnn_bare_words *bare,
                                       struct pdnn_arena *arena, const struct pdnn_expression **tree,
                                       size_t *place, struct pdnn_err *err) {
    struct parser p = {
        .text = text, .at = text, .base = base, .bare = bare, .arena = arena, .place = place, .err = err};
    skip(&p, 0);
    const struct pdnn_expression *parsed = parse_branch(&p);
    if (parsed && *p.at)
        parsed = fail_here(&p, NULL);
    if (!parsed)
        return PDNN_INVALID;
    *tree = parsed;
    return PDNN_OK;
}
