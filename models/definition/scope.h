/* The names that an expression may use, and expressions to terms. Internal to models/definition. */
#ifndef MODELS_DEFINITION_SCOPE_H
#define MODELS_DEFINITION_SCOPE_H

#include "models/definition/message.h"

enum { PDNN_CACHED = 256 };

/* What compile makes of one definition. */
struct pdnn_compiler {
    const struct pdnn_definition *definition;
    struct pdnn_arena *arena;
    struct pdnn_err *err;
    struct pdnn_term_word **words;
    size_t n_words, words_room, n_known; /* known: words that may stand without quotes */
    const char **stems;
    size_t n_stems, stems_room;
    const char **shares;
    size_t n_shares, shares_room;
    const struct pdnn_term *cached[PDNN_CACHED]; /* the first that are evaluated once an instance */
    size_t n_cached;
    size_t n_caches, n_folded; /* n_folded: entries with an op's row of their own */
};

struct pdnn_scope_name {
    const char *text;
    enum pdnn_term_kind kind;
    int slot;
    bool is_indexed; /* a name of results with indices */
};

/* Names in the order of their making: what hides comes later. */
struct pdnn_scope {
    struct pdnn_scope_name *names;
    size_t count, room;
    int n_slots;                     /* of the frame */
    const struct pdnn_op_def *words; /* whose attributes' words stand for numbers; or NULL */
};

/* The word with the text; use marks it as used. */
const struct pdnn_term_word *pdnn_compiler_word(struct pdnn_compiler *compiler, const char *text);
const struct pdnn_term_word *pdnn_compiler_use(struct pdnn_compiler *compiler, const char *text);
int pdnn_compiler_stem(struct pdnn_compiler *compiler, const char *text);
int pdnn_compiler_share(struct pdnn_compiler *compiler, const char *text);

void pdnn_scope_add(struct pdnn_compiler *compiler, struct pdnn_scope *scope, const char *text,
                    enum pdnn_term_kind kind, int slot);

/* A new slot of the frame, with this name. */
int pdnn_scope_slot(struct pdnn_compiler *compiler, struct pdnn_scope *scope, const char *text);
const struct pdnn_scope_name *pdnn_scope_find(const struct pdnn_scope *scope, const char *text);

/* NULL after an error, which is in the compiler's err. */
const struct pdnn_term *pdnn_scope_term(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                        const struct pdnn_expression *expression);

/* A term of operands that are all fixed is evaluated once an instance, and its operands are not any more. */
void pdnn_scope_cache(struct pdnn_compiler *compiler, struct pdnn_term *term);

/* The same of a text in the language of families' expressions. */
const struct pdnn_term *pdnn_scope_parse(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const char *text);

/* An array of terms; NULL for none, and after an error. */
const struct pdnn_term *const *pdnn_scope_terms(struct pdnn_compiler *compiler,
                                                const struct pdnn_scope *scope,
                                                const struct pdnn_expression *const *expressions,
                                                size_t count);

/* The same for the name of a layer: a stem, stem[index], or a choice of these. */
const struct pdnn_term *pdnn_scope_layer(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                         const struct pdnn_expression *expression);

/* ", did you mean 'x'?", of the scope's names and the known words. Returns buffer. */
const char *pdnn_scope_suggest(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                               const char *text, char buffer[PDNN_SUGGESTION_TEXT]);

/* Fails at a place of the definition. */
#define pdnn_compiler_fail(compiler, place, ...)                                                             \
    pdnn_definition_fail((compiler)->definition, place, (compiler)->err, __VA_ARGS__)

bool pdnn_compiler_failed(const struct pdnn_compiler *compiler);

#endif
