#include "results/analysis/fit.h"
#include "base/texts.h"
#include "base/units.h"
#include "results/analysis/least_squares.h"
#include "results/table/csv.h"
#include "results/tables/results_reader.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pdnn_fit_model_name(enum pdnn_fit_model model) {
    static const char *const names[PDNN_FIT_MODEL_COUNT] = {"linear", "log", "power"};
    return names[model];
}

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

/* The weight as the model reports it. */
static void set_weight(const struct pdnn_least_squares *squares,
                       const struct pdnn_least_squares_column *column, enum pdnn_fit_model model,
                       struct pdnn_fit_term *term) {
    double scale = model == PDNN_FIT_POWER ? 1 : column->spread / squares->spread;
    double half = pdnn_student_t95(squares->degrees) * column->std_error;
    bool is_factor = model == PDNN_FIT_POWER && *term->baseline;
    term->weight = column->weight * scale;
    term->low = (column->weight - half) * scale;
    term->high = (column->weight + half) * scale;
    term->std_error = column->std_error * scale;
    term->inflation = column->inflation;
    if (is_factor) {
        term->weight = exp(term->weight);
        term->low = exp(term->low);
        term->high = exp(term->high);
    }
}

static void set_terms(const struct pdnn_design *design, const struct pdnn_least_squares *squares,
                      struct pdnn_arena *arena, struct pdnn_fit *fit) {
    fit->n_terms = design->n_terms;
    fit->term = pdnn_arena_alloc(arena, fit->n_terms + 1, sizeof *fit->term);
    for (size_t i = 0; i < fit->n_terms; i++) {
        const struct pdnn_design_term *from = &design->term[i];
        fit->term[i] = (struct pdnn_fit_term){
            from->name, from->baseline ? from->baseline : "", from->state, "", NAN, NAN, NAN, NAN, NAN};
    }
    for (size_t j = 0; j < squares->n_columns; j++) {
        const struct pdnn_least_squares_column *column = &squares->column[j];
        struct pdnn_fit_term *term = &fit->term[design->term_of[j]];
        if (column->rank == PDNN_RANK_FULL) {
            set_weight(squares, column, fit->model, term);
            continue;
        }
        term->state = column->rank == PDNN_RANK_CONSTANT ? PDNN_TERM_CONSTANT : PDNN_TERM_COLLINEAR;
        if (column->rank == PDNN_RANK_COLLINEAR)
            term->with = combination(design, squares, column, arena);
    }
}

/* Bonferroni: with n rows, each is tested at 5 % / n. */
static void set_rows(const struct pdnn_fit_request *request, const struct pdnn_design *design,
                     const struct pdnn_least_squares *squares, struct pdnn_arena *arena,
                     struct pdnn_fit *fit) {
    const struct pdnn_selection *selection = request->selection;
    fit->n_rows = squares->n_rows;
    fit->row = pdnn_arena_alloc(arena, fit->n_rows, sizeof *fit->row);
    for (size_t i = 0; i < fit->n_rows; i++) {
        const struct pdnn_least_squares_row *from = &squares->row[i];
        fit->row[i] = (struct pdnn_fit_row){
            .id = pdnn_selection_get(selection, design->at[i], selection->id),
            .value = request->values[design->at[i]],
            .fitted = request->model == PDNN_FIT_LINEAR ? from->fitted : exp(from->fitted),
            .leverage = from->leverage,
            .studentized = from->studentized,
        };
        if (isfinite(from->studentized))
            fit->row[i].outlier =
                pdnn_student_tails(from->studentized, squares->degrees - 1) * (double)fit->n_rows < 0.05;
        fit->outliers += fit->row[i].outlier;
    }
}

enum pdnn_status pdnn_fit(const struct pdnn_fit_request *request, struct pdnn_arena *arena,
                          struct pdnn_fit *fit, struct pdnn_err *err) {
    const struct pdnn_design_request wanted = {.selection = request->selection,
                                               .values = request->values,
                                               .chosen = request->chosen,
                                               .what = request->what,
                                               .family = request->family,
                                               .on = request->on,
                                               .n_on = request->n_on,
                                               .logarithms = request->model != PDNN_FIT_LINEAR};
    struct pdnn_design design;
    struct pdnn_least_squares squares;
    if (pdnn_design_matrix(&wanted, arena, &design, err) != PDNN_OK)
        return err->status;
    if (!design.n_columns)
        return pdnn_fail(err, PDNN_INVALID,
                         "%.64s: nothing that %.64s could be fitted on varies among %zu rows",
                         request->family, request->what, design.n_rows);
    if (pdnn_least_squares(design.x, design.y, design.n_rows, design.n_columns, arena, &squares, err) !=
        PDNN_OK)
        return pdnn_wrap(err, "%.64s: %.64s", request->family, request->what);
    double half = pdnn_student_t95(squares.degrees) * squares.intercept_error;
    bool is_power = request->model == PDNN_FIT_POWER;
    struct pdnn_fit made = {
        .family = request->family,
        .what = request->what,
        .model = request->model,
        .no_value = design.no_value,
        .no_cell = design.no_cell,
        .constant = is_power ? exp(squares.intercept) : NAN,
        .constant_low = is_power ? exp(squares.intercept - half) : NAN,
        .constant_high = is_power ? exp(squares.intercept + half) : NAN,
        .r2 = squares.r2,
        .r2_adjusted = squares.r2_adjusted,
        .r2_leave_one_out = squares.r2_leave_one_out,
    };
    set_terms(&design, &squares, arena, &made);
    set_rows(request, &design, &squares, arena, &made);
    *fit = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_fit_values(const struct pdnn_selection *selection, const char *column,
                                 struct pdnn_arena *arena, const double **values, struct pdnn_err *err) {
    int found;
    if (pdnn_results_column(&selection->results, column, &found, err) != PDNN_OK)
        return err->status;
    double *made = pdnn_arena_alloc(arena, selection->count + 1, sizeof *made);
    for (size_t at = 0; at < selection->count; at++) {
        if (!pdnn_parse_double(pdnn_selection_get(selection, at, found), &made[at]))
            made[at] = NAN;
    }
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
    for (size_t at = 0; at < selection->count; at++)
        pdnn_texts_add(&found, pdnn_selection_get(selection, at, selection->family));
    const char **made = pdnn_arena_alloc(arena, found.count + 1, sizeof *made);
    for (size_t i = 0; i < found.count; i++)
        made[i] = pdnn_arena_strdup(arena, found.text[i]);
    *families = made;
    *n_families = found.count;
    pdnn_texts_finish(&found);
}
