#include "models/definition/op_code.h"

#include "models/definition/message.h"

#include <string.h>

/* The dimensions "out, x.channels" are the list [out, x.channels]. */
static void compile_shape(struct pdnn_compiler *compiler, const struct pdnn_scope *scope, const char *text,
                          struct pdnn_op_code *code, int operand) {
    const struct pdnn_term *list =
        pdnn_scope_parse(compiler, scope, pdnn_arena_printf(compiler->arena, "[%s]", text));
    for (size_t i = 0; list && i < list->from->n_operands && i < PDNN_RANK_MAX; i++)
        code->operand[operand].dim[code->operand[operand].rank++] = list->operands[i];
}

void pdnn_op_values_set(struct pdnn_op_values *values, const struct pdnn_op_code *code, int attribute,
                        struct pdnn_datum datum) {
    const struct pdnn_attribute *row = &code->op->attributes[attribute];
    values->slots[attribute] = datum;
    if (row->index == PDNN_SIZE)
        return;
    if (!row->coefficient)
        values->attrs[row->index] =
            row->hides_one && datum.number.numerator == 1 ? 0 : datum.number.numerator;
    else
        values->coefs[row->index] =
            datum.kind == PDNN_DATUM_REAL ? datum.real : pdnn_rational_to_double(datum.number);
}

static void preset_defaults(struct pdnn_op_code *code) {
    memcpy(code->preset.coefs, code->op->coef, sizeof code->preset.coefs);
    for (int i = 0; i < code->n_attributes; i++) {
        const struct pdnn_attribute *row = &code->op->attributes[i];
        struct pdnn_datum datum = {.kind = PDNN_DATUM_NUMBER, .number = {0, 1}};
        if (row->coefficient)
            datum = (struct pdnn_datum){.kind = PDNN_DATUM_REAL, .real = code->op->coef[row->index]};
        if (code->fallback[i])
            datum = code->fallback[i]->constant;
        if (datum.kind != PDNN_DATUM_NONE)
            pdnn_op_values_set(&code->preset, code, i, datum);
        else
            code->open[code->n_open++] = (signed char)i;
    }
}

static bool has_inputs(const struct pdnn_expression *expression) {
    for (size_t i = 0; i < expression->n_operands; i++)
        if (has_inputs(expression->operands[i]))
            return true;
    return expression->kind == PDNN_EXPRESSION_FIELD && expression->field == PDNN_FIELD_INPUTS;
}

/* What an entry must read, and whether that is all it may. */
static void note_readings(struct pdnn_op_code *code) {
    code->is_plain = true;
    for (int i = 0; i < code->n_operands; i++) {
        const struct pdnn_operand *row = &code->op->operands[i];
        bool is_read = row->kind == PDNN_OPERAND_DATA || row->kind == PDNN_OPERAND_IDS ||
                       row->kind == PDNN_OPERAND_LABEL;
        code->operand[i].is_read = is_read;
        code->is_plain &= !row->or_data && (!is_read || (row->kind == PDNN_OPERAND_DATA && !row->optional &&
                                                         !row->many && (size_t)i == code->n_needed));
        code->n_needed += is_read && !row->optional;
    }
}

