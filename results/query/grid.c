#include "results/query/grid.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/query/gaps.h"
#include "runtime/protocol/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid while it is made. */
struct making {
    const struct pdnn_grid_request *request;
    const struct pdnn_results *results;
    struct pdnn_row_list rows; /* those with a place in the grid */
    const double *of[2];       /* by row: the value, NaN without a time; the ratio, or NULL */
    struct pdnn_arena *arena;
    struct pdnn_grid grid;
};

struct entry {
    const char *text;
    double number; /* NaN: a word */
    size_t at;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *one = a, *other = b;
    const int order = pdnn_compare_numbers_first(one->text, other->text);
    return order ? order : (one->at > other->at) - (one->at < other->at);
}

/* The power of two that a bin begins with; 0 for what is not positive, NaN for a word. */
static double bin_of(double number) {
    int exponent;
    if (!isfinite(number))
        return number;
    frexp(number, &exponent);
    return number > 0 ? ldexp(1, exponent - 1) : 0;
}

static const char *number_text(struct pdnn_arena *arena, double number) {
    struct pdnn_str text = {0};
    pdnn_number_format(&text, number, PDNN_DIGITS_TABLE);
    const char *kept = pdnn_arena_strdup(arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return kept;
}

static enum pdnn_status make_axis(const struct making *m, int column, struct pdnn_grid_axis *axis,
                                  struct pdnn_err *err) {
    struct pdnn_groups values = pdnn_groups_make(&m->results->table, &m->rows, &(size_t){(size_t)column}, 1);
    struct entry *entries = pdnn_alloc(values.count, sizeof *entries);
    enum pdnn_status status = PDNN_OK;
    axis->name = pdnn_results_name(m->results, column);
    axis->binned = values.count > PDNN_GRID_EXACT_MAX;
    for (size_t i = 0; i < values.count; i++) {
        const size_t row = values.group[i].at[0];
        entries[i] = (struct entry){pdnn_results_text(m->results, row, column),
                                    pdnn_results_number(m->results, row, column), i};
    }
    qsort(entries, values.count, sizeof *entries, compare_entries);
    for (size_t i = 0; status == PDNN_OK && i < values.count; i++) {
        const double start = axis->binned ? bin_of(entries[i].number) : entries[i].number;
        if (axis->count && start == axis->start[axis->count - 1])
            continue;
        if (axis->binned && (isnan(start) || axis->count == PDNN_GRID_STEPS_MAX)) {
            status = pdnn_fail(err, PDNN_INVALID,
                               "%s has too many values for an axis: choose some with --only", axis->name);
            break;
        }
        axis->start[axis->count] = start;
        axis->step[axis->count++] = axis->binned ? number_text(m->arena, start) : entries[i].text;
    }
    free(entries);
    pdnn_groups_finish(&values);
    return status;
}

/* The step that holds the value, by its number: the text of a bin has fewer digits. axis->count: none. */
static size_t step_of(const struct making *m, size_t row, int column, const struct pdnn_grid_axis *axis) {
    const double number = pdnn_results_number(m->results, row, column),
                 start = axis->binned ? bin_of(number) : number;
    const char *text = pdnn_results_text(m->results, row, column);
    size_t at = 0;
    while (at < axis->count && (isnan(number) ? !isnan(axis->start[at]) || strcmp(axis->step[at], text) != 0
                                              : axis->start[at] != start))
        at++;
    return at;
}

/* Until finish_cells, `mean` of a cell is a sum. A panel of ratios has pairs only. */
static void place_row(const struct making *m, size_t row, struct pdnn_grid_panel *panel) {
    const double value = m->of[panel->is_ratio][row];
    const size_t x = step_of(m, row, m->request->x, &m->grid.x),
                 y = step_of(m, row, m->request->y, &m->grid.y);
    const char *method = pdnn_results_text(m->results, row, m->results->at[PDNN_RESULT_METHOD]),
               *flags = pdnn_results_text(m->results, row, m->results->at[PDNN_RESULT_ROW_FLAGS]);
    struct pdnn_grid_cell *cell = &panel->cell[x + m->grid.x.count * y];
    if (isnan(value)) {
        cell->failed += !panel->is_ratio;
        return;
    }
    cell->mean += m->grid.geometric || panel->is_ratio ? log(value) : value;
    cell->models++;
    cell->predicted += strcmp(method, "predicted") == 0;
    cell->doubtful += (pdnn_flags_parse(flags) & (PDNN_FLAG_ABOVE_ROOF | PDNN_FLAG_UNUSABLE)) != 0;
}

/* Whether an open row is missing in the panel: in one of ratios, on either side. */
static bool belongs_to(const struct making *m, size_t row, const struct pdnn_grid_panel *panel) {
    const struct pdnn_grid_request *of = m->request;
    bool is_same = strcmp(pdnn_results_text(m->results, row, of->selection->family),
                          pdnn_results_text(m->results, panel->row, of->selection->family)) == 0;
    for (size_t k = 0; k < of->keys->count; k++) {
        const int key = of->keys->column[k];
        const bool is_side = panel->is_ratio &&
                             (key == m->results->results || (of->across && pdnn_axes_have(of->across, key)));
        is_same = is_same && (is_side || strcmp(pdnn_results_text(m->results, row, key),
                                                pdnn_results_text(m->results, panel->row, key)) == 0);
    }
    return is_same;
}

/* Counts what is open in the cells that are there. */
static void place_open(struct making *m) {
    const struct pdnn_selection *selection = m->request->selection;
    struct pdnn_grid *grid = &m->grid;
    for (size_t at = selection->count; at < selection->count + selection->left_out; at++) {
        const size_t row = selection->row[at];
        if (!pdnn_gaps_is_open(selection, at))
            continue;
        const size_t x = step_of(m, row, m->request->x, &grid->x),
                     y = step_of(m, row, m->request->y, &grid->y);
        for (size_t p = 0; p < grid->n_panels && x < grid->x.count && y < grid->y.count; p++)
            grid->panel[p].cell[x + grid->x.count * y].open += belongs_to(m, row, &grid->panel[p]);
    }
}

static bool has_ratio(const struct making *m, const struct pdnn_row_list *rows) {
    size_t i = m->of[1] ? 0 : rows->count;
    while (i < rows->count && isnan(m->of[1][rows->at[i]]))
        i++;
    return i < rows->count;
}

/* A panel for each family and combination of the keys. */
static enum pdnn_status place_rows(struct making *m, struct pdnn_err *err) {
    const struct pdnn_axes *of = m->request->keys;
    struct pdnn_grid *grid = &m->grid;
    size_t keys[1 + PDNN_SELECTION_AXES_MAX] = {(size_t)m->request->selection->family};
    for (size_t k = 0; k < of->count; k++)
        keys[1 + k] = (size_t)of->column[k];
    struct pdnn_groups families = pdnn_groups_make(&m->results->table, &m->rows, keys, 1),
                       panels = pdnn_groups_make(&m->results->table, &m->rows, keys, 1 + of->count);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < 2 * panels.count && status == PDNN_OK; i++) {
        const struct pdnn_row_list *rows = &panels.group[i % panels.count];
        const bool is_ratio = i >= panels.count;
        if (is_ratio && !has_ratio(m, rows))
            continue;
        if (grid->n_panels == PDNN_GRID_PANELS_MAX) {
            status = pdnn_fail(err, PDNN_INVALID, "more than %d panels: choose some with --only",
                               PDNN_GRID_PANELS_MAX);
            break;
        }
        struct pdnn_grid_panel *panel = &grid->panel[grid->n_panels++];
        grid->n_ratios += is_ratio;
        *panel = (struct pdnn_grid_panel){
            rows->at[0], is_ratio,
            pdnn_arena_alloc(m->arena, grid->x.count * grid->y.count, sizeof *panel->cell)};
        for (size_t k = 0; k < rows->count; k++)
            place_row(m, rows->at[k], panel);
    }
    grid->families = families.count;
    pdnn_groups_finish(&families);
    pdnn_groups_finish(&panels);
    return status;
}

