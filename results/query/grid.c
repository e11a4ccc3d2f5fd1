#include "results/table/csv.h"
#include "results/query/grid.h"
#include "base/memory.h"
#include "base/units.h"
#include "runtime/protocol/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that did not end ok follow those that did. */
static size_t row_of(const struct pdnn_grid_request *request, size_t at) {
    const struct pdnn_selection *selection = request->selection;
    return at < selection->count ? selection->row[at] : selection->left[at - selection->count];
}

static double number_of(const struct pdnn_grid_request *request, size_t at, int column) {
    return pdnn_results_number(&request->selection->results, row_of(request, at), column);
}

static const char *get(const struct pdnn_grid_request *request, size_t at, int column) {
    return pdnn_results_text(&request->selection->results, row_of(request, at), column);
}

/* Tried, but there is no time. */
static bool is_failure(const struct pdnn_grid_request *request, size_t at) {
    enum pdnn_outcome outcome = pdnn_outcome_find(get(request, at, request->selection->status));
    return at >= request->selection->count && outcome != PDNN_OUTCOME_FILTERED &&
           outcome != PDNN_OUTCOME_INTERRUPTED && outcome != PDNN_OUTCOME_COUNT;
}

static bool has_value(const struct pdnn_grid_request *request, size_t at, double *value) {
    if (at >= request->selection->count)
        return false;
    *value = pdnn_selection_number(request->selection, at, request->value);
    return !isnan(*value);
}

/* True if the instance has a place in the grid. */
static bool is_placed(const struct pdnn_grid_request *request, size_t at) {
    double value;
    return *get(request, at, request->x) && *get(request, at, request->y) &&
           (has_value(request, at, &value) || is_failure(request, at));
}