const struct pdnn_op_code *pdnn_op_code_make(struct pdnn_compiler *compiler, int mode,
                                             const struct pdnn_op_def *op) {
    struct pdnn_op_code *code = pdnn_arena_alloc(compiler->arena, 1, sizeof *code);
    struct pdnn_scope scope = {.words = op};
    code->op = op;
    pdnn_scope_add(compiler, &scope, "mode", PDNN_TERM_GLOBAL, mode);
    for (; op->attributes[code->n_attributes].name; code->n_attributes++) {
        const struct pdnn_attribute *row = &op->attributes[code->n_attributes];
        pdnn_scope_slot(compiler, &scope, strcmp(row->name, "train") == 0 ? "" : row->name); /* a mode */
    }
    while (op->operands[code->n_operands].name)
        pdnn_scope_slot(compiler, &scope, op->operands[code->n_operands++].name);
    for (int i = 0; i < code->n_attributes && !pdnn_compiler_failed(compiler); i++)
        if (op->attributes[i].fallback)
            code->fallback[i] = pdnn_scope_parse(compiler, &scope, op->attributes[i].fallback);
    for (int i = 0; i < code->n_operands && !pdnn_compiler_failed(compiler); i++) {
        if (op->operands[i].shape)
            compile_shape(compiler, &scope, op->operands[i].shape, code, i);
        if (op->operands[i].inputs && !pdnn_compiler_failed(compiler))
            code->operand[i].inputs = pdnn_scope_parse(compiler, &scope, op->operands[i].inputs);
        if (op->operands[i].when && !pdnn_compiler_failed(compiler))
            code->operand[i].when = pdnn_scope_parse(compiler, &scope, op->operands[i].when);
        if (op->operands[i].trained && !pdnn_compiler_failed(compiler))
            code->operand[i].trained = pdnn_scope_parse(compiler, &scope, op->operands[i].trained);
        if (code->operand[i].inputs)
            code->sees_inputs |= has_inputs(code->operand[i].inputs->from);
    }
    if (op->when && !pdnn_compiler_failed(compiler))
        code->when = pdnn_scope_parse(compiler, &scope, op->when);
    note_readings(code);
    if (!pdnn_compiler_failed(compiler))
        preset_defaults(code);
    const struct pdnn_term *when = code->when;
    if (when && when->from->kind == PDNN_EXPRESSION_AND && when->operands[0]->cache && code->is_plain &&
        code->n_needed == 1 && !code->n_open)
        code->first = when->operands[0];
    return code;
}

/* ---- the row for one entry ---- */

/* A row for an entry takes memory; of longer files, the entries that follow do with the op's. */
enum { FOLDED_MAX = 256 };

struct fold {
    struct pdnn_compiler *compiler;
    const struct pdnn_op_code *code;
    const struct pdnn_term *is[PDNN_ATTRIBUTES]; /* constants and other attributes; NULL: known in a node */
    const struct pdnn_term *fixed[PDNN_ATTRIBUTES]; /* what gives the same number throughout an instance */
    bool changes;
};

static bool is_attribute(const struct fold *fold, const struct pdnn_term *term) {
    return term->kind == PDNN_TERM_LOCAL && term->slot < fold->code->n_attributes;
}

static bool is_number(const struct pdnn_term *term, int64_t number) {
    return term->kind == PDNN_TERM_CONSTANT && term->constant.kind == PDNN_DATUM_NUMBER &&
           pdnn_rational_is_whole(term->constant.number) && term->constant.number.numerator == number;
}

/* Sizes, and attributes that are no coefficients. */
static bool is_whole(const struct fold *fold, const struct pdnn_term *term) {
    return term->is_size || (is_attribute(fold, term) && !fold->code->op->attributes[term->slot].coefficient);
}

/* A list of one number is that number for these. */
static bool is_arithmetic(enum pdnn_expression_kind kind) {
    return kind == PDNN_EXPRESSION_ADD || kind == PDNN_EXPRESSION_SUBTRACT ||
           kind == PDNN_EXPRESSION_MULTIPLY || kind == PDNN_EXPRESSION_DIVIDE;
}

static struct pdnn_datum whole_of(int64_t number) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(number)};
}

static struct pdnn_term *copy_of(const struct fold *fold, const struct pdnn_term *term) {
    struct pdnn_term *copy = pdnn_arena_alloc(fold->compiler->arena, 1, sizeof *copy);
    *copy = *term;
    return copy;
}

static const struct pdnn_term *constant_of(const struct fold *fold, const struct pdnn_term *term,
                                           struct pdnn_datum datum) {
    struct pdnn_term *constant = copy_of(fold, term);
    constant->kind = PDNN_TERM_CONSTANT;
    constant->constant = datum;
    constant->is_size = false;
    return constant;
}

