#include "gen/where/where_text.h"

#include "base/memory.h"
#include "base/units.h"
#include "gen/where/expression.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 64, NAME_TEXT = 64 };
static const char preset[] = "preset";

/* One pair of parentheses. */
struct level {
    bool is_call;
    bool compared; /* a comparison was seen since the last and, or, ?, : or comma */
    int open_nots; /* "not" extends to the next and, or, ?, : or the end of the level */
};

struct translator {
    const struct pdnn_yaml *node;
    const struct pdnn_family_def *family;
    struct pdnn_where_text *text;
    const char *at;
    struct level levels[LEVELS];
    int depth;
    bool after_call;                     /* the last token is a function's name */
    const struct pdnn_param_def *number; /* the last name that stands for one; NULL: none, or a cost */
    struct pdnn_err *err;
};

const struct pdnn_where_cost pdnn_where_costs[] = {
    {"params", offsetof(struct pdnn_totals, params), "elements of all weights"},
    {"flop_count", offsetof(struct pdnn_totals, cost.flop_count), "FLOP of one step"},
    {"in_bounds_flop_count", offsetof(struct pdnn_totals, cost.in_bounds_flop_count),
     "the same without what falls on padding"},
    {"byte_count", offsetof(struct pdnn_totals, cost.byte_count), "compulsory traffic of one step in bytes"},
    {"weight_bytes", offsetof(struct pdnn_totals, cost.weight_bytes), "the part of it that is weights"},
    {"activation_bytes", offsetof(struct pdnn_totals, cost.activation_bytes),
     "the part of it that is inputs, labels and activations"},
    {"memory_bytes", offsetof(struct pdnn_totals, memory_bytes),
     "peak memory of the tensors and of what ops need beside them"},
    {"memory", offsetof(struct pdnn_totals, memory_bytes), "the same"},
};
const size_t pdnn_where_n_costs = sizeof pdnn_where_costs / sizeof *pdnn_where_costs;
_Static_assert(sizeof pdnn_where_costs / sizeof *pdnn_where_costs <= PDNN_WHERE_SLOTS - PDNN_WHERE_COSTS,
               "a slot per cost");
_Static_assert(PDNN_WHERE_SLOTS <= 64, "a bit per slot");

enum operator_kind {
    OP_ARITHMETIC,
    OP_COMPARISON,
    OP_LOGIC,
    OP_BRANCH,
    OP_COMMA,
    OP_OPEN,
    OP_CLOSE,
    OP_WRONG
};

/* Longest first. */
static const struct operator_row {
    const char *text, *out;
    enum operator_kind kind;
} operators[] = {
    {"==", "==", OP_COMPARISON}, {"!=", "!=", OP_COMPARISON},  {"<=", "<=", OP_COMPARISON},
    {">=", ">=", OP_COMPARISON}, {"&&", "&&", OP_LOGIC},       {"||", "||", OP_LOGIC},
    {"<", "<", OP_COMPARISON},   {">", ">", OP_COMPARISON},    {"+", "+", OP_ARITHMETIC},
    {"-", "-", OP_ARITHMETIC},   {"*", "*", OP_ARITHMETIC},    {"/", "/", OP_ARITHMETIC},
    {"^", "^", OP_ARITHMETIC},   {"?", "?", OP_BRANCH},        {":", ":", OP_BRANCH},
    {",", ",", OP_COMMA},        {"(", "(", OP_OPEN},          {")", ")", OP_CLOSE},
    {"=", "==", OP_WRONG},       {"&", "and", OP_WRONG},       {"|", "or", OP_WRONG},
    {"!", "not", OP_WRONG},      {"%", "mod(a, b)", OP_WRONG},
};

static size_t offset_of(const struct translator *t, const char *at) {
    return (size_t)(at - t->node->text);
}

