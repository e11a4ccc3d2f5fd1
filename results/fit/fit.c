#include "results/fit/fit.h"
#include "base/visible.h"
#include "results/compare/compare_sums.h"
#include "results/stats/least_squares.h"
#include "base/stats.h"
#include "results/table/read.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
#define EXACT(show)    AS(NUMBER, show), .digits = PDNN_DIGITS_EXACT
#define WRAPPED        AS(TEXT, PLAIN), PDNN_ALIGN_WRAP
#define HEAD                                                                                                  \
    {"family", NULL, NULL, AS(TEXT, PLAIN), PDNN_ALIGN_GROUP, .help = "model family"},                        \
        {"value", NULL, NULL, AS(TEXT, PLAIN),                                                                \
         .help =                                                                                              \
             "what is fitted: a column of results.csv, or a ratio; of several, to which directory or value"}, \
    {                                                                                                         \
        "fit_model", NULL, NULL, AS(TEXT, PLAIN),                                                             \
            .help = "linear: z-scores; log: z-scores of logarithms; power: value = constant * product of "    \
                    "number ^ weight"                                                                         \
    }

static const struct pdnn_column_def fit_columns[PDNN_FIT_COLUMNS] = {
    HEAD,
    {"term", NULL, NULL, WRAPPED,
     .help = "hyper-parameter or run setting; with one of its words, for those that are words; "
             "or the constant of a power law"},
    {"baseline", "against", NULL, WRAPPED, .rank = 2,
     .help = "what a word is set against: the first one in the table"},
    {"state", NULL, NULL, AS(TEXT, PLAIN), .rank = 3,
     .help = "fitted, constant, collinear, confounded, no logarithm or too many words"},
    {"collinear_with", "with", NULL, WRAPPED, .rank = 4,
     .help = "collinear: the terms it is a combination of; confounded: a key that it goes together with, "
             "only because instances are open"},
    {"weight", NULL, NULL, EXACT(PLAIN),
     .help =
         "linear and log: standard deviations of the value per standard deviation of the term; power: the "
         "exponent of a number, the factor of a word"},
    {"ci_low", "95 % interval", NULL, EXACT(INTERVAL),
     .help = "lower end of its 95 % interval, for independent errors of equal size"},
    {"ci_high", NULL, NULL, EXACT(NEVER), .help = "upper end of that interval"},
    {"std_error", NULL, NULL, EXACT(NEVER),
     .help = "its standard error; power: of the logarithm of a factor"},
    {"vif", "VIF", "ratio", EXACT(FIXED), .decimals = 1, .rank = 1,
     .help = "variance inflation: 1 if no other term correlates with this one"},
    {"rows", NULL, "rows", AS(COUNT, NEVER), .help = "instances fitted"},
    {"no_value", NULL, "rows", AS(COUNT, NEVER), .help = "instances left out that lack the value"},
    {"no_cell", NULL, "rows", AS(COUNT, NEVER),
     .help = "instances left out that lack a number which varies among the others"},
    {"outliers", NULL, "rows", AS(COUNT, NEVER), .help = "see the table of residuals"},
    {"r2", NULL, "ratio", EXACT(NEVER),
     .help = "part of the variance explained; for log and power, of the logarithm's"},
    {"r2_adjusted", NULL, "ratio", EXACT(NEVER), .help = "the same, with a price on every term"},
    {"r2_leave_one_out", NULL, "ratio", EXACT(NEVER),
     .help = "the same for predicting each row from all others; empty if a row alone determines a weight"},
};
const struct pdnn_table_def pdnn_fit_def = {"fit", "the terms of fits", fit_columns, PDNN_FIT_COLUMNS};

static const struct pdnn_column_def residuals_columns[PDNN_RESIDUALS_COLUMNS] = {
    HEAD,
    {"id", "instance", NULL, WRAPPED, .help = "the instance"},
    {"actual", NULL, NULL, EXACT(PLAIN), .help = "its value"},
    {"fitted", NULL, NULL, EXACT(PLAIN), .help = "what the fit gives, in the same unit"},
    {"leverage", NULL, "ratio", EXACT(PLAIN), .rank = 1,
     .help = "how much of the fitted value is its own: 1 if it alone determines a weight"},
    {"studentized", NULL, NULL, EXACT(FIXED), .decimals = 1,
     .help = "residual over its standard deviation as estimated from all other rows"},
    {"outlier", NULL, NULL, AS(COUNT, PLAIN), .rank = 2,
     .help = "1: so far off that only 1 table in 20 has such a row by chance"},
};
const struct pdnn_table_def pdnn_residuals_def = {"residuals", "instances with their fitted values",
                                                  residuals_columns, PDNN_RESIDUALS_COLUMNS};