/* The value of a term whose operands are numbers; the term where it has none, which a node then says. */
static const struct pdnn_term *evaluated(const struct fold *fold, const struct pdnn_term *term) {
    const struct pdnn_compiled compiled = {.definition = fold->compiler->definition};
    struct pdnn_err err = {0};
    struct pdnn_build build = {
        .compiled = &compiled, .arena = fold->compiler->arena, .err = &err, .layer = {.stem = -1}};
    struct pdnn_datum datum;
    for (size_t i = 0; i < term->from->n_operands; i++)
        if (term->operands[i]->kind != PDNN_TERM_CONSTANT ||
            term->operands[i]->constant.kind != PDNN_DATUM_NUMBER)
            return term;
    if (!pdnn_term_evaluate(&build, term, &datum) || datum.kind != PDNN_DATUM_NUMBER)
        return term;
    return constant_of(fold, term, datum);
}

static const struct pdnn_term *simpler(const struct fold *fold, const struct pdnn_term *term) {
    const struct pdnn_term *a = term->operands[0], *b = term->from->n_operands > 1 ? term->operands[1] : NULL;
    switch (term->from->kind) {
    case PDNN_EXPRESSION_CHOOSE:
        if (a->kind == PDNN_TERM_CONSTANT && a->constant.kind == PDNN_DATUM_NUMBER)
            return term->operands[a->constant.number.numerator ? 1 : 2];
        return term;
    case PDNN_EXPRESSION_SUBTRACT:
        if (is_whole(fold, a) && is_attribute(fold, b) && a->kind == b->kind && a->slot == b->slot)
            return constant_of(fold, term, whole_of(0));
        break;
    case PDNN_EXPRESSION_DIVIDE:
    case PDNN_EXPRESSION_MULTIPLY:
        if (is_whole(fold, a) && is_number(b, 1))
            return a;
        break;
    case PDNN_EXPRESSION_CEIL:
    case PDNN_EXPRESSION_FLOOR:
        if (is_whole(fold, a))
            return a;
        break;
    default:
        break;
    }
    return evaluated(fold, term);
}

/* The term with what is known of attributes in it. `inside` of arithmetic. */
static const struct pdnn_term *folded(const struct fold *fold, const struct pdnn_term *term, bool inside) {
    if (is_attribute(fold, term))
        return fold->is[term->slot]                ? fold->is[term->slot]
               : inside && fold->fixed[term->slot] ? fold->fixed[term->slot]
                                                   : term;
    if (term->kind != PDNN_TERM_OTHER || term->cache)
        return term;
    const size_t count = term->from->n_operands;
    const struct pdnn_term **operands = pdnn_arena_alloc(fold->compiler->arena, count, sizeof *operands);
    bool is_same = true;
    for (size_t i = 0; i < count; i++) {
        operands[i] = folded(fold, term->operands[i], is_arithmetic(term->from->kind));
        is_same &= operands[i] == term->operands[i];
    }
    struct pdnn_term *copy = copy_of(fold, term);
    copy->operands = operands;
    const struct pdnn_term *made = simpler(fold, copy);
    if (made == copy && is_same)
        return term;
    if (made == copy)
        pdnn_scope_cache(fold->compiler, copy);
    return made;
}

/* NULL stays NULL; what is no size stays what it is, since a node says so with the row's words. */
static void replace(struct fold *fold, const struct pdnn_term **term, int64_t least) {
    const struct pdnn_term *made = *term ? folded(fold, *term, false) : NULL;
    if (made && made->kind == PDNN_TERM_CONSTANT &&
        (made->constant.kind != PDNN_DATUM_NUMBER || !pdnn_rational_is_whole(made->constant.number) ||
         made->constant.number.numerator < least))
        return;
    fold->changes |= made != *term;
    *term = made;
}

