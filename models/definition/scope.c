#include "models/definition/scope.h"

#include "models/expression/parse.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 4096, WORDS_MAX = 4096 }; /* they are looked for one after another */

bool pdnn_compiler_failed(const struct pdnn_compiler *compiler) {
    return compiler->err->status != PDNN_OK;
}

static struct pdnn_term_word *word_of(struct pdnn_compiler *compiler, const char *text) {
    for (size_t i = 0; i < compiler->n_words; i++)
        if (strcmp(compiler->words[i]->text, text) == 0)
            return compiler->words[i];
    if (compiler->n_words == WORDS_MAX)
        pdnn_compiler_fail(compiler, 0, "more than %d words", WORDS_MAX);
    struct pdnn_term_word *word = pdnn_arena_alloc(compiler->arena, 1, sizeof *word);
    *word = (struct pdnn_term_word){.text = text,
                                    .op = pdnn_op_is_named(pdnn_op_find(text)) ? pdnn_op_find(text) : NULL};
    compiler->words = pdnn_arena_grow(compiler->arena, compiler->words, &compiler->words_room,
                                      compiler->n_words, sizeof *compiler->words);
    return compiler->words[compiler->n_words++] = word;
}

const struct pdnn_term_word *pdnn_compiler_word(struct pdnn_compiler *compiler, const char *text) {
    return word_of(compiler, text);
}

const struct pdnn_term_word *pdnn_compiler_use(struct pdnn_compiler *compiler, const char *text) {
    struct pdnn_term_word *word = word_of(compiler, text);
    word->is_used = true;
    return word;
}

/* Index of the text in a list of texts, to which it is added if it is new. */
static int index_of(struct pdnn_arena *arena, const char *text, const char ***texts, size_t *count,
                    size_t *room) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*texts)[i], text) == 0)
            return (int)i;
    *texts = pdnn_arena_grow(arena, (void *)*texts, room, *count, sizeof **texts);
    (*texts)[*count] = text;
    return (int)(*count)++;
}

int pdnn_compiler_stem(struct pdnn_compiler *compiler, const char *text) {
    if (compiler->n_stems == NAMES_MAX)
        pdnn_compiler_fail(compiler, 0, "more than %d layers", NAMES_MAX);
    return index_of(compiler->arena, text, &compiler->stems, &compiler->n_stems, &compiler->stems_room);
}

int pdnn_compiler_share(struct pdnn_compiler *compiler, const char *text) {
    if (compiler->n_shares == NAMES_MAX)
        pdnn_compiler_fail(compiler, 0, "more than %d shares", NAMES_MAX);
    return index_of(compiler->arena, text, &compiler->shares, &compiler->n_shares, &compiler->shares_room);
}

void pdnn_scope_add(struct pdnn_compiler *compiler, struct pdnn_scope *scope, const char *text,
                    enum pdnn_term_kind kind, int slot) {
    if (scope->count == NAMES_MAX)
        pdnn_compiler_fail(compiler, 0, "more than %d names are seen from one place", NAMES_MAX);
    scope->names =
        pdnn_arena_grow(compiler->arena, scope->names, &scope->room, scope->count, sizeof *scope->names);
    scope->names[scope->count++] = (struct pdnn_scope_name){text, kind, slot, false};
}

int pdnn_scope_slot(struct pdnn_compiler *compiler, struct pdnn_scope *scope, const char *text) {
    pdnn_scope_add(compiler, scope, text, PDNN_TERM_LOCAL, scope->n_slots);
    return scope->n_slots++;
}

const struct pdnn_scope_name *pdnn_scope_find(const struct pdnn_scope *scope, const char *text) {
    for (size_t i = scope->count; i-- > 0;)
        if (strcmp(scope->names[i].text, text) == 0)
            return &scope->names[i];
    return NULL;
}

const char *pdnn_scope_suggest(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                               const char *text, char buffer[PDNN_SUGGESTION_TEXT]) {
    size_t count = scope->count + compiler->n_known, at = 0;
    const char **words = pdnn_arena_alloc(compiler->arena, count + 1, sizeof *words);
    for (size_t i = 0; i < scope->count; i++)
        words[at++] = scope->names[i].text;
    for (size_t i = 0; i < compiler->n_known; i++)
        words[at++] = compiler->words[i]->text;
    return pdnn_suggest(buffer, text, words, count);
}

static struct pdnn_term *new_term(struct pdnn_compiler *compiler, enum pdnn_term_kind kind,
                                  const struct pdnn_expression *from) {
    struct pdnn_term *term = pdnn_arena_alloc(compiler->arena, 1, sizeof *term);
    *term = (struct pdnn_term){.kind = kind, .from = from};
    return term;
}