const char *const pdnn_fit_models[PDNN_FIT_MODEL_COUNT + 1] = {"linear", "log", "power", NULL};

/* A column of results.csv while it becomes columns of the matrix. */
struct source {
    int column;
    bool is_number;          /* in all rows that have it */
    struct pdnn_texts words; /* "" is one of them */
    size_t n_words; /* without it: a setting that some rows cannot have says nothing by being there */
};

/* What a fit is made of. */
struct work {
    const struct pdnn_fit_request *request;
    struct pdnn_arena arena;
    struct source *source;
    size_t n_sources;
    bool *is_b;               /* by column: whether side B's cells stand for the pairs */
    size_t *at, n_rows;       /* the rows that are fitted: positions in the selection */
    size_t no_value, no_cell; /* rows left out: the value is missing; a number that varies is missing */
    size_t room;              /* terms there is room for */
    double *x, *y;            /* column by column: n_rows * n_columns; n_rows */
    size_t n_columns, *term;  /* by column of x: its row of the terms */
    int key;                  /* column of the table whose terms are added */
    int *keys;                /* by column of x: that column */
    struct pdnn_table terms;
    struct pdnn_least_squares squares;
};

static const char fitted[] = "fitted";

enum { WORDS_MAX = 16 };

static bool has_logarithms(const struct work *w) {
    return w->request->model != PDNN_FIT_LINEAR;
}

static size_t place_of(const struct work *w, size_t row, int column) {
    const size_t at = w->at[row];
    return w->is_b[column] ? w->request->other[at] : at;
}

static const char *cell(const struct work *w, size_t row, int column) {
    return pdnn_selection_get(w->request->selection, place_of(w, row, column), column);
}

static double number(const struct work *w, size_t row, int column) {
    return pdnn_selection_number(w->request->selection, place_of(w, row, column), column);
}

static enum pdnn_status find_sources(struct work *w, struct pdnn_err *err) {
    const struct pdnn_results *results = &w->request->selection->results;
    const char *rest = w->request->on, *at;
    w->source = pdnn_arena_alloc(&w->arena, results->table.n_columns + 1, sizeof *w->source);
    w->is_b = pdnn_arena_alloc(&w->arena, results->table.n_columns, sizeof *w->is_b);
    for (int column = results->first_key; !rest && column < results->end_key; column++)
        if (!w->request->comparison || column != results->results)
            w->source[w->n_sources++].column = column;
    for (size_t length; (at = pdnn_part_next(&rest, ",", &length));) {
        const char *name = pdnn_arena_printf(&w->arena, "%.*s", (int)length, at);
        int column;
        if (pdnn_results_ask(results, name, false, &column, err) != PDNN_OK)
            return err->status;
        for (size_t k = 0; k < w->n_sources; k++)
            if (w->source[k].column == column)
                return pdnn_fail(err, PDNN_INVALID, "'%.64s' is named twice", name);
        w->source[w->n_sources++].column = column;
    }
    for (size_t i = 0; w->request->comparison && i < w->n_sources; i++)
        w->is_b[w->source[i].column] =
            pdnn_comparison_side(w->request->comparison, w->source[i].column) == PDNN_SIDE_B;
    return PDNN_OK;
}

/* Rows of the family that have a value. */
static enum pdnn_status find_rows(struct work *w, struct pdnn_err *err) {
    const struct pdnn_fit_request *request = w->request;
    const struct pdnn_selection *selection = request->selection;
    w->at = pdnn_arena_alloc(&w->arena, selection->count + 1, sizeof *w->at);
    for (size_t at = 0; at < selection->count; at++) {
        if ((request->chosen && !request->chosen[at]) ||
            strcmp(pdnn_selection_get(selection, at, selection->family), request->family) != 0)
            continue;
        if (isfinite(request->values[at]))
            w->at[w->n_rows++] = at;
        else
            w->no_value++;
    }
    if (!w->n_rows)
        return pdnn_fail(err, PDNN_INVALID, "no instance of '%.64s' that ended ok has a number for %.64s",
                         request->family, request->what);
    for (size_t row = 0; has_logarithms(w) && row < w->n_rows; row++)
        if (request->values[w->at[row]] <= 0)
            return pdnn_fail(err, PDNN_INVALID, "%.64s is %g, which has no logarithm, in %.512s",
                             request->what, request->values[w->at[row]], cell(w, row, selection->id));
    return PDNN_OK;
}