struct entry {
    const char *text;
    double number; /* NaN: a word */
    size_t at;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *one = a, *other = b;
    if (isnan(one->number) != isnan(other->number))
        return isnan(one->number) ? 1 : -1;
    if (!isnan(one->number) && one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return isnan(one->number) && one->at != other->at ? (one->at < other->at ? -1 : 1) : 0;
}

/* Distinct values of a column in the order of the axis. Words are few, so each is compared with all. */
static size_t distinct(const struct pdnn_grid_request *request, int column, struct entry *entries) {
    const struct pdnn_selection *selection = request->selection;
    size_t count = 0, kept = 0, words = 0;
    for (size_t at = 0; at < selection->count + selection->left_out; at++) {
        struct entry entry = {get(request, at, column), number_of(request, at, column), at};
        bool known = false;
        if (!is_placed(request, at))
            continue;
        if (isnan(entry.number)) {
            for (size_t i = 0; i < count && words && !known; i++)
                known = strcmp(entries[i].text, entry.text) == 0;
            words += !known;
        }
        if (!known)
            entries[count++] = entry;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (!kept || isnan(entries[i].number) || entries[i].number != entries[kept - 1].number)
            entries[kept++] = entries[i];
    }
    return kept;
}

/* The power of two that a bin begins with; 0 for what is not positive, NaN for a word. */
static double bin_of(double number) {
    int exponent;
    if (!isfinite(number))
        return number;
    frexp(number, &exponent);
    return number > 0 ? ldexp(1, exponent - 1) : 0;
}

static enum pdnn_status make_bins(const struct entry *entries, size_t count, struct pdnn_arena *arena,
                                  struct pdnn_grid_axis *axis, struct pdnn_err *err) {
    double last = NAN;
    axis->binned = true;
    for (size_t i = 0; i < count; i++) {
        double bin = bin_of(entries[i].number);
        if (bin == last)
            continue;
        if (isnan(entries[i].number) || axis->count == PDNN_GRID_STEPS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s has too many values for an axis: choose some with --only",
                             axis->name);
        struct pdnn_str text = {0};
        pdnn_number_format(&text, bin, PDNN_DIGITS_TABLE);
        axis->start[axis->count] = bin;
        axis->step[axis->count] = pdnn_arena_strdup(arena, pdnn_str_text(&text));
        pdnn_str_finish(&text);
        axis->count++;
        last = bin;
    }
    return PDNN_OK;
}

static enum pdnn_status make_axis(const struct pdnn_grid_request *request, int column,
                                  struct pdnn_arena *arena, struct pdnn_grid_axis *axis,
                                  struct pdnn_err *err) {
    size_t room = request->selection->count + request->selection->left_out + 1;
    struct entry *entries = pdnn_alloc(room, sizeof *entries);
    size_t count = distinct(request, column, entries);
    enum pdnn_status status = PDNN_OK;
    *axis = (struct pdnn_grid_axis){.name = pdnn_results_name(&request->selection->results, column)};
    if (count > PDNN_GRID_EXACT_MAX)
        status = make_bins(entries, count, arena, axis, err);
    for (; !axis->binned && axis->count < count; axis->count++) {
        axis->step[axis->count] = entries[axis->count].text;
        axis->start[axis->count] = entries[axis->count].number;
    }
    free(entries);
    return status;
}

/* The step that holds the value, by its number: the text of a bin has fewer digits. axis->count if none does.
 */
static size_t step_of(const struct pdnn_grid_request *request, size_t row, int column,
                      const struct pdnn_grid_axis *axis) {
    const double number = number_of(request, row, column), start = axis->binned ? bin_of(number) : number;
    const char *text = get(request, row, column);
    size_t at = 0;
    while (at < axis->count && !(isnan(number) ? isnan(axis->start[at]) && strcmp(axis->step[at], text) == 0
                                               : axis->start[at] == start))
        at++;
    return at;
}

static bool same_panel(const struct pdnn_grid_request *request, size_t a, size_t b) {
    bool same =
        strcmp(get(request, a, request->selection->family), get(request, b, request->selection->family)) == 0;
    for (size_t k = 0; k < request->keys->count && same; k++)
        same =
            strcmp(get(request, a, request->keys->column[k]), get(request, b, request->keys->column[k])) == 0;
    return same;
}

static enum pdnn_status find_panel(const struct pdnn_grid_request *request, size_t at,
                                   struct pdnn_arena *arena, struct pdnn_grid *grid, size_t *panel,
                                   struct pdnn_err *err) {
    size_t found = 0, cells = grid->x.count * grid->y.count;
    while (found < grid->n_panels && !same_panel(request, grid->panel[found].at, at))
        found++;
    *panel = found;
    if (found < grid->n_panels)
        return PDNN_OK;
    if (found == PDNN_GRID_PANELS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "more than %d panels: choose some with --only",
                         PDNN_GRID_PANELS_MAX);
    grid->panel[found] = (struct pdnn_grid_panel){row_of(request, at), at,
                                                  pdnn_arena_alloc(arena, cells, sizeof *grid->panel->cell)};
    grid->n_panels++;
    return PDNN_OK;
}

/* Until pdnn_grid ends, `mean` of a cell is a sum. */
static enum pdnn_status place_rows(const struct pdnn_grid_request *request, struct pdnn_arena *arena,
                                   struct pdnn_grid *grid, struct pdnn_err *err) {
    const int method = request->selection->results.at[PDNN_RESULT_METHOD];
    for (size_t at = 0; at < request->selection->count + request->selection->left_out; at++) {
        double value;
        size_t panel;
        if (!is_placed(request, at)) {
            grid->left_out++;
            continue;
        }
        if (find_panel(request, at, arena, grid, &panel, err) != PDNN_OK)
            return err->status;
        size_t x = step_of(request, at, request->x, &grid->x);
        size_t y = step_of(request, at, request->y, &grid->y);
        if (x >= grid->x.count || y >= grid->y.count) {
            grid->left_out++;
            continue;
        }
        struct pdnn_grid_cell *cell = &grid->panel[panel].cell[x + grid->x.count * y];
        if (has_value(request, at, &value)) {
            cell->mean += grid->geometric ? log(value) : value;
            cell->models++;
            grid->models++;
            bool is_predicted = method >= 0 && strcmp(get(request, at, method), "predicted") == 0;
            cell->predicted += is_predicted;
            grid->predicted += is_predicted;
        } else {
            cell->failed++;
            grid->failed++;
        }
    }
    return PDNN_OK;
}

static void finish_cells(struct pdnn_grid *grid) {
    grid->least = INFINITY;
    grid->greatest = -INFINITY;
    for (size_t p = 0; p < grid->n_panels; p++) {
        for (size_t i = 0; i < grid->x.count * grid->y.count; i++) {
            struct pdnn_grid_cell *cell = &grid->panel[p].cell[i];
            double mean = cell->mean / (double)cell->models;
            cell->mean = !cell->models ? NAN : grid->geometric ? exp(mean) : mean;
            grid->least = fmin(grid->least, cell->mean);
            grid->greatest = fmax(grid->greatest, cell->mean);
        }
    }
}

static size_t count_families(const struct pdnn_grid_request *request, const struct pdnn_grid *grid) {
    size_t count = 0;
    for (size_t p = 0; p < grid->n_panels; p++) {
        size_t before = 0;
        while (strcmp(get(request, grid->panel[before].at, request->selection->family),
                      get(request, grid->panel[p].at, request->selection->family)) != 0)
            before++;
        count += before == p;
    }
    return count;
}

/* Distinct values among the chosen rows, up to a limit; 0 if there are too many words. */
static size_t count_values(const struct pdnn_selection *selection, int column) {
    enum { SEEN_MAX = 64 };
    const char *seen[SEEN_MAX];
    size_t count = 0, words = 0;
    for (size_t at = 0; at < selection->count && count < SEEN_MAX; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        size_t i = 0;
        while (i < count && strcmp(seen[i], value) != 0)
            i++;
        if (i < count || !*value)
            continue;
        seen[count++] = value;
        words += isnan(pdnn_selection_number(selection, at, column)) != 0;
    }
    return words && count > PDNN_GRID_EXACT_MAX ? 0 : count;
}

int pdnn_grid_choose_axis(const struct pdnn_selection *selection, int taken) {
    size_t most = 1;
    int best = -1, minibatch = pdnn_selection_minibatch(selection);
    if (taken < 0 && minibatch >= 0 && count_values(selection, minibatch) > 1)
        return minibatch;
    for (int column = selection->results.first_key; column < selection->results.end_key; column++) {
        size_t count = column == taken ? 0 : count_values(selection, column);
        if (count > most) {
            most = count;
            best = column;
        }
    }
    return best;
}

enum pdnn_status pdnn_grid(const struct pdnn_grid_request *request, struct pdnn_arena *arena,
                           struct pdnn_grid *grid, struct pdnn_err *err) {
    const struct pdnn_selection *selection = request->selection;
    struct pdnn_grid made = {.geometric = true};
    for (size_t at = 0; at < selection->count; at++) {
        double value;
        if (is_placed(request, at) && has_value(request, at, &value) && !(value > 0))
            made.geometric = false;
    }
    enum pdnn_status status = make_axis(request, request->x, arena, &made.x, err);
    if (status == PDNN_OK)
        status = make_axis(request, request->y, arena, &made.y, err);
    if (status == PDNN_OK)
        status = place_rows(request, arena, &made, err);
    if (status == PDNN_OK && !made.models)
        status = pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has %s, %s and a number in %s",
                           made.x.name, made.y.name, pdnn_results_name(&selection->results, request->value));
    if (status != PDNN_OK)
        return status;
    finish_cells(&made);
    made.families = count_families(request, &made);
    *grid = made;
    return PDNN_OK;
}