static struct pdnn_term *constant(struct pdnn_compiler *compiler, const struct pdnn_expression *from,
                                  struct pdnn_datum datum) {
    struct pdnn_term *term = new_term(compiler, PDNN_TERM_CONSTANT, from);
    term->constant = datum;
    return term;
}

static struct pdnn_datum whole(int64_t number) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(number)};
}

/* The number that a word of an attribute stands for, or -1. */
static int number_of_word(const struct pdnn_op_def *op, const char *text) {
    for (const struct pdnn_attribute *row = op ? op->attributes : NULL; row && row->name; row++)
        for (int i = 0; row->words && row->words[i]; i++)
            if (strcmp(row->words[i], text) == 0)
                return i;
    return -1;
}

static const struct pdnn_term *name_term(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const struct pdnn_expression *expression) {
    const char *text = expression->text;
    const struct pdnn_scope_name *name = pdnn_scope_find(scope, text);
    char hint[PDNN_SUGGESTION_TEXT];
    if (name) {
        struct pdnn_term *term = new_term(compiler, name->kind, expression);
        term->slot = name->slot;
        return term;
    }
    if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
        return constant(compiler, expression, whole(*text == 'y'));
    int number = number_of_word(scope->words, text);
    if (number >= 0)
        return constant(compiler, expression, whole(number));
    for (size_t i = 0; i < compiler->n_known; i++)
        if (strcmp(compiler->words[i]->text, text) == 0)
            return constant(
                compiler, expression,
                (struct pdnn_datum){.kind = PDNN_DATUM_WORD, .word = pdnn_compiler_use(compiler, text)});
    pdnn_scope_suggest(compiler, scope, text, hint);
    pdnn_compiler_fail(compiler, expression->offset, "no '%.60s' here%s", text,
                       *hint ? hint : ": it is no axis, let, parameter, variable or result seen from here");
    return NULL;
}

/* Whether a term gives the same throughout an instance. */
static bool is_fixed(const struct pdnn_term *term) {
    if (term->kind != PDNN_TERM_OTHER)
        return term->kind == PDNN_TERM_CONSTANT || term->kind == PDNN_TERM_GLOBAL;
    return term->cache != 0;
}

static bool is_same_operand(const struct pdnn_term *a, const struct pdnn_term *b) {
    if (a->kind != b->kind || a->kind == PDNN_TERM_GLOBAL || a->kind == PDNN_TERM_OTHER)
        return a->kind == b->kind &&
               (a->kind == PDNN_TERM_GLOBAL ? a->slot == b->slot : a->cache == b->cache);
    const struct pdnn_datum *x = &a->constant, *y = &b->constant;
    if (x->kind != y->kind || x->kind == PDNN_DATUM_REAL)
        return false;
    return x->kind == PDNN_DATUM_NUMBER ? pdnn_rational_compare(x->number, y->number) == 0
                                        : x->kind == PDNN_DATUM_WORD && x->word == y->word;
}

/* The same expression of the same operands, so that it is evaluated once. */
static bool is_same_term(const struct pdnn_term *a, const struct pdnn_term *b) {
    bool is_same = a->from->kind == b->from->kind && a->from->n_operands == b->from->n_operands &&
                   a->from->kind != PDNN_EXPRESSION_FIELD;
    for (size_t i = 0; is_same && i < a->from->n_operands; i++)
        is_same = is_same_operand(a->operands[i], b->operands[i]);
    return is_same;
}

void pdnn_scope_cache(struct pdnn_compiler *compiler, struct pdnn_term *term) {
    for (size_t i = 0; i < term->from->n_operands; i++)
        if (!is_fixed(term->operands[i]))
            return;
    for (size_t i = 0; i < compiler->n_cached && !term->cache; i++)
        if (is_same_term(compiler->cached[i], term))
            term->cache = compiler->cached[i]->cache;
    if (term->cache)
        return;
    term->cache = (int)++compiler->n_caches;
    if (compiler->n_cached < PDNN_CACHED)
        compiler->cached[compiler->n_cached++] = term;
}