/* The number that a constant is as a value of the attribute; NULL where only a node can tell. */
static const struct pdnn_term *number_of(const struct fold *fold, const struct pdnn_attribute *row,
                                         const struct pdnn_term *term) {
    const struct pdnn_datum *is = &term->constant;
    if (term->kind != PDNN_TERM_CONSTANT || row->coefficient)
        return NULL;
    if (row->words) {
        for (int i = 0; is->kind == PDNN_DATUM_WORD && row->words[i]; i++)
            if (strcmp(row->words[i], is->word->text) == 0)
                return constant_of(fold, term, whole_of(i));
        return NULL;
    }
    const bool fits = is->kind == PDNN_DATUM_NUMBER && pdnn_rational_is_whole(is->number) &&
                      is->number.numerator >= (row->hides_one || row->is_size);
    return fits ? term : NULL;
}

static void note_given(struct fold *fold, struct pdnn_op_code *made, const struct pdnn_value_code *value,
                       int slot, bool *given) {
    const struct pdnn_attribute *row = &fold->code->op->attributes[slot];
    given[slot] = true;
    fold->is[slot] = number_of(fold, row, value->term);
    if (fold->is[slot])
        pdnn_op_values_set(&made->preset, made, slot, fold->is[slot]->constant);
    else if (!row->words && !row->coefficient &&
             (value->term->kind == PDNN_TERM_GLOBAL || value->term->cache))
        fold->fixed[slot] = value->term;
}

static void note_defaults(struct fold *fold, const bool *given) {
    for (int i = 0; i < fold->code->n_attributes; i++) {
        const struct pdnn_attribute *row = &fold->code->op->attributes[i];
        const struct pdnn_datum *preset = &fold->code->preset.slots[i];
        if (given[i] || row->coefficient || preset->kind != PDNN_DATUM_NUMBER)
            continue;
        struct pdnn_term *constant = pdnn_arena_alloc(fold->compiler->arena, 1, sizeof *constant);
        static const struct pdnn_expression nowhere = {.kind = PDNN_EXPRESSION_NUMBER};
        *constant = (struct pdnn_term){.kind = PDNN_TERM_CONSTANT, .constant = *preset, .from = &nowhere};
        fold->is[i] = constant;
    }
}

/* Those that are evaluated for every node: not what is given, is constant, or is another attribute and in no
 * node. */
static void fold_open(struct fold *fold, struct pdnn_op_code *made, const bool *given) {
    made->n_open = 0;
    for (int k = 0; k < fold->code->n_open; k++) {
        const int i = fold->code->open[k];
        const struct pdnn_attribute *row = &fold->code->op->attributes[i];
        if (given[i]) {
            fold->changes = true;
            continue;
        }
        replace(fold, &made->fallback[i], row->derived ? INT64_MIN : 0);
        const struct pdnn_term *is = made->fallback[i];
        const bool is_constant = is->kind == PDNN_TERM_CONSTANT;
        if (is_constant)
            pdnn_op_values_set(&made->preset, made, i, is->constant);
        if ((is_constant || (is_whole(fold, is) && is_attribute(fold, is) && row->index == PDNN_SIZE)) &&
            !row->coefficient)
            fold->is[i] = is;
        else
            made->open[made->n_open++] = (signed char)i;
    }
    fold->changes |= made->n_open != fold->code->n_open;
}

/* Values that the row has now are not given any more. */
static void drop_given(const struct fold *fold, struct pdnn_entry_code *call,
                       struct pdnn_value_code *values) {
    size_t count = 0;
    for (size_t i = 0; i < call->n_values; i++)
        if (!fold->is[values[i].slot])
            values[count++] = values[i];
    call->n_values = count;
}

