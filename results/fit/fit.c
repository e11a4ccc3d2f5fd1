#include "results/table/csv.h"
#include "results/fit/fit.h"
#include "base/texts.h"
#include "results/stats/least_squares.h"
#include "base/stats.h"
#include "results/table/read.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNT(what) .unit = what, .kind = PDNN_KIND_COUNT, .show = PDNN_SHOW_NEVER
#define NUMBER      .kind = PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT
#define R2          .unit = "ratio", NUMBER, .show = PDNN_SHOW_NEVER
#define HEAD                                                                                                 \
    {.name = "family", .align = PDNN_ALIGN_GROUP, .help = "model family"},                                   \
        {.name = "value", .help = "what is fitted: a column of results.csv, or a ratio"}, {                  \
        .name = "fit_model",                                                                                 \
        .help = "linear: z-scores; log: z-scores of logarithms; power: value = constant * product of "       \
                "number ^ weight"                                                                            \
    }

static const struct pdnn_column_def fit_columns[PDNN_FIT_COLUMNS] = {
    HEAD,
    {.name = "term",
     .align = PDNN_ALIGN_WRAP,
     .help = "hyper-parameter or run setting; with one of its words, for those that are words; "
             "or the constant of a power law"},
    {.name = "baseline",
     .title = "against",
     .align = PDNN_ALIGN_WRAP,
     .rank = 2,
     .help = "what a word is set against: the first one in the table"},
    {.name = "state", .rank = 3, .help = "fitted, constant, collinear, no logarithm or too many words"},
    {.name = "collinear_with",
     .title = "with",
     .align = PDNN_ALIGN_WRAP,
     .rank = 4,
     .help = "collinear: the terms it is a combination of"},
    {.name = "weight",
     NUMBER,
     .help =
         "linear and log: standard deviations of the value per standard deviation of the term; power: the "
         "exponent of a number, the factor of a word"},
    {.name = "ci_low",
     .title = "95 % interval",
     NUMBER,
     .show = PDNN_SHOW_INTERVAL,
     .help = "lower end of its 95 % interval, for independent errors of equal size"},
    {.name = "ci_high", NUMBER, .show = PDNN_SHOW_NEVER, .help = "upper end of that interval"},
    {.name = "std_error",
     NUMBER,
     .show = PDNN_SHOW_NEVER,
     .help = "its standard error; power: of the logarithm of a factor"},
    {.name = "vif",
     .title = "VIF",
     .unit = "ratio",
     NUMBER,
     .show = PDNN_SHOW_FIXED,
     .decimals = 1,
     .rank = 1,
     .help = "variance inflation: 1 if no other term correlates with this one"},
    {.name = "rows", COUNT("rows"), .help = "instances fitted"},
    {.name = "no_value", COUNT("rows"), .help = "instances left out that lack the value"},
    {.name = "no_cell",
     COUNT("rows"),
     .help = "instances left out that lack a number which varies among the others"},
    {.name = "outliers", COUNT("rows"), .help = "see the table of residuals"},
    {.name = "r2", R2, .help = "part of the variance explained; for log and power, of the logarithm's"},
    {.name = "r2_adjusted", R2, .help = "the same, with a price on every term"},
    {.name = "r2_leave_one_out",
     R2,
     .help = "the same for predicting each row from all others; empty if a row alone determines a weight"},
};
const struct pdnn_table_def pdnn_fit_def = {"fit", "the terms of fits", fit_columns, PDNN_FIT_COLUMNS};

static const struct pdnn_column_def residuals_columns[PDNN_RESIDUALS_COLUMNS] = {
    HEAD,
    {.name = "id", .title = "instance", .align = PDNN_ALIGN_WRAP, .help = "the instance"},
    {.name = "actual", NUMBER, .help = "its value"},
    {.name = "fitted", NUMBER, .help = "what the fit gives, in the same unit"},
    {.name = "leverage",
     .unit = "ratio",
     NUMBER,
     .rank = 1,
     .help = "how much of the fitted value is its own: 1 if it alone determines a weight"},
    {.name = "studentized",
     NUMBER,
     .show = PDNN_SHOW_FIXED,
     .decimals = 1,
     .help = "residual over its standard deviation as estimated from all other rows"},
    {.name = "outlier",
     .kind = PDNN_KIND_COUNT,
     .rank = 2,
     .help = "1: so far off that only 1 table in 20 has such a row by chance"},
};
const struct pdnn_table_def pdnn_residuals_def = {"residuals", "instances with their fitted values",
                                                  residuals_columns, PDNN_RESIDUALS_COLUMNS};

const char *const pdnn_fit_models[PDNN_FIT_MODEL_COUNT + 1] = {"linear", "log", "power", NULL};

