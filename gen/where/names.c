#include "gen/where/names.h"

#include "models/expression/parse.h"
#include "models/zoo/catalog.h"

#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 64 };
static const char preset[] = "preset";

struct binder {
    const struct pdnn_yaml *node;
    const struct pdnn_family_def *family;
    struct pdnn_where_names *names;
    const struct pdnn_param_def *number; /* the last name that stands for one; NULL: none, or a cost */
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

/* The slot of a name and its row (NULL for a cost), or -1. */
static int find_slot(const struct pdnn_family_def *family, const char *name,
                     const struct pdnn_param_def **def) {
    *def = NULL;
    int index = pdnn_param_find(family->params, family->n_params, name);
    if (index >= 0) {
        *def = &family->params[index];
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

/* Whether text is "3-4" or longer, without spaces, or the parameter's word; length: of the text's word. */
static bool is_list(const struct pdnn_param_def *def, const char *text, size_t length) {
    const size_t digits = strspn(text, "0123456789");
    const bool has_more = digits && text[digits] == '-' && isdigit((unsigned char)text[digits + 1]);
    return has_more || (def->word && strlen(def->word) == length && strncmp(def->word, text, length) == 0);
}

/* Words and lists that a name is compared with stand without quotes: bert-base, 3x3, 3-4-6-3. */
static size_t bare_length(const void *family, const char *name, const char *text) {
    const struct pdnn_param_def *def;
    const bool is_preset = find_slot(family, name, &def) < 0 && strcmp(name, preset) == 0;
    size_t length = 0;
    const bool has_dots = def && def->type == PDNN_PARAM_NAME;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '-' ||
           (has_dots && text[length] == '.'))
        length++;
    const bool is_word = is_preset || (def && pdnn_param_is_word(def)) ||
                         (def && def->type == PDNN_PARAM_LIST && is_list(def, text, length));
    return is_word ? length : 0;
}

/* A variable of a slot. */
static const double *use(struct binder *b, int slot) {
    b->names->used |= UINT64_C(1) << slot;
    return &b->names->values[slot];
}

static enum pdnn_status add_test(struct binder *b, const struct pdnn_expression *node,
                                 const struct pdnn_where_test *test, struct pdnn_where_leaf *leaf,
                                 struct pdnn_err *err) {
    struct pdnn_where_names *names = b->names;
    if (names->n_tests == PDNN_WHERE_TESTS)
        return pdnn_yaml_fail_in(b->node, (size_t)node->operands[0]->offset, err,
                                 "where compares more than %d lists and presets", PDNN_WHERE_TESTS);
    names->tests[names->n_tests] = *test;
    *leaf = (struct pdnn_where_leaf){true, &names->holds[names->n_tests++], 1, node->kind};
    return PDNN_OK;
}

/* "activation == relu", "blocks == 3-4-6-3" or "padding == same", whose word is the parameter's. */
static enum pdnn_status bind_word(struct binder *b, const struct pdnn_expression *node, int slot,
                                  const struct pdnn_param_def *def, struct pdnn_where_leaf *leaf,
                                  struct pdnn_err *err) {
    const struct pdnn_expression *word = node->operands[1];
    struct pdnn_where_test test = {.slot = slot};
    struct pdnn_err why = {0};
    if (pdnn_param_parse(def, word->text, &test.list, &why) != PDNN_OK)
        return pdnn_yaml_fail_in(b->node, (size_t)word->offset, err, "where: %s", why.text);
    if (def->type == PDNN_PARAM_LIST || def->type == PDNN_PARAM_NAME)
        return add_test(b, node, &test, leaf, err);
    *leaf = (struct pdnn_where_leaf){true, use(b, slot), (double)test.list.number, node->kind};
    return PDNN_OK;
}

/* "preset == resnet50", of the entry's family. */
static enum pdnn_status bind_preset(struct binder *b, const struct pdnn_expression *node,
                                    struct pdnn_where_leaf *leaf, struct pdnn_err *err) {
    const struct pdnn_expression *word = node->operands[1];
    const struct pdnn_where_test test = {.preset = pdnn_preset_find(b->family, word->text)};
    struct pdnn_err why = {0};
    if (test.preset)
        return add_test(b, node, &test, leaf, err);
    pdnn_preset_unknown(b->family, word->text, &why);
    return pdnn_yaml_fail_in(b->node, (size_t)word->offset, err, "where: %s", why.text);
}

/* A comparison of a name with a word or a list. */
static enum pdnn_status bind_comparison(struct binder *b, const struct pdnn_expression *node,
                                        struct pdnn_where_leaf *leaf, struct pdnn_err *err) {
    const struct pdnn_expression *name = node->operands[0], *word = node->operands[1];
    const bool is_equality = node->kind == PDNN_EXPRESSION_EQUAL || node->kind == PDNN_EXPRESSION_UNEQUAL;
    const struct pdnn_param_def *def;
    if (name->kind != PDNN_EXPRESSION_NAME)
        return PDNN_OK;
    const int slot = find_slot(b->family, name->text, &def);
    const bool is_choice = def ? pdnn_param_is_word(def) : slot < 0 && strcmp(name->text, preset) == 0;
    const bool is_word =
        word->kind == PDNN_EXPRESSION_WORD || (is_choice && word->kind == PDNN_EXPRESSION_NAME);
    if (!is_word || (is_choice && !is_equality))
        return PDNN_OK;
    if (!is_equality)
        return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err,
                                 "where compares %s with %s, which takes == or !=", name->text, word->text);
    return def ? bind_word(b, node, slot, def, leaf, err) : bind_preset(b, node, leaf, err);
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

static enum pdnn_status unknown_name(const struct binder *b, const struct pdnn_expression *node,
                                     struct pdnn_err *err) {
    const char *name = node->text;
    const struct pdnn_param_def *of = find_choice(b->family->params, b->family->n_params, name);
    of = of ? of : find_choice(pdnn_settings, PDNN_SETTING_COUNT, name);
    if (of)
        return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err,
                                 "where names '%s', which is a word of %s: compare it as in %s == %s", name,
                                 of->name, of->name, name);
    if (b->number == &pdnn_settings[PDNN_SETTING_THREADS] && strcmp(b->number->word, name) == 0)
        return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err,
                                 "where compares threads with '%s', which is a number by then: write it, "
                                 "as in threads == 2",
                                 name);
    const char *words[PDNN_WHERE_SLOTS + PDNN_EXPRESSION_KIND_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < b->family->n_params; i++)
        words[count++] = b->family->params[i].name;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        words[count++] = pdnn_settings[i].name;
    words[count++] = preset;
    for (size_t i = 0; i < pdnn_where_n_costs; i++)
        words[count++] = pdnn_where_costs[i].name;
    for (enum pdnn_expression_kind i = PDNN_EXPRESSION_FIRST_FUNCTION; i < PDNN_EXPRESSION_KIND_COUNT; i++)
        if (pdnn_where_has(i))
            words[count++] = pdnn_expression_rows[i].head;
    char buffer[PDNN_SUGGESTION_TEXT], none[128];
    const char *hint = pdnn_suggest(buffer, name, words, count);
    snprintf(none, sizeof none, ", which is not a hyper-parameter of %.40s, run setting, cost or function",
             b->family->name);
    return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err, "where names '%.64s'%s", name,
                             *hint ? hint : none);
}