static void classify(struct work *w) {
    for (struct source *source = w->source; source < w->source + w->n_sources; source++) {
        source->is_number = true;
        for (size_t row = 0; row < w->n_rows; row++) {
            const char *text = cell(w, row, source->column);
            pdnn_texts_add(&source->words, text);
            source->is_number = source->is_number && (!*text || !isnan(number(w, row, source->column)));
        }
        source->n_words = source->words.count - (pdnn_texts_find(&source->words, "") != SIZE_MAX);
        w->room += source->is_number || source->words.count > WORDS_MAX ? 1 : source->words.count;
    }
}

/* Leaves out rows without a number that others have. */
static void leave_out(struct work *w) {
    size_t kept = 0;
    for (size_t row = 0; row < w->n_rows; row++) {
        size_t i = 0;
        while (i < w->n_sources &&
               !(w->source[i].is_number && w->source[i].n_words > 1 && !*cell(w, row, w->source[i].column)))
            i++;
        if (i == w->n_sources)
            w->at[kept++] = w->at[row];
    }
    w->no_cell = w->n_rows - kept;
    w->n_rows = kept;
}

static void add_term(struct work *w, const char *state, const char *name, const char *baseline) {
    const struct pdnn_fit_request *of = w->request;
    const char *const texts[] = {of->family, of->what, pdnn_fit_models[of->model], name, baseline, state};
    const size_t row = pdnn_table_add_texts(&w->terms, sizeof texts / sizeof *texts, texts);
    if (state != fitted)
        return;
    w->keys[w->n_columns] = w->key;
    w->term[w->n_columns++] = row;
}

static void add_words(struct work *w, const struct source *source, const char *key) {
    const char *const *words = source->words.text;
    for (size_t i = 1; i < source->words.count; i++) {
        double *x = w->x + w->n_columns * w->n_rows;
        for (size_t row = 0; row < w->n_rows; row++)
            x[row] = strcmp(cell(w, row, source->column), words[i]) == 0;
        add_term(w, fitted, pdnn_arena_printf(&w->arena, "%s=%s", key, words[i]),
                 pdnn_arena_printf(&w->arena, "%s=%s", key, words[0]));
    }
}

/* The columns of a key; that of another family has none. Where the user named the key, what cannot become a
 * column is an error. */
static enum pdnn_status add_source(struct work *w, const struct source *source, struct pdnn_err *err) {
    const char *key = pdnn_results_name(&w->request->selection->results, source->column);
    const bool is_named = w->request->on, varies = source->n_words > 1;
    const char *state = !varies ? "constant" : source->is_number ? fitted : "too many words";
    double *x = w->x + w->n_columns * w->n_rows; /* a column once it has a term */
    w->key = source->column;
    if (varies && !source->is_number && source->words.count <= WORDS_MAX) {
        add_words(w, source, key);
        return PDNN_OK;
    }
    if (varies && !source->is_number && is_named)
        return pdnn_fail(err, PDNN_INVALID, "'%.64s' has %zu different words; at most %d can be fitted", key,
                         source->words.count, WORDS_MAX);
    for (size_t row = 0; row < w->n_rows && state == fitted; row++) {
        const double value = number(w, row, source->column);
        x[row] = has_logarithms(w) ? log(value) : value;
        if (!has_logarithms(w) || value > 0)
            continue;
        if (is_named)
            return pdnn_fail(err, PDNN_INVALID, "'%.64s' is %g, which has no logarithm, in %.512s", key,
                             value, cell(w, row, w->request->selection->id));
        state = "no logarithm";
    }
    if (source->n_words || is_named)
        add_term(w, state, key, "");
    return PDNN_OK;
}

