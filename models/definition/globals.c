#include "models/definition/globals.h"

#include "models/definition/say.h"

#include <string.h>

static bool has_meaning(const char *name) {
    for (int i = PDNN_EXPRESSION_FIRST_FUNCTION; i < PDNN_EXPRESSION_KIND_COUNT; i++)
        if (strcmp(pdnn_expression_rows[i].head, name) == 0)
            return true;
    return strcmp(name, "in") == 0 || strcmp(name, "mode") == 0;
}

/* Words that may stand without quotes: ops, words of attributes, choices of axes, modes. */
static void know_words(struct pdnn_compiler *c, struct pdnn_compiled *compiled) {
    const struct pdnn_definition *definition = c->definition;
    static const char *const others[] = {"infer", "train", "none", "all", "first", "last"};
    for (size_t i = 0; pdnn_ops[i]; i++) {
        if (!pdnn_ops[i]->operands[0].name)
            continue;
        pdnn_compiler_word(c, pdnn_ops[i]->name);
        for (const struct pdnn_attribute *row = pdnn_ops[i]->attributes; row->name; row++)
            for (int k = 0; row->words && row->words[k]; k++)
                pdnn_compiler_word(c, row->words[k]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        pdnn_compiler_word(c, others[i]);
    for (size_t i = 0; i < definition->n_axes; i++)
        for (int k = 0; definition->axes[i].choices && definition->axes[i].choices[k]; k++)
            pdnn_compiler_word(c, definition->axes[i].choices[k]);
    c->n_known = c->n_words;
    compiled->infer = pdnn_compiler_word(c, "infer");
    compiled->train = pdnn_compiler_word(c, "train");
}

static void compile_axes(struct pdnn_compiler *c, struct pdnn_compiled *compiled,
                         struct pdnn_scope *globals) {
    const struct pdnn_definition *definition = c->definition;
    size_t n_choices = 0;
    int *first = pdnn_arena_alloc(c->arena, definition->n_axes + 1, sizeof *first);
    for (size_t i = 0; i < definition->n_axes && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_axis *axis = &definition->axes[i];
        if (has_meaning(axis->name))
            pdnn_compiler_fail(c, axis->place, "'%s' has a meaning of its own and cannot be an axis",
                               axis->name);
        pdnn_scope_add(c, globals, axis->name, PDNN_TERM_GLOBAL, (int)i);
        for (int k = 0; axis->choices && axis->choices[k]; k++)
            n_choices++;
    }
    const struct pdnn_term_word **words = pdnn_arena_alloc(c->arena, n_choices + 1, sizeof *words);
    int count = 0;
    for (size_t i = 0; i < definition->n_axes && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_axis *axis = &definition->axes[i];
        first[i] = axis->choices ? count : -1;
        for (int k = 0; axis->choices && axis->choices[k]; k++)
            words[count++] = pdnn_compiler_use(c, axis->choices[k]);
    }
    const struct pdnn_term **when = pdnn_arena_alloc(c->arena, definition->n_axes + 1, sizeof *when);
    compiled->choices = words;
    compiled->first_choice = first;
    compiled->fallbacks = pdnn_arena_alloc(c->arena, definition->n_axes + 1, sizeof *compiled->fallbacks);
    for (size_t i = 0; i < definition->n_axes && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_axis *axis = &definition->axes[i];
        bool has_words = axis->type == PDNN_AXIS_CHOICE || axis->type == PDNN_AXIS_SWITCH;
        if (axis->fallback && !has_words)
            compiled->fallbacks[i] = pdnn_scope_term(c, globals, axis->fallback);
        if (axis->when && !pdnn_compiler_failed(c))
            when[i] = pdnn_scope_term(c, globals, axis->when);
    }
    compiled->when = when;
}

static void compile_lets(struct pdnn_compiler *c, struct pdnn_compiled *compiled,
                         struct pdnn_scope *globals) {
    const struct pdnn_definition *definition = c->definition;
    compiled->lets = pdnn_arena_alloc(c->arena, definition->n_lets + 1, sizeof *compiled->lets);
    pdnn_scope_add(c, globals, "mode", PDNN_TERM_GLOBAL, pdnn_compiled_mode(compiled));
    for (size_t i = 0; i < definition->n_lets && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_value *let = &definition->lets[i];
        if (pdnn_scope_find(globals, let->name))
            pdnn_compiler_fail(c, let->place, "'%s' is named already", let->name);
        else if (has_meaning(let->name))
            pdnn_compiler_fail(c, let->place, "'%s' has a meaning of its own", let->name);
        else
            compiled->lets[i] = pdnn_scope_term(c, globals, let->value);
        pdnn_scope_add(c, globals, let->name, PDNN_TERM_GLOBAL, pdnn_compiled_let(compiled, i));
    }
    const struct pdnn_expression *target_of = definition->lengths.target_of;
    if (target_of && !pdnn_compiler_failed(c))
        compiled->target_of = pdnn_scope_term(c, globals, target_of);
    compiled->together = pdnn_arena_alloc(c->arena, definition->n_together + 1, sizeof *compiled->together);
    for (size_t i = 0; i < definition->n_together && !pdnn_compiler_failed(c); i++)
        compiled->together[i] = pdnn_scope_find(globals, definition->together[i])->slot;
    if (definition->together_when && !pdnn_compiler_failed(c))
        compiled->together_when = pdnn_scope_term(c, globals, definition->together_when);
}

static void compile_requires(struct pdnn_compiler *c, struct pdnn_compiled *compiled,
                             struct pdnn_scope *globals) {
    const struct pdnn_definition *definition = c->definition;
    struct pdnn_require_code *codes = pdnn_arena_alloc(c->arena, definition->n_requires + 1, sizeof *codes);
    for (size_t i = 0; i < definition->n_requires && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_require *require = &definition->requires[i];
        codes[i].that = pdnn_scope_term(c, globals, require->that);
        if (!pdnn_compiler_failed(c))
            codes[i].say = pdnn_say_compile(c, globals, require->say, require->place);
    }
    compiled->requires = codes;
}

static const struct pdnn_tensor_code *compile_tensors(struct pdnn_compiler *c,
                                                      const struct pdnn_scope *globals,
                                                      const struct pdnn_definition_tensor *rows,
                                                      size_t count) {
    struct pdnn_tensor_code *codes = pdnn_arena_alloc(c->arena, count + 1, sizeof *codes);
    for (size_t i = 0; i < count && !pdnn_compiler_failed(c); i++) {
        const struct pdnn_definition_tensor *row = &rows[i];
        struct pdnn_scope scope = *globals; /* grows into a copy */
        scope.room = scope.count;
        if (pdnn_scope_find(globals, row->name))
            pdnn_compiler_fail(c, row->place, "'%s' is an axis or let already", row->name);
        codes[i].what = pdnn_arena_printf(c->arena, "shape of %.40s", row->name);
        if (row->variable)
            pdnn_scope_add(c, &scope, row->variable, PDNN_TERM_LOCAL, 0);
        for (size_t k = 0; k < row->rank && !pdnn_compiler_failed(c); k++)
            codes[i].shape[k] = pdnn_scope_term(c, &scope, row->shape[k]);
        if (row->fill_by && !pdnn_compiler_failed(c))
            codes[i].fill_by = pdnn_scope_term(c, &scope, row->fill_by);
        if (row->when && !pdnn_compiler_failed(c))
            codes[i].when = pdnn_scope_term(c, globals, row->when);
        if (row->count && !pdnn_compiler_failed(c))
            codes[i].count = pdnn_scope_term(c, globals, row->count);
    }
    return codes;
}

void pdnn_globals_compile(struct pdnn_compiler *c, struct pdnn_compiled *compiled,
                          struct pdnn_scope *globals) {
    const struct pdnn_definition *definition = c->definition;
    know_words(c, compiled);
    compile_axes(c, compiled, globals);
    if (!pdnn_compiler_failed(c))
        compile_lets(c, compiled, globals);
    if (!pdnn_compiler_failed(c))
        compile_requires(c, compiled, globals);
    compiled->inputs = compile_tensors(c, globals, definition->inputs, definition->n_inputs);
    compiled->weights = compile_tensors(c, globals, definition->weights, definition->n_weights);
}