static void emit(struct translator *t, const char *source, const char *out) {
    struct pdnn_where_text *text = t->text;
    text->tokens = pdnn_grow(text->tokens, &text->token_room, text->n_tokens, sizeof *text->tokens);
    text->tokens[text->n_tokens++] = (struct pdnn_where_token){text->out.length, offset_of(t, source)};
    pdnn_str_printf(&text->out, "%s ", out);
}

static struct level *level(struct translator *t) {
    return &t->levels[t->depth];
}

/* Closes what "not" opened at this level. */
static void close_nots(struct translator *t) {
    for (; level(t)->open_nots; level(t)->open_nots--)
        emit(t, t->at, "))");
}

static enum pdnn_status note_comparison(struct translator *t, const char *at) {
    if (level(t)->compared)
        return pdnn_yaml_fail_in(t->node, offset_of(t, at), t->err,
                                 "where chains comparisons, write them apart: 1 < x and x < 5");
    level(t)->compared = true;
    return PDNN_OK;
}

static enum pdnn_status open_level(struct translator *t) {
    if (t->depth + 1 == LEVELS)
        return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err, "where nests deeper than %d levels",
                                 LEVELS);
    emit(t, t->at, "(");
    t->depth++;
    *level(t) = (struct level){.is_call = t->after_call};
    return PDNN_OK;
}

static enum pdnn_status close_level(struct translator *t) {
    if (!t->depth)
        return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err,
                                 "where closes a parenthesis it did not open");
    close_nots(t);
    t->depth--;
    emit(t, t->at, ")");
    return PDNN_OK;
}

static enum pdnn_status translate_operator(struct translator *t, const struct operator_row *row) {
    enum pdnn_status status = PDNN_OK;
    if (row->kind == OP_WRONG)
        return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err, "where has '%s', write '%s'",
                                 row->text, row->out);
    if (row->kind == OP_COMMA && !level(t)->is_call)
        return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err,
                                 "where has a comma outside of a function");
    if (row->kind == OP_OPEN) {
        status = open_level(t);
    } else if (row->kind == OP_CLOSE) {
        status = close_level(t);
    } else {
        if (row->kind == OP_COMPARISON)
            status = note_comparison(t, t->at);
        if (row->kind == OP_LOGIC || row->kind == OP_BRANCH || row->kind == OP_COMMA) {
            close_nots(t);
            level(t)->compared = false;
        }
        emit(t, t->at, row->out);
    }
    t->after_call = false;
    t->at += strlen(row->text);
    return status;
}

static size_t number_length(const char *text) {
    size_t length = strspn(text, "0123456789.");
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 1 : 0;
        size_t digits = strspn(text + length + 1 + sign, "0123456789");
        length += digits ? 1 + sign + digits : 0;
    }
    return length;
}

/* 1e9, 0.5, 8GiB. */
static enum pdnn_status translate_number(struct translator *t) {
    char copy[NAME_TEXT];
    size_t digits = number_length(t->at), length = digits;
    while (isalnum((unsigned char)t->at[length]) || t->at[length] == '_')
        length++;
    size_t kept = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, t->at, kept);
    copy[kept] = 0;
    double number;
    uint64_t bytes;
    bool has_unit = length > digits;
    if (length > kept || !(has_unit ? pdnn_parse_bytes(copy, &bytes) : pdnn_parse_double(copy, &number)))
        return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err,
                                 "where has '%s', expected a number such as 64, 1e9, 100MB or 8GiB", copy);
    /* Copied as written: printf's decimal point depends on the locale. */
    if (has_unit)
        snprintf(copy, sizeof copy, "%" PRIu64, bytes);
    emit(t, t->at, copy);
    t->after_call = false;
    t->at += length;
    return PDNN_OK;
}

static size_t word_length(const char *text, bool with_hyphen) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
           (with_hyphen && text[length] == '-'))
        length++;
    return length;
}

static void copy_word(const char *text, size_t length, char *word, size_t room) {
    if (length >= room)
        length = room - 1;
    memcpy(word, text, length);
    word[length] = 0;
}