/* The matrix, and a term for each of its columns and for what cannot be one. */
static enum pdnn_status fill(struct work *w, struct pdnn_err *err) {
    w->term = pdnn_arena_alloc(&w->arena, w->room + 1, sizeof *w->term);
    w->keys = pdnn_arena_alloc(&w->arena, w->room + 1, sizeof *w->keys);
    w->x = pdnn_arena_alloc(&w->arena, (w->room + 1) * (w->n_rows + 1), sizeof *w->x);
    w->y = pdnn_arena_alloc(&w->arena, w->n_rows + 1, sizeof *w->y);
    for (size_t row = 0; row < w->n_rows; row++) {
        double value = w->request->values[w->at[row]];
        w->y[row] = has_logarithms(w) ? log(value) : value;
    }
    for (size_t i = 0; i < w->n_sources; i++)
        if (add_source(w, &w->source[i], err) != PDNN_OK)
            return err->status;
    if (!w->n_columns)
        return pdnn_fail(err, PDNN_INVALID,
                         "%.64s: nothing that %.64s could be fitted on varies among %zu rows",
                         w->request->family, w->request->what, w->n_rows);
    return PDNN_OK;
}

static enum pdnn_status solve(struct work *w, struct pdnn_err *err) {
    if (find_sources(w, err) != PDNN_OK || find_rows(w, err) != PDNN_OK)
        return err->status;
    classify(w);
    leave_out(w);
    if (fill(w, err) != PDNN_OK)
        return err->status;
    return pdnn_least_squares(w->x, w->y, w->n_rows, w->n_columns, &w->arena, &w->squares, err) == PDNN_OK
               ? PDNN_OK
               : pdnn_wrap(err, "%.64s: %.64s", w->request->family, w->request->what);
}

/* As the model reports it. */
static void set_weight(struct work *w, size_t row, double weight, double error, double scale,
                       bool is_factor) {
    const double half = pdnn_student_t95(w->squares.degrees) * error,
                 at[] = {weight * scale, (weight - half) * scale, (weight + half) * scale};
    for (size_t i = 0; i < 3; i++)
        pdnn_table_set_number(&w->terms, row, PDNN_FIT_WEIGHT + i, is_factor ? exp(at[i]) : at[i]);
}

/* The weight of a term, or why it has none. */
static void set_column(struct work *w, size_t j) {
    const struct pdnn_least_squares_column *column = &w->squares.column[j];
    const size_t row = w->term[j];
    const bool is_power = w->request->model == PDNN_FIT_POWER,
               is_word = !pdnn_table_is_empty(&w->terms, row, PDNN_FIT_BASELINE);
    const double scale = is_power ? 1 : column->spread / w->squares.spread;
    const char *confounder =
        w->request->gaps ? pdnn_gaps_confounder(w->request->gaps, w->request->selection, w->keys[j]) : NULL;
    if (column->rank == PDNN_RANK_FULL && confounder) {
        pdnn_table_set_text(&w->terms, row, PDNN_FIT_WITH, confounder);
        pdnn_table_set_text(&w->terms, row, PDNN_FIT_STATE, "confounded");
        return;
    }
    if (column->rank == PDNN_RANK_FULL) {
        set_weight(w, row, column->weight, column->std_error, scale, is_power && is_word);
        pdnn_table_set_number(&w->terms, row, PDNN_FIT_STD_ERROR, column->std_error * scale);
        pdnn_table_set_number(&w->terms, row, PDNN_FIT_VIF, column->inflation);
        return;
    }
    struct pdnn_str with = {0};
    for (size_t k = 0; column->uses && k < w->n_columns; k++)
        if (column->uses[k])
            pdnn_str_printf(&with, "%s%s", with.length ? ", " : "",
                            pdnn_table_text(&w->terms, w->term[k], PDNN_FIT_TERM));
    pdnn_table_set_text(&w->terms, row, PDNN_FIT_WITH, pdnn_str_text(&with));
    pdnn_table_set_text(&w->terms, row, PDNN_FIT_STATE,
                        column->rank == PDNN_RANK_CONSTANT ? "constant" : "collinear");
    pdnn_str_finish(&with);
}

