#include "results/fit/design_matrix.h"
#include "base/texts.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

const char *pdnn_term_state_name(enum pdnn_term_state state) {
    static const char *const names[PDNN_TERM_STATE_COUNT] = {"fitted", "constant", "collinear",
                                                             "no logarithm", "too many words"};
    return names[state];
}

/* A column of results.csv while it becomes columns of the matrix. */
struct source {
    int column;
    bool named;              /* by the caller */
    bool is_number;          /* in all rows that have it */
    bool varies;             /* among those rows */
    bool is_empty;           /* in all rows */
    struct pdnn_texts words; /* "" is one of them */
};

struct builder {
    const struct pdnn_design_request *request;
    struct pdnn_arena *arena;
    struct source *source;
    size_t n_sources, room; /* terms there is room for */
    struct pdnn_design made;
};

static const char *cell(const struct builder *b, size_t row, int column) {
    return pdnn_selection_get(b->request->selection, b->made.at[row], column);
}

static double number(const struct builder *b, size_t row, int column) {
    return pdnn_selection_number(b->request->selection, b->made.at[row], column);
}

static enum pdnn_status find_sources(struct builder *b, struct pdnn_err *err) {
    const struct pdnn_selection *selection = b->request->selection;
    size_t n_keys = (size_t)(selection->results.end_key - selection->results.first_key);
    size_t count = b->request->n_on ? b->request->n_on : n_keys;
    b->source = pdnn_arena_alloc(b->arena, count + 1, sizeof *b->source);
    for (size_t i = 0; i < count; i++) {
        struct source *source = &b->source[i];
        *source =
            (struct source){.column = selection->results.first_key + (int)i, .named = b->request->n_on > 0};
        if (source->named &&
            pdnn_results_ask(&selection->results, b->request->on[i], &source->column, err) != PDNN_OK)
            return err->status;
        for (size_t k = 0; k < i; k++) {
            if (b->source[k].column == source->column)
                return pdnn_fail(err, PDNN_INVALID, "'%.64s' is named twice", b->request->on[i]);
        }
        b->n_sources++;
    }
    return PDNN_OK;
}

/* Rows of the family that have a value. */
static enum pdnn_status find_rows(struct builder *b, struct pdnn_err *err) {
    const struct pdnn_design_request *request = b->request;
    const struct pdnn_selection *selection = request->selection;
    b->made.at = pdnn_arena_alloc(b->arena, selection->count + 1, sizeof *b->made.at);
    for (size_t at = 0; at < selection->count; at++) {
        if ((request->chosen && !request->chosen[at]) ||
            strcmp(pdnn_selection_get(selection, at, selection->family), request->family) != 0)
            continue;
        if (isfinite(request->values[at]))
            b->made.at[b->made.n_rows++] = at;
        else
            b->made.no_value++;
    }
    if (!b->made.n_rows)
        return pdnn_fail(err, PDNN_INVALID, "no instance of '%.64s' that ended ok has a number for %.64s",
                         request->family, request->what);
    for (size_t i = 0; request->logarithms && i < b->made.n_rows; i++) {
        size_t at = b->made.at[i];
        if (request->values[at] <= 0)
            return pdnn_fail(err, PDNN_INVALID, "%.64s is %g, which has no logarithm, in %.512s",
                             request->what, request->values[at],
                             pdnn_selection_get(selection, at, selection->id));
    }
    return PDNN_OK;
}

static void classify(struct builder *b, struct source *source) {
    size_t n_words = 0;
    source->is_number = true;
    for (size_t row = 0; row < b->made.n_rows; row++) {
        const char *text = cell(b, row, source->column);
        pdnn_texts_add(&source->words, text);
        source->is_number = source->is_number && (!*text || !isnan(number(b, row, source->column)));
    }
    for (size_t i = 0; i < source->words.count; i++)
        n_words += *source->words.text[i] != 0;
    source->is_empty = n_words == 0;
    /* A setting that some rows cannot have says nothing by being there. */
    source->varies = n_words > 1;
    b->room += source->is_number || source->words.count > PDNN_DESIGN_WORDS_MAX ? 1 : source->words.count;
}

/* Leaves out rows without a number that others have. */
static void leave_out(struct builder *b) {
    size_t kept = 0;
    for (size_t row = 0; row < b->made.n_rows; row++) {
        size_t i = 0;
        while (i < b->n_sources &&
               !(b->source[i].is_number && b->source[i].varies && !*cell(b, row, b->source[i].column)))
            i++;
        if (i == b->n_sources)
            b->made.at[kept++] = b->made.at[row];
        else
            b->made.no_cell++;
    }
    b->made.n_rows = kept;
}