static enum pdnn_status bind_name(struct binder *b, const struct pdnn_expression *node,
                                  struct pdnn_where_leaf *leaf, struct pdnn_err *err) {
    const struct pdnn_param_def *def;
    const int slot = find_slot(b->family, node->text, &def);
    const bool is_preset = slot < 0 && strcmp(node->text, preset) == 0;
    leaf->is_taken = true;
    if (is_preset || (def && pdnn_param_is_word(def)))
        return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err,
                                 "where uses %s, which is a word: compare it as in %s == %s", node->text,
                                 node->text,
                                 !def           ? "resnet50"
                                 : def->choices ? def->choices[0]
                                                : def->word);
    if (slot >= 0) {
        leaf->variable = use(b, slot);
        b->number = def;
        return PDNN_OK;
    }
    if (b->number && b->number != &pdnn_settings[PDNN_SETTING_THREADS] && b->number->word &&
        strcmp(b->number->word, node->text) == 0) {
        leaf->number = pdnn_param_double(b->number, b->number->word_value);
        return PDNN_OK;
    }
    return unknown_name(b, node, err);
}

static enum pdnn_status bind(void *context, const struct pdnn_expression *node, struct pdnn_where_leaf *leaf,
                             struct pdnn_err *err) {
    struct binder *b = context;
    const char *what = node->kind == PDNN_EXPRESSION_LIST    ? "a list"
                       : node->kind == PDNN_EXPRESSION_INDEX ? "an index such as [0]"
                       : node->kind == PDNN_EXPRESSION_FIELD ? pdnn_field_names[node->field]
                                                             : pdnn_expression_rows[node->kind].head;
    if (node->kind == PDNN_EXPRESSION_NAME)
        return bind_name(b, node, leaf, err);
    if (node->kind >= PDNN_EXPRESSION_EQUAL && node->kind <= PDNN_EXPRESSION_AT_LEAST)
        return bind_comparison(b, node, leaf, err);
    if (pdnn_where_has(node->kind))
        return PDNN_OK;
    return pdnn_yaml_fail_in(b->node, (size_t)node->offset, err, "where takes numbers and words, not %s",
                             what);
}

enum pdnn_status pdnn_where_read(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                 struct pdnn_where_names *names, struct pdnn_where_code **code,
                                 struct pdnn_err *err) {
    struct binder binder = {.node = node, .family = family, .names = names};
    const struct pdnn_bare_words bare = {bare_length, family};
    const size_t quote = strcspn(node->text, "\"'`");
    struct pdnn_arena arena = {0};
    struct pdnn_err why = {0};
    const struct pdnn_expression *tree;
    size_t place;
    if (node->text[quote])
        return pdnn_yaml_fail_in(node, quote, err, "where has %c, write words without quotes, as in %s == %s",
                                 node->text[quote], pdnn_settings[PDNN_SETTING_MODE].name,
                                 pdnn_settings[PDNN_SETTING_MODE].choices[0]);
    if (!node->text[strspn(node->text, " \n")])
        return pdnn_yaml_fail(node, err, "where is empty");
    enum pdnn_status status = pdnn_expression_parse(node->text, 0, &bare, &arena, &tree, &place, &why);
    if (status != PDNN_OK)
        pdnn_yaml_fail_in(node, place, err, "where: %s", why.text);
    else
        status = pdnn_where_compile(tree, &(struct pdnn_where_binder){bind, &binder}, code, err);
    pdnn_arena_finish(&arena);
    return status;
}