/* Bonferroni: with n rows, each is tested at 5 % / n. Returns the number of outliers. */
static size_t add_residuals(struct work *w, struct pdnn_table *residuals) {
    const struct pdnn_fit_request *request = w->request;
    const struct pdnn_least_squares *squares = &w->squares;
    size_t outliers = 0;
    for (size_t i = 0; i < squares->n_rows; i++) {
        const struct pdnn_least_squares_row *from = &squares->row[i];
        const char *const texts[] = {request->family, request->what, pdnn_fit_models[request->model],
                                     cell(w, i, request->selection->id)};
        const size_t row = pdnn_table_add_texts(residuals, sizeof texts / sizeof *texts, texts);
        const bool is_outlier =
            isfinite(from->studentized) &&
            pdnn_student_tails(from->studentized, squares->degrees - 1) * (double)squares->n_rows < 0.05;
        const double numbers[] = {request->values[w->at[i]],
                                  has_logarithms(w) ? exp(from->fitted) : from->fitted, from->leverage,
                                  from->studentized};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            pdnn_table_set_number(residuals, row, PDNN_RESIDUALS_ACTUAL + k, numbers[k]);
        pdnn_table_set_count(residuals, row, PDNN_RESIDUALS_OUTLIER, is_outlier);
        outliers += is_outlier;
    }
    return outliers;
}

/* Adds the terms with what belongs to the whole fit. */
static void add_terms(struct work *w, size_t outliers, struct pdnn_table *terms) {
    for (size_t j = 0; j < w->n_columns; j++)
        set_column(w, j);
    if (w->request->model == PDNN_FIT_POWER) {
        add_term(w, fitted, "constant", "");
        set_weight(w, w->terms.n_rows - 1, w->squares.intercept, w->squares.intercept_error, 1, true);
    }
    const uint64_t counts[] = {w->n_rows, w->no_value, w->no_cell, outliers};
    const double r2[] = {w->squares.r2, w->squares.r2_adjusted, w->squares.r2_leave_one_out};
    for (size_t i = 0; i < w->terms.n_rows; i++) {
        size_t row = pdnn_table_copy_row(terms, &w->terms, i);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            pdnn_table_set_count(terms, row, PDNN_FIT_ROWS + k, counts[k]);
        for (size_t k = 0; k < sizeof r2 / sizeof *r2; k++)
            pdnn_table_set_number(terms, row, PDNN_FIT_R2 + k, r2[k]);
    }
}

enum pdnn_status pdnn_fit(const struct pdnn_fit_request *request, struct pdnn_table *terms,
                          struct pdnn_table *residuals, struct pdnn_err *err) {
    struct work w = {.request = request};
    pdnn_table_init(&w.terms, &pdnn_fit_def);
    enum pdnn_status status = solve(&w, err);
    if (status == PDNN_OK)
        add_terms(&w, add_residuals(&w, residuals), terms);
    for (size_t i = 0; i < w.n_sources; i++)
        pdnn_texts_finish(&w.source[i].words);
    pdnn_table_finish(&w.terms);
    pdnn_arena_finish(&w.arena);
    return status;
}

/* The numbers that the file from which a directory was imported gives itself. */
static enum pdnn_status take_imported(const struct pdnn_selection *selection, size_t directory,
                                      const char *name, double *values, struct pdnn_err *err) {
    const struct pdnn_column_def columns[] = {{.name = "id"}, {.name = name, .kind = PDNN_KIND_NUMBER}};
    const struct pdnn_table_def def = {"imported", "", columns, 2};
    struct pdnn_str path = {0};
    struct pdnn_texts ids = {0};
    struct pdnn_table table = {.n_rows = 0};
    pdnn_str_printf(&path, "%s/imported.csv", selection->results.directory[directory]);
    struct pdnn_table_file file = {.path = pdnn_str_text(&path), .limit_bytes = (size_t)1 << 30};
    enum pdnn_status status = pdnn_table_read(&file, &def, &table, err);
    for (size_t row = 0; row < table.n_rows; row++)
        pdnn_texts_add(&ids, pdnn_table_text(&table, row, 0)); /* each once, so numbers are rows */
    for (size_t at = 0; at < selection->count; at++) {
        size_t row = pdnn_texts_find(&ids, pdnn_selection_get(selection, at, selection->id));
        if (row != SIZE_MAX && pdnn_selection_source(selection, at) == directory)
            values[at] = pdnn_table_number(&table, row, 1);
    }
    pdnn_table_finish(&table);
    pdnn_texts_finish(&ids);
    pdnn_str_finish(&path);
    return status;
}