static void add_term(struct builder *b, const struct source *source, enum pdnn_term_state state,
                     const char *word) {
    const char *key = pdnn_results_name(&b->request->selection->results, source->column);
    struct pdnn_design *made = &b->made;
    const char *name =
        word ? pdnn_arena_printf(b->arena, "%s=%s", key, word) : pdnn_arena_strdup(b->arena, key);
    const char *baseline = word ? pdnn_arena_printf(b->arena, "%s=%s", key, source->words.text[0]) : NULL;
    if (state == PDNN_TERM_FITTED)
        made->term_of[made->n_columns++] = made->n_terms;
    made->term[made->n_terms++] = (struct pdnn_design_term){name, baseline, state, source->column};
}

static enum pdnn_status add_number(struct builder *b, const struct source *source, struct pdnn_err *err) {
    double *x = b->made.x + b->made.n_columns * b->made.n_rows;
    for (size_t row = 0; row < b->made.n_rows; row++) {
        double value = number(b, row, source->column);
        if (b->request->logarithms && value <= 0) {
            if (!source->named) {
                add_term(b, source, PDNN_TERM_NO_LOGARITHM, NULL);
                return PDNN_OK;
            }
            return pdnn_fail(err, PDNN_INVALID, "'%.64s' is %g, which has no logarithm, in %.512s",
                             pdnn_results_name(&b->request->selection->results, source->column), value,
                             cell(b, row, b->request->selection->id));
        }
        x[row] = b->request->logarithms ? log(value) : value;
    }
    add_term(b, source, PDNN_TERM_FITTED, NULL);
    return PDNN_OK;
}

static void add_words(struct builder *b, const struct source *source) {
    for (size_t i = 1; i < source->words.count; i++) {
        double *x = b->made.x + b->made.n_columns * b->made.n_rows;
        for (size_t row = 0; row < b->made.n_rows; row++)
            x[row] = strcmp(cell(b, row, source->column), source->words.text[i]) == 0;
        add_term(b, source, PDNN_TERM_FITTED, source->words.text[i]);
    }
}

static enum pdnn_status add_source(struct builder *b, const struct source *source, struct pdnn_err *err) {
    const char *key = pdnn_results_name(&b->request->selection->results, source->column);
    if (source->is_empty && !source->named)
        return PDNN_OK; /* another family's */
    if (source->varies && source->is_number)
        return add_number(b, source, err);
    if (!source->varies)
        add_term(b, source, PDNN_TERM_CONSTANT, NULL);
    else if (source->words.count <= PDNN_DESIGN_WORDS_MAX)
        add_words(b, source);
    else if (!source->named)
        add_term(b, source, PDNN_TERM_WORDS, NULL);
    else
        return pdnn_fail(err, PDNN_INVALID, "'%.64s' has %zu different words; at most %d can be fitted", key,
                         source->words.count, PDNN_DESIGN_WORDS_MAX);
    return PDNN_OK;
}

static enum pdnn_status fill(struct builder *b, struct pdnn_err *err) {
    struct pdnn_design *made = &b->made;
    enum pdnn_status status = PDNN_OK;
    made->term = pdnn_arena_alloc(b->arena, b->room + 1, sizeof *made->term);
    made->term_of = pdnn_arena_alloc(b->arena, b->room + 1, sizeof *made->term_of);
    made->x = pdnn_arena_alloc(b->arena, (b->room + 1) * (made->n_rows + 1), sizeof *made->x);
    made->y = pdnn_arena_alloc(b->arena, made->n_rows + 1, sizeof *made->y);
    for (size_t row = 0; row < made->n_rows; row++) {
        double value = b->request->values[made->at[row]];
        made->y[row] = b->request->logarithms ? log(value) : value;
    }
    for (size_t i = 0; status == PDNN_OK && i < b->n_sources; i++)
        status = add_source(b, &b->source[i], err);
    return status;
}

enum pdnn_status pdnn_design_matrix(const struct pdnn_design_request *request, struct pdnn_arena *arena,
                                    struct pdnn_design *design, struct pdnn_err *err) {
    struct builder b = {.request = request, .arena = arena};
    enum pdnn_status status = find_sources(&b, err);
    if (status == PDNN_OK)
        status = find_rows(&b, err);
    for (size_t i = 0; status == PDNN_OK && i < b.n_sources; i++)
        classify(&b, &b.source[i]);
    if (status == PDNN_OK) {
        leave_out(&b);
        status = fill(&b, err);
    }
    for (size_t i = 0; i < b.n_sources; i++)
        pdnn_texts_finish(&b.source[i].words);
    if (status == PDNN_OK)
        *design = b.made;
    return status;
}