/* What stands behind a name that is compared with words: "== relu". */
struct compared {
    const char *op, *at; /* of the operator and of the word */
    bool equal, unequal; /* the operator is == or != */
    char word[NAME_TEXT];
    size_t length;
};

static struct compared read_compared(const struct translator *t) {
    struct compared c = {.op = t->at + strspn(t->at, " \n")};
    c.equal = strncmp(c.op, "==", 2) == 0;
    c.unequal = strncmp(c.op, "!=", 2) == 0;
    c.at = c.op + strspn(c.op, "<>=!");
    c.at += strspn(c.at, " \n");
    c.length = word_length(c.at, true);
    copy_word(c.at, c.length, c.word, sizeof c.word);
    return c;
}

/* "activation == relu": the word is looked up in the parameter's own choices. */
static enum pdnn_status translate_choice(struct translator *t, const struct pdnn_param_def *def, int slot,
                                         const char *start) {
    const struct compared c = read_compared(t);
    char out[NAME_TEXT];
    if (!c.equal && !c.unequal)
        return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err,
                                 "where uses %s, which is a word: compare it as in %s == %s", def->name,
                                 def->name, def->choices[0]);
    struct pdnn_value value;
    struct pdnn_err why = {0};
    if (pdnn_param_parse(def, c.word, &value, &why) != PDNN_OK)
        return pdnn_yaml_fail_in(t->node, offset_of(t, c.at), t->err, "where: %s", why.text);
    enum pdnn_status status = note_comparison(t, c.op);
    snprintf(out, sizeof out, "(v%d %s %d)", slot, c.equal ? "==" : "!=", (int)value.number);
    emit(t, start, out);
    t->text->used |= UINT64_C(1) << slot;
    t->at = c.at + c.length;
    return status;
}

static enum pdnn_status add_test(struct translator *t, const struct compared *c,
                                 const struct pdnn_where_test *test, const char *start) {
    char out[NAME_TEXT];
    if (t->text->n_tests == PDNN_WHERE_TESTS)
        return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err,
                                 "where compares more than %d lists and presets", PDNN_WHERE_TESTS);
    enum pdnn_status status = note_comparison(t, c->op);
    snprintf(out, sizeof out, "(l%zu == %d)", t->text->n_tests, c->equal);
    emit(t, start, out);
    t->text->tests[t->text->n_tests++] = *test;
    t->at = c->at + c->length;
    return status;
}

/* Whether text is "3-4" or longer, without spaces, or the parameter's word. */
static bool is_list(const struct pdnn_param_def *def, const char *text) {
    size_t digits = strspn(text, "0123456789"), length = word_length(text, true);
    bool has_more = digits && text[digits] == '-' && isdigit((unsigned char)text[digits + 1]);
    return has_more || (def->word && strlen(def->word) == length && strncmp(def->word, text, length) == 0);
}

/* "blocks == 3-4-6-3" or "padding == same"; *done is false if the name stands for a number. */
static enum pdnn_status translate_list(struct translator *t, const struct pdnn_param_def *def, int slot,
                                       const char *start, bool *done) {
    const struct compared c = read_compared(t);
    *done = strspn(c.op, "<>=!") && is_list(def, c.at);
    if (!*done)
        return PDNN_OK;
    if (!c.equal && !c.unequal)
        return pdnn_yaml_fail_in(t->node, offset_of(t, c.op), t->err,
                                 "where compares %s with %s, which takes == or !=", def->name, c.word);
    struct pdnn_where_test test = {.slot = slot};
    struct pdnn_err why = {0};
    if (pdnn_param_parse(def, c.word, &test.list, &why) != PDNN_OK)
        return pdnn_yaml_fail_in(t->node, offset_of(t, c.at), t->err, "where: %s", why.text);
    return add_test(t, &c, &test, start);
}