void pdnn_op_code_fold(struct pdnn_compiler *compiler, struct pdnn_entry_code *call,
                       struct pdnn_value_code *values) {
    const struct pdnn_op_code *code = call->op;
    struct fold fold = {.compiler = compiler, .code = code};
    bool given[PDNN_ATTRIBUTES] = {false};
    if (call->names_weights || compiler->n_folded >= FOLDED_MAX)
        return;
    struct pdnn_op_code *made = pdnn_arena_alloc(compiler->arena, 1, sizeof *made);
    *made = *code;
    for (size_t i = 0; i < call->n_values; i++) {
        note_given(&fold, made, &values[i], values[i].slot, given);
        if (values[i].second >= 0)
            note_given(&fold, made, &values[i], values[i].second, given);
        fold.changes |= fold.is[values[i].slot] != NULL;
    }
    note_defaults(&fold, given);
    fold_open(&fold, made, given);
    for (int i = 0; i < code->n_operands; i++) {
        for (int k = 0; k < code->operand[i].rank; k++)
            replace(&fold, &made->operand[i].dim[k], 1);
        replace(&fold, &made->operand[i].inputs, 1);
        replace(&fold, &made->operand[i].when, 0);
    }
    replace(&fold, &made->when, 0);
    if (!fold.changes)
        return;
    compiler->n_folded++;
    call->op = made;
    drop_given(&fold, call, values);
}

/* ---- patterns ---- */

static const struct pdnn_definition_value *find_value(const struct pdnn_definition_entry *entry,
                                                      const char *name) {
    for (size_t i = 0; i < entry->n_attributes; i++)
        if (strcmp(entry->attributes[i].name, name) == 0)
            return &entry->attributes[i];
    return NULL;
}

static const struct pdnn_term *term_of(struct pdnn_compiler *compiler, const struct pdnn_pattern *pattern,
                                       const struct pdnn_expression *from) {
    struct pdnn_term *term = pdnn_arena_alloc(compiler->arena, 1, sizeof *term);
    *term = (struct pdnn_term){
        .kind = PDNN_TERM_CONSTANT,
        .constant = {.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(pdnn_pattern_pack(pattern))},
        .from = from};
    return term;
}

struct pdnn_pattern_code pdnn_pattern_code_make(struct pdnn_compiler *compiler,
                                                const struct pdnn_definition_entry *entry,
                                                const struct pdnn_op_def *op) {
    struct pdnn_pattern_code made = {.op = op, .slot = -1};
    struct pdnn_pattern_name names[PDNN_AXES];
    struct pdnn_pattern pattern;
    const char *problem = NULL;
    for (int i = 0; op->attributes[i].name; i++)
        made.slot = op->attributes[i].is_pattern ? i : made.slot;
    const struct pdnn_definition_value *value =
        made.slot < 0 ? NULL : find_value(entry, op->attributes[made.slot].name);
    if (!value || !value->value)
        return made;
    if (value->value->kind != PDNN_EXPRESSION_WORD)
        pdnn_compiler_fail(compiler, value->value->offset,
                           "%s: %s is written out, such as \"'n c h w -> (n h w) c'\"", entry->name,
                           value->name);
    else if (!pdnn_pattern_parse(value->value->text, &pattern, names, &problem))
        pdnn_compiler_fail(compiler, value->value->offset, "%s: '%.80s': %s", entry->name, value->value->text,
                           problem);
    if (pdnn_compiler_failed(compiler))
        return made;
    made.term = term_of(compiler, &pattern, value->value);
    for (; made.n_names < pattern.n_axes; made.n_names++)
        made.names[made.n_names] = pdnn_arena_printf(compiler->arena, "%.*s", (int)names[made.n_names].length,
                                                     names[made.n_names].at);
    return made;
}

int pdnn_pattern_code_find(const struct pdnn_pattern_code *pattern, const char *name) {
    int slot = 0;
    for (int i = 0; i < pattern->n_names; i++, slot++) {
        while (!pattern->op->attributes[slot].is_size)
            slot++;
        if (strcmp(pattern->names[i], name) == 0)
            return slot;
    }
    return -1;
}