static void finish_cells(struct pdnn_grid *grid) {
    for (int ratio = 0; ratio < 2; ratio++) {
        grid->least[ratio] = INFINITY;
        grid->greatest[ratio] = -INFINITY;
    }
    for (size_t p = 0; p < grid->n_panels; p++) {
        const bool ratio = grid->panel[p].is_ratio;
        for (size_t i = 0; i < grid->x.count * grid->y.count; i++) {
            struct pdnn_grid_cell *cell = &grid->panel[p].cell[i];
            if (cell->open && cell->models) {
                grid->confounded++;
                cell->models = cell->failed = cell->predicted = cell->doubtful = 0;
            }
            double mean = cell->mean / (double)cell->models;
            cell->mean = !cell->models ? NAN : grid->geometric || ratio ? exp(mean) : mean;
            grid->models += ratio ? 0 : cell->models;
            grid->failed += cell->failed;
            grid->predicted += ratio ? 0 : cell->predicted;
            grid->least[ratio] = fmin(grid->least[ratio], cell->mean);
            grid->greatest[ratio] = fmax(grid->greatest[ratio], cell->mean);
        }
    }
}

/* Distinct values among the chosen rows; 0 if there are too many words. */
static size_t count_values(const struct pdnn_selection *selection, int column) {
    struct pdnn_arena arena = {0};
    const char **text;
    double number;
    size_t n = pdnn_selection_distinct(selection, column, &arena, &text, NULL), count = 0, words = 0;
    for (size_t i = 0; i < n; i++) {
        count += *text[i] != 0;
        words += *text[i] && !pdnn_parse_double(text[i], &number);
    }
    pdnn_arena_finish(&arena);
    return words && count > PDNN_GRID_EXACT_MAX ? 0 : count;
}