enum pdnn_status pdnn_fit_values(const struct pdnn_selection *selection, const char *column,
                                 struct pdnn_arena *arena, const double **values, struct pdnn_err *err) {
    static const char imported[] = "imported.";
    const bool is_imported = strncmp(column, imported, sizeof imported - 1) == 0;
    int found = -1;
    if (!is_imported && pdnn_results_ask(&selection->results, column, false, &found, err) != PDNN_OK)
        return err->status;
    double *made = pdnn_arena_alloc(arena, selection->count + 1, sizeof *made);
    for (size_t at = 0; at < selection->count; at++)
        made[at] = pdnn_selection_number(selection, at, found);
    for (size_t d = 0; is_imported && d < selection->results.n_directories; d++)
        if (take_imported(selection, d, column + sizeof imported - 1, made, err) != PDNN_OK)
            return err->status;
    *values = made;
    return PDNN_OK;
}

/* The column that the model fits, or the ratios, which are those of A's rows; request: all but the values. */
static enum pdnn_status fit_family(struct pdnn_fit_request request, struct pdnn_table *terms,
                                   struct pdnn_table *residuals, struct pdnn_err *err) {
    const struct pdnn_comparison *comparison = request.comparison;
    const size_t room = request.selection->count + 1;
    struct pdnn_arena arena = {0};
    enum pdnn_status status = PDNN_OK;
    double *ratios = pdnn_arena_alloc(&arena, room, sizeof *ratios);
    bool *has_ratio = pdnn_arena_alloc(&arena, room, sizeof *has_ratio);
    size_t *other = pdnn_arena_alloc(&arena, room, sizeof *other);
    for (size_t pair = 0; comparison && pair < comparison->pairs.n_rows; pair++) {
        size_t at = comparison->at[pair][PDNN_SIDE_A];
        ratios[at] = pdnn_pair_ratio(comparison, pair);
        has_ratio[at] = true;
        other[at] = comparison->at[pair][PDNN_SIDE_B];
    }
    if (comparison) {
        request.what = request.what ? request.what : "ratio";
        request.values = ratios;
        request.chosen = has_ratio;
        request.other = other;
    } else {
        if (!request.what)
            request.what = request.model == PDNN_FIT_POWER ? "time_ns_median"
                                                           : pdnn_selection_utilization(request.selection);
        status = pdnn_fit_values(request.selection, request.what, &arena, &request.values, err);
    }
    if (status == PDNN_OK)
        status = pdnn_fit(&request, terms, residuals, err);
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_fit_all(const struct pdnn_fit_request *request, const bool models[PDNN_FIT_MODEL_COUNT],
                              struct pdnn_table *terms, struct pdnn_table *residuals, struct pdnn_str *notes,
                              struct pdnn_err *err) {
    const struct pdnn_selection *selection = request->selection;
    struct pdnn_fit_request one = *request;
    struct pdnn_texts families = {0};
    struct pdnn_gaps gaps;
    enum pdnn_status status = PDNN_OK;
    if (request->comparison)
        pdnn_comparison_gaps(request->comparison, "", &gaps);
    else
        pdnn_gaps_find(selection, &gaps);
    one.gaps = &gaps;
    for (size_t at = 0; at < selection->count; at++)
        pdnn_texts_add(&families, pdnn_selection_get(selection, at, selection->family));
    for (size_t i = 0; status == PDNN_OK && i < families.count * PDNN_FIT_MODEL_COUNT; i++) {
        char shown[PDNN_VISIBLE_TEXT];
        one.family = families.text[i / PDNN_FIT_MODEL_COUNT];
        one.model = (enum pdnn_fit_model)(i % PDNN_FIT_MODEL_COUNT);
        if (models[one.model])
            status = fit_family(one, terms, residuals, err);
        if (status != PDNN_INVALID)
            continue;
        const char *why = pdnn_visible(shown, err->text);
        if (!strstr(pdnn_str_text(notes), why))
            pdnn_str_printf(notes, "%s\n", why);
        status = PDNN_OK;
        *err = (struct pdnn_err){.status = PDNN_OK};
    }
    pdnn_texts_finish(&families);
    if (status != PDNN_OK || terms->n_rows)
        return status;
    const char *text =
        notes->length ? pdnn_str_text(notes) : "no instance ended ok, so there is nothing to fit";
    return pdnn_fail(err, PDNN_INVALID, "%.*s", (int)strcspn(text, "\n"), text);
}