/* What a collinear column is a combination of; "" with no other column. */
static const char *combination(const struct pdnn_design *design, const struct pdnn_least_squares *squares,
                               const struct pdnn_least_squares_column *column, struct pdnn_arena *arena) {
    const char *text = "";
    for (size_t j = 0; j < squares->n_columns; j++) {
        if (column->uses[j])
            text = pdnn_arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
                                     design->term[design->term_of[j]].name);
    }
    return text;
}

/* What a fit is made of. */
struct work {
    const struct pdnn_fit_request *request;
    struct pdnn_design design;
    struct pdnn_least_squares squares;
    struct pdnn_arena arena;
};

/* As the model reports it. */
static void set_weight(struct pdnn_table *terms, size_t row, double weight, double half, double scale,
                       bool is_factor) {
    double at = weight * scale, low = (weight - half) * scale, high = (weight + half) * scale;
    pdnn_table_set_number(terms, row, PDNN_FIT_WEIGHT, is_factor ? exp(at) : at);
    pdnn_table_set_number(terms, row, PDNN_FIT_CI_LOW, is_factor ? exp(low) : low);
    pdnn_table_set_number(terms, row, PDNN_FIT_CI_HIGH, is_factor ? exp(high) : high);
}

/* The weight of a term, or why it has none. */
static void set_column(struct work *work, const struct pdnn_least_squares_column *column, bool is_word,
                       struct pdnn_table *terms, size_t row) {
    bool is_power = work->request->model == PDNN_FIT_POWER;
    double scale = is_power ? 1 : column->spread / work->squares.spread;
    double half = pdnn_student_t95(work->squares.degrees) * column->std_error;
    if (column->rank == PDNN_RANK_FULL) {
        set_weight(terms, row, column->weight, half, scale, is_power && is_word);
        pdnn_table_set_number(terms, row, PDNN_FIT_STD_ERROR, column->std_error * scale);
        pdnn_table_set_number(terms, row, PDNN_FIT_VIF, column->inflation);
        return;
    }
    bool is_constant = column->rank == PDNN_RANK_CONSTANT;
    pdnn_table_set_text(terms, row, PDNN_FIT_STATE,
                        pdnn_term_state_name(is_constant ? PDNN_TERM_CONSTANT : PDNN_TERM_COLLINEAR));
    if (!is_constant)
        pdnn_table_set_text(terms, row, PDNN_FIT_WITH,
                            combination(&work->design, &work->squares, column, &work->arena));
}

/* Bonferroni: with n rows, each is tested at 5 % / n. Returns the number of outliers. */
static size_t add_residuals(struct work *work, struct pdnn_table *residuals) {
    const struct pdnn_fit_request *request = work->request;
    const struct pdnn_least_squares *squares = &work->squares;
    size_t outliers = 0;
    for (size_t i = 0; i < squares->n_rows; i++) {
        const struct pdnn_least_squares_row *from = &squares->row[i];
        size_t at = work->design.at[i], row = pdnn_table_add_row(residuals);
        bool is_outlier =
            isfinite(from->studentized) &&
            pdnn_student_tails(from->studentized, squares->degrees - 1) * (double)squares->n_rows < 0.05;
        pdnn_table_set_text(residuals, row, PDNN_RESIDUALS_FAMILY, request->family);
        pdnn_table_set_text(residuals, row, PDNN_RESIDUALS_VALUE, request->what);
        pdnn_table_set_text(residuals, row, PDNN_RESIDUALS_MODEL, pdnn_fit_models[request->model]);
        pdnn_table_set_text(residuals, row, PDNN_RESIDUALS_ID,
                            pdnn_selection_get(request->selection, at, request->selection->id));
        pdnn_table_set_number(residuals, row, PDNN_RESIDUALS_ACTUAL, request->values[at]);
        pdnn_table_set_number(residuals, row, PDNN_RESIDUALS_FITTED,
                              request->model == PDNN_FIT_LINEAR ? from->fitted : exp(from->fitted));
        pdnn_table_set_number(residuals, row, PDNN_RESIDUALS_LEVERAGE, from->leverage);
        pdnn_table_set_number(residuals, row, PDNN_RESIDUALS_STUDENTIZED, from->studentized);
        pdnn_table_set_count(residuals, row, PDNN_RESIDUALS_OUTLIER, is_outlier);
        outliers += is_outlier;
    }
    return outliers;
}