/* Whether each family has the key: one of a single family is not an axis of several. */
static bool is_shared(const struct pdnn_selection *selection, int column) {
    struct pdnn_arena arena = {0};
    const char **family;
    size_t *of = pdnn_arena_alloc(&arena, selection->count + 1, sizeof *of), having = 0;
    const size_t n = pdnn_selection_distinct(selection, selection->family, &arena, &family, of);
    bool *has = pdnn_arena_alloc(&arena, n + 1, sizeof *has);
    for (size_t at = 0; at < selection->count; at++)
        if (!has[of[at]] && *pdnn_selection_get(selection, at, column)) {
            has[of[at]] = true;
            having++;
        }
    pdnn_arena_finish(&arena);
    return having == n;
}

int pdnn_grid_choose_axis(const struct pdnn_selection *selection, int taken) {
    size_t most = 1;
    int best = -1;
    bool best_is_shared = false;
    struct pdnn_axes minibatches = {.count = 0};
    pdnn_axes_add_minibatch(selection, &minibatches);
    for (size_t k = 0; taken < 0 && k < minibatches.count; k++)
        if (count_values(selection, minibatches.column[k]) > 1)
            return minibatches.column[k];
    for (int column = selection->results.first_key; column < selection->results.end_key; column++) {
        size_t count = column == taken ? 0 : count_values(selection, column);
        const bool shared = count > 1 && is_shared(selection, column);
        if (shared == best_is_shared ? count > most : shared) {
            most = count;
            best = column;
            best_is_shared = shared;
        }
    }
    return best;
}

/* Whether an instance without a time failed: others never ran, or have a time that is not known. */
static bool has_failed(const char *status) {
    const enum pdnn_outcome outcome = pdnn_outcome_find(status);
    return outcome != PDNN_OUTCOME_OK && outcome != PDNN_OUTCOME_UNPREDICTED &&
           outcome != PDNN_OUTCOME_FILTERED && outcome != PDNN_OUTCOME_INTERRUPTED &&
           outcome != PDNN_OUTCOME_COUNT;
}

enum pdnn_status pdnn_grid(const struct pdnn_grid_request *request, struct pdnn_arena *arena,
                           struct pdnn_grid *grid, struct pdnn_err *err) {
    const struct pdnn_selection *selection = request->selection;
    const struct pdnn_results *results = &selection->results;
    const size_t n_all = selection->count + selection->left_out;
    double *value = pdnn_arena_alloc(arena, results->table.n_rows + 1, sizeof *value);
    struct making m = {request, results, {0}, {value, request->ratio}, arena, {.geometric = true}};
    for (size_t at = 0; at < n_all; at++) {
        const bool is_ok = pdnn_selection_is_ok(selection, at);
        const double number = is_ok ? pdnn_selection_number(selection, at, request->value) : NAN;
        if (!*pdnn_selection_get(selection, at, request->x) ||
            !*pdnn_selection_get(selection, at, request->y) ||
            (is_ok ? isnan(number)
                   : results->is_costs || !has_failed(pdnn_selection_get(selection, at, selection->status))))
            continue;
        pdnn_rows_add(&m.rows, selection->row[at]);
        value[selection->row[at]] = number;
        m.grid.geometric = m.grid.geometric && !(number <= 0);
    }
    m.grid.left_out = n_all - m.rows.count;
    enum pdnn_status status = make_axis(&m, request->x, &m.grid.x, err);
    if (status == PDNN_OK)
        status = make_axis(&m, request->y, &m.grid.y, err);
    if (status == PDNN_OK)
        status = place_rows(&m, err);
    if (status == PDNN_OK && request->confounder)
        place_open(&m);
    pdnn_rows_finish(&m.rows);
    finish_cells(&m.grid);
    if (status == PDNN_OK && !m.grid.models && m.grid.confounded)
        status = pdnn_fail(
            err, PDNN_INVALID,
            "instances are open in each cell of %s and %s, and what is there confounds an axis with "
            "%s: a panel for each value of it (--by %s), or one of them (--only)",
            m.grid.x.name, m.grid.y.name, request->confounder, request->confounder);
    else if (status == PDNN_OK && !m.grid.models)
        status = pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has %s, %s and a number in %s",
                           m.grid.x.name, m.grid.y.name, pdnn_results_name(results, request->value));
    if (status == PDNN_OK)
        *grid = m.grid;
    return status;
}