/* "preset == resnet50", of the entry's family. */
static enum pdnn_status translate_preset(struct translator *t, const char *start) {
    const struct compared c = read_compared(t);
    const struct pdnn_where_test test = {.preset = pdnn_preset_find(t->family, c.word)};
    struct pdnn_err why = {0};
    if (!c.equal && !c.unequal)
        return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err,
                                 "where uses preset, which is a word: compare it as in preset == resnet50");
    if (test.preset)
        return add_test(t, &c, &test, start);
    pdnn_preset_unknown(t->family, c.word, &why);
    return pdnn_yaml_fail_in(t->node, offset_of(t, c.at), t->err, "where: %s", why.text);
}

/* The first of the rows that the word is a choice of, or NULL. */
static const struct pdnn_param_def *find_choice(const struct pdnn_param_def *rows, size_t count,
                                                const char *word) {
    for (size_t i = 0; i < count; i++)
        for (const char *const *choice = rows[i].choices; choice && *choice; choice++)
            if (strcmp(*choice, word) == 0)
                return &rows[i];
    return NULL;
}

static enum pdnn_status unknown_name(struct translator *t, const char *start, const char *name) {
    const struct pdnn_param_def *of = find_choice(t->family->params, t->family->n_params, name);
    of = of ? of : find_choice(pdnn_settings, PDNN_SETTING_COUNT, name);
    if (of)
        return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err,
                                 "where names '%s', which is a word of %s: compare it as in %s == %s", name,
                                 of->name, of->name, name);
    if (t->number == &pdnn_settings[PDNN_SETTING_THREADS] && strcmp(t->number->word, name) == 0)
        return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err,
                                 "where compares threads with '%s', which is a number by then: write it, "
                                 "as in threads == 2",
                                 name);
    const char *words[PDNN_WHERE_SLOTS + PDNN_EXPRESSION_FUNCTIONS + 1];
    size_t count = 0;
    for (size_t i = 0; i < t->family->n_params; i++)
        words[count++] = t->family->params[i].name;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        words[count++] = pdnn_settings[i].name;
    words[count++] = preset;
    for (size_t i = 0; i < pdnn_where_n_costs; i++)
        words[count++] = pdnn_where_costs[i].name;
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS; i++)
        words[count++] = pdnn_expression_functions[i];
    char buffer[PDNN_SUGGESTION_TEXT], none[128];
    const char *hint = pdnn_suggest(buffer, name, words, count);
    snprintf(none, sizeof none, ", which is not a hyper-parameter of %.40s, run setting, cost or function",
             t->family->name);
    return pdnn_yaml_fail_in(t->node, offset_of(t, start), t->err, "where names '%s'%s", name,
                             *hint ? hint : none);
}

/* The slot of a name and its row (NULL for a cost), or -1. */
static int find_slot(const struct translator *t, const char *name, const struct pdnn_param_def **def) {
    *def = NULL;
    int index = pdnn_param_find(t->family->params, t->family->n_params, name);
    if (index >= 0) {
        *def = &t->family->params[index];
        return index;
    }
    index = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name);
    if (index >= 0) {
        *def = &pdnn_settings[index];
        return PDNN_WHERE_SETTINGS + index;
    }
    for (size_t i = 0; i < pdnn_where_n_costs; i++) {
        if (strcmp(pdnn_where_costs[i].name, name) == 0)
            return PDNN_WHERE_COSTS + (int)i;
    }
    return -1;
}

/* "not x" becomes (0==(x)) and extends as far as in Python: to the next and, or, ?, or the end. */
static enum pdnn_status translate_word_operator(struct translator *t, const char *start, const char *word,
                                                bool *done) {
    static const struct operator_row and_row = {"and", "&&", OP_LOGIC}, or_row = {"or", "||", OP_LOGIC};
    *done = true;
    t->at = start;
    if (strcmp(word, "and") == 0)
        return translate_operator(t, &and_row);
    if (strcmp(word, "or") == 0)
        return translate_operator(t, &or_row);
    t->at = start + strlen(word);
    *done = strcmp(word, "not") == 0;
    if (*done) {
        emit(t, start, "(0==(");
        level(t)->open_nots++;
        level(t)->compared = false;
    }
    return PDNN_OK;
}