static void note_size(struct pdnn_term *term) {
    const struct pdnn_expression *from = term->from;
    bool is_field = from->kind == PDNN_EXPRESSION_FIELD && from->field != PDNN_FIELD_INPUTS;
    if ((!is_field && from->kind != PDNN_EXPRESSION_INDEX) || term->operands[0]->kind != PDNN_TERM_LOCAL)
        return;
    const struct pdnn_rational index =
        is_field ? (struct pdnn_rational){-1, 1} : term->operands[1]->constant.number;
    term->is_size = is_field || (term->operands[1]->constant.kind == PDNN_DATUM_NUMBER &&
                                 pdnn_rational_is_whole(index) && index.numerator < PDNN_RANK_MAX);
    term->slot = term->operands[0]->slot;
    term->dim = term->is_size ? (int)index.numerator : -1;
}

const struct pdnn_term *const *pdnn_scope_terms(struct pdnn_compiler *compiler,
                                                const struct pdnn_scope *scope,
                                                const struct pdnn_expression *const *expressions,
                                                size_t count) {
    const struct pdnn_term **terms = pdnn_arena_alloc(compiler->arena, count, sizeof *terms);
    for (size_t i = 0; i < count; i++)
        if (!(terms[i] = pdnn_scope_term(compiler, scope, expressions[i])))
            return NULL;
    return count ? terms : NULL;
}

const struct pdnn_term *pdnn_scope_term(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                        const struct pdnn_expression *expression) {
    switch (expression->kind) {
    case PDNN_EXPRESSION_NUMBER:
        return constant(compiler, expression,
                        (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = expression->number});
    case PDNN_EXPRESSION_REAL:
        return constant(compiler, expression,
                        (struct pdnn_datum){.kind = PDNN_DATUM_REAL, .real = expression->real});
    case PDNN_EXPRESSION_WORD:
        return constant(compiler, expression,
                        (struct pdnn_datum){.kind = PDNN_DATUM_WORD,
                                            .word = pdnn_compiler_use(compiler, expression->text)});
    case PDNN_EXPRESSION_NAME:
        return name_term(compiler, scope, expression);
    default:
        break;
    }
    struct pdnn_term *term = new_term(compiler, PDNN_TERM_OTHER, expression);
    term->operands = pdnn_scope_terms(compiler, scope, expression->operands, expression->n_operands);
    if (!term->operands)
        return NULL;
    pdnn_scope_cache(compiler, term);
    note_size(term);
    return term;
}

const struct pdnn_term *pdnn_scope_parse(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const char *text) {
    const struct pdnn_expression *tree;
    size_t at;
    if (pdnn_expression_parse(text, 0, NULL, compiler->arena, &tree, &at, compiler->err) != PDNN_OK)
        return NULL;
    return pdnn_scope_term(compiler, scope, tree);
}

static const struct pdnn_term *stem_term(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const struct pdnn_expression *stem,
                                         const struct pdnn_expression *index,
                                         const struct pdnn_expression *whole_of) {
    struct pdnn_term *term = new_term(compiler, index ? PDNN_TERM_STEM : PDNN_TERM_CONSTANT, whole_of);
    term->slot = pdnn_compiler_stem(compiler, stem->text);
    if (!index) { /* a number of its own, or that of the layer around it */
        term->constant.kind = PDNN_DATUM_LAYER;
        term->constant.layer.stem = term->slot;
        term->constant.layer.index = -1;
        return term;
    }
    term->operands = pdnn_scope_terms(compiler, scope, &index, 1);
    return term->operands ? term : NULL;
}

const struct pdnn_term *pdnn_scope_layer(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const struct pdnn_expression *expression) {
    bool is_stem = expression->kind == PDNN_EXPRESSION_NAME || expression->kind == PDNN_EXPRESSION_WORD;
    if (is_stem)
        return stem_term(compiler, scope, expression, NULL, expression);
    if (expression->kind == PDNN_EXPRESSION_INDEX && expression->operands[0]->kind == PDNN_EXPRESSION_NAME)
        return stem_term(compiler, scope, expression->operands[0], expression->operands[1], expression);
    if (expression->kind != PDNN_EXPRESSION_CHOOSE) {
        pdnn_compiler_fail(compiler, expression->offset,
                           "the name of a layer is a word, word[i], or a choice of these");
        return NULL;
    }
    const struct pdnn_term **operands = pdnn_arena_alloc(compiler->arena, 3, sizeof *operands);
    struct pdnn_term *term = new_term(compiler, PDNN_TERM_OTHER, expression);
    operands[0] = pdnn_scope_term(compiler, scope, expression->operands[0]);
    for (int i = 1; i < 3 && operands[i - 1]; i++)
        operands[i] = pdnn_scope_layer(compiler, scope, expression->operands[i]);
    term->operands = operands;
    return operands[0] && operands[1] && operands[2] ? term : NULL;
}