/* A term's row with what belongs to the whole fit. */
static size_t add_term(const struct work *work, const char *name, const char *baseline,
                       enum pdnn_term_state state, size_t outliers, struct pdnn_table *terms) {
    size_t row = pdnn_table_add_row(terms);
    pdnn_table_set_text(terms, row, PDNN_FIT_FAMILY, work->request->family);
    pdnn_table_set_text(terms, row, PDNN_FIT_VALUE, work->request->what);
    pdnn_table_set_text(terms, row, PDNN_FIT_MODEL, pdnn_fit_models[work->request->model]);
    pdnn_table_set_text(terms, row, PDNN_FIT_TERM, name);
    pdnn_table_set_text(terms, row, PDNN_FIT_BASELINE, baseline ? baseline : "");
    pdnn_table_set_text(terms, row, PDNN_FIT_STATE, pdnn_term_state_name(state));
    pdnn_table_set_count(terms, row, PDNN_FIT_ROWS, work->squares.n_rows);
    pdnn_table_set_count(terms, row, PDNN_FIT_NO_VALUE, work->design.no_value);
    pdnn_table_set_count(terms, row, PDNN_FIT_NO_CELL, work->design.no_cell);
    pdnn_table_set_count(terms, row, PDNN_FIT_OUTLIERS, outliers);
    pdnn_table_set_number(terms, row, PDNN_FIT_R2, work->squares.r2);
    pdnn_table_set_number(terms, row, PDNN_FIT_R2_ADJUSTED, work->squares.r2_adjusted);
    pdnn_table_set_number(terms, row, PDNN_FIT_R2_LEAVE_ONE_OUT, work->squares.r2_leave_one_out);
    return row;
}

static void add_terms(struct work *work, size_t outliers, struct pdnn_table *terms) {
    const struct pdnn_least_squares *squares = &work->squares;
    size_t first = terms->n_rows;
    for (size_t i = 0; i < work->design.n_terms; i++) {
        const struct pdnn_design_term *term = &work->design.term[i];
        add_term(work, term->name, term->baseline, term->state, outliers, terms);
    }
    for (size_t j = 0; j < squares->n_columns; j++) {
        size_t term = work->design.term_of[j];
        set_column(work, &squares->column[j], work->design.term[term].baseline, terms, first + term);
    }
    if (work->request->model == PDNN_FIT_POWER)
        set_weight(terms, add_term(work, "constant", NULL, PDNN_TERM_FITTED, outliers, terms),
                   squares->intercept, pdnn_student_t95(squares->degrees) * squares->intercept_error, 1,
                   true);
}

static enum pdnn_status solve(struct work *work, struct pdnn_err *err) {
    const struct pdnn_fit_request *request = work->request;
    const struct pdnn_design_request wanted = {.selection = request->selection,
                                               .values = request->values,
                                               .chosen = request->chosen,
                                               .what = request->what,
                                               .family = request->family,
                                               .on = request->on,
                                               .n_on = request->n_on,
                                               .logarithms = request->model != PDNN_FIT_LINEAR};
    struct pdnn_design *design = &work->design;
    if (pdnn_design_matrix(&wanted, &work->arena, design, err) != PDNN_OK)
        return err->status;
    if (!design->n_columns)
        return pdnn_fail(err, PDNN_INVALID,
                         "%.64s: nothing that %.64s could be fitted on varies among %zu rows",
                         request->family, request->what, design->n_rows);
    if (pdnn_least_squares(design->x, design->y, design->n_rows, design->n_columns, &work->arena,
                           &work->squares, err) != PDNN_OK)
        return pdnn_wrap(err, "%.64s: %.64s", request->family, request->what);
    return PDNN_OK;
}

enum pdnn_status pdnn_fit(const struct pdnn_fit_request *request, struct pdnn_table *terms,
                          struct pdnn_table *residuals, struct pdnn_err *err) {
    struct work work = {.request = request};
    enum pdnn_status status = solve(&work, err);
    if (status == PDNN_OK)
        add_terms(&work, add_residuals(&work, residuals), terms);
    pdnn_arena_finish(&work.arena);
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
    if (!is_imported && pdnn_results_ask(&selection->results, column, &found, err) != PDNN_OK)
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

void pdnn_fit_ratios(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                     const double **ratios, const bool **chosen) {
    size_t count = pdnn_comparison_side(comparison, PDNN_SIDE_A)->count;
    double *values = pdnn_arena_alloc(arena, count + 1, sizeof *values);
    bool *has = pdnn_arena_alloc(arena, count + 1, sizeof *has);
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
        size_t at = comparison->at[pair][PDNN_SIDE_A];
        values[at] = pdnn_pair_ratio(comparison, pair);
        has[at] = true;
    }
    *ratios = values;
    *chosen = has;
}

void pdnn_fit_families(const struct pdnn_selection *selection, struct pdnn_arena *arena,
                       const char *const **families, size_t *n_families) {
    struct pdnn_texts found = {0};
    const char **made = pdnn_arena_alloc(arena, selection->count + 1, sizeof *made);
    for (size_t at = 0; at < selection->count; at++) {
        const char *family = pdnn_selection_get(selection, at, selection->family);
        made[pdnn_texts_add(&found, family)] = family;
    }
    *families = made;
    *n_families = found.count;
    pdnn_texts_finish(&found);
}