static enum pdnn_status translate_word(struct translator *t) {
    char name[NAME_TEXT], out[NAME_TEXT];
    const char *start = t->at;
    size_t length = word_length(start, false);
    copy_word(start, length, name, sizeof name);
    bool done;
    enum pdnn_status status = translate_word_operator(t, start, name, &done);
    if (done)
        return status;
    t->at = start + length;
    t->after_call = false;
    const struct pdnn_param_def *def;
    int slot = find_slot(t, name, &def);
    if (def && def->type == PDNN_PARAM_CHOICE)
        return translate_choice(t, def, slot, start);
    if (def && def->type == PDNN_PARAM_LIST) {
        status = translate_list(t, def, slot, start, &done);
        if (done)
            return status;
    }
    if (slot < 0 && strcmp(name, preset) == 0)
        return translate_preset(t, start);
    if (slot >= 0) {
        snprintf(out, sizeof out, "v%d", slot);
        emit(t, start, out);
        t->text->used |= UINT64_C(1) << slot;
        t->number = def;
        return PDNN_OK;
    }
    if (t->number && t->number != &pdnn_settings[PDNN_SETTING_THREADS] && t->number->word &&
        strcmp(t->number->word, name) == 0) {
        snprintf(out, sizeof out, "%" PRId64, t->number->word_value);
        emit(t, start, out);
        return PDNN_OK;
    }
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS && !t->after_call; i++)
        t->after_call = strcmp(pdnn_expression_functions[i], name) == 0;
    if (!t->after_call)
        return unknown_name(t, start, name);
    emit(t, start, name);
    return PDNN_OK;
}

static const struct operator_row *find_operator(const char *text) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strncmp(operators[i].text, text, strlen(operators[i].text)) == 0)
            return &operators[i];
    }
    return NULL;
}

static enum pdnn_status translate_next(struct translator *t) {
    if (isdigit((unsigned char)*t->at) || *t->at == '.')
        return translate_number(t);
    if (isalpha((unsigned char)*t->at) || *t->at == '_')
        return translate_word(t);
    const struct operator_row *row = find_operator(t->at);
    if (row)
        return translate_operator(t, row);
    return pdnn_yaml_fail_in(t->node, offset_of(t, t->at), t->err, "where has '%c', which means nothing here",
                             (unsigned char)*t->at < 128 ? *t->at : '?');
}

enum pdnn_status pdnn_where_translate(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                      struct pdnn_where_text *text, struct pdnn_err *err) {
    struct translator t = {.node = node, .family = family, .text = text, .at = node->text, .err = err};
    enum pdnn_status status = PDNN_OK;
    const size_t quote = strcspn(node->text, "\"'`");
    if (node->text[quote])
        return pdnn_yaml_fail_in(node, quote, err, "where has %c, write words without quotes, as in %s == %s",
                                 node->text[quote], pdnn_settings[PDNN_SETTING_MODE].name,
                                 pdnn_settings[PDNN_SETTING_MODE].choices[0]);
    for (t.at += strspn(t.at, " \n"); *t.at && status == PDNN_OK; t.at += strspn(t.at, " \n"))
        status = translate_next(&t);
    if (status == PDNN_OK && t.depth)
        status = pdnn_yaml_fail(node, err, "where does not close %d of its parentheses", t.depth);
    if (status == PDNN_OK)
        close_nots(&t);
    return status;
}

void pdnn_where_text_finish(struct pdnn_where_text *text) {
    pdnn_str_finish(&text->out);
    free(text->tokens);
    *text = (struct pdnn_where_text){0};
}
