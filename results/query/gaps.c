#include "results/query/gaps.h"

#include "base/memory.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4 };

/* The chosen rows first, then the open ones. */
struct rows {
    const struct pdnn_selection *selection;
    const size_t *row;
    size_t count, chosen;
    unsigned char *group[PDNN_GAPS_KEYS]; /* by row */
};

static const char *text_of(const struct rows *rows, size_t at, int column) {
    return pdnn_results_text(&rows->selection->results, rows->row[at], column);
}

static int by_value(const void *a, const void *b) {
    const char *one = *(const char *const *)a, *other = *(const char *const *)b;
    int order = pdnn_compare_numbers_first(one, other);
    return order ? order : strcmp(one, other);
}

/* False if the column has the same value everywhere. */
static bool group(const struct rows *rows, int column, unsigned char *groups) {
    struct pdnn_texts found = {0};
    const char **sorted = pdnn_alloc(rows->count + 1, sizeof *sorted);
    for (size_t i = 0; i < rows->count; i++) {
        const char *text = text_of(rows, i, column);
        sorted[pdnn_texts_add(&found, text)] = text;
    }
    const size_t n_values = found.count;
    qsort(sorted, n_values, sizeof *sorted, by_value);
    for (size_t i = 0; i < rows->count; i++) {
        const char *text = text_of(rows, i, column);
        const char **place = bsearch(&text, sorted, n_values, sizeof *sorted, by_value);
        const size_t value = (size_t)(place - sorted);
        groups[i] = (unsigned char)(n_values > GROUPS ? value * GROUPS / n_values : value);
    }
    pdnn_texts_finish(&found);
    free(sorted);
    return n_values > 1;
}

/* Whether the chosen rows differ from their shares in the groups of two keys, or of one if both are the same.
 */
static bool differs(const struct rows *rows, const unsigned char *a, const unsigned char *b) {
    double all[GROUPS][GROUPS] = {{0}}, chosen[GROUPS][GROUPS] = {{0}}, all_of[2][GROUPS] = {{0}},
           chosen_of[2][GROUPS] = {{0}}, squares = 0, cells = 0;
    const double share = (double)rows->chosen / (double)rows->count;
    for (size_t i = 0; i < rows->count; i++) {
        const double is_chosen = i < rows->chosen;
        all[a[i]][b[i]]++;
        all_of[0][a[i]]++;
        all_of[1][b[i]]++;
        chosen[a[i]][b[i]] += is_chosen;
        chosen_of[0][a[i]] += is_chosen;
        chosen_of[1][b[i]] += is_chosen;
    }
    for (int x = 0; x < GROUPS; x++) {
        for (int y = 0; y < GROUPS; y++) {
            double expected = share * all[x][y];
            if (a != b && expected > 0)
                expected *=
                    chosen_of[0][x] / (share * all_of[0][x]) * chosen_of[1][y] / (share * all_of[1][y]);
            if (!(expected > 0))
                continue;
            squares += (chosen[x][y] - expected) * (chosen[x][y] - expected) / expected;
            cells++;
        }
    }
    const double degrees = fmax(cells - 1, 1);
    return squares > (1 - share) * (degrees + 4 * sqrt(2 * degrees));
}

void pdnn_gaps_of(const struct pdnn_selection *selection, const size_t *row, size_t chosen, size_t count,
                  struct pdnn_gaps *gaps) {
    const struct pdnn_results *results = &selection->results;
    struct rows rows = {.selection = selection, .row = row, .count = count, .chosen = chosen};
    *gaps = (struct pdnn_gaps){.open = rows.count - rows.chosen, .all = rows.count};
    for (int column = selection->family; column < results->end_key && 10 * gaps->open > gaps->all; column++) {
        if (gaps->count == PDNN_GAPS_KEYS || (column > selection->family && column < results->first_key))
            continue;
        unsigned char *groups = pdnn_alloc(rows.count, 1);
        rows.group[gaps->count] = groups;
        if (!group(&rows, column, groups)) {
            free(groups);
            continue;
        }
        gaps->column[gaps->count++] = column;
    }
    for (size_t a = 0; a < gaps->count && rows.chosen; a++) {
        gaps->is_uneven[a] = differs(&rows, rows.group[a], rows.group[a]);
        for (size_t b = a + 1; b < gaps->count; b++)
            gaps->is_confounded[a][b] = gaps->is_confounded[b][a] =
                differs(&rows, rows.group[a], rows.group[b]);
    }
    for (size_t a = 0; a < gaps->count; a++)
        free(rows.group[a]);
}

void pdnn_gaps_find(const struct pdnn_selection *selection, struct pdnn_gaps *gaps) {
    size_t *row = pdnn_alloc(selection->count + selection->left_out + 1, sizeof *row), count = 0;
    for (size_t i = 0; i < selection->count + selection->left_out; i++)
        if (i < selection->count || pdnn_gaps_is_open(selection, i))
            row[count++] = selection->row[i];
    pdnn_gaps_of(selection, row, selection->count, count, gaps);
    free(row);
}

bool pdnn_gaps_is_open(const struct pdnn_selection *selection, size_t at) {
    return strcmp(pdnn_selection_get(selection, at, selection->status), "interrupted") == 0;
}

const char *pdnn_gaps_confounder(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection,
                                 int column) {
    for (size_t a = 0; a < gaps->count; a++)
        for (size_t b = 0; b < gaps->count && gaps->column[a] == column; b++)
            if (gaps->is_confounded[a][b])
                return pdnn_results_name(&selection->results, gaps->column[b]);
    return NULL;
}

void pdnn_gaps_say(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection,
                   struct pdnn_str *out) {
    const struct pdnn_results *results = &selection->results;
    struct pdnn_str uneven = {0}, pairs = {0};
    if (10 * gaps->open <= gaps->all)
        return;
    for (size_t a = 0; a < gaps->count; a++) {
        const char *name = pdnn_results_name(results, gaps->column[a]);
        if (gaps->is_uneven[a])
            pdnn_str_printf(&uneven, "%s%s", uneven.length ? ", " : "", name);
        for (size_t b = a + 1; b < gaps->count; b++)
            if (gaps->is_confounded[a][b])
                pdnn_str_printf(&pairs, "%s%s with %s", pairs.length ? ", " : "", name,
                                pdnn_results_name(results, gaps->column[b]));
    }
    pdnn_str_printf(out, "%zu of %zu instances are open", gaps->open, gaps->all);
    if (uneven.length)
        pdnn_str_printf(out, "; they are not spread over %s", uneven.text);
    if (pairs.length)
        pdnn_str_printf(out, "; their absence confounds %s", pairs.text);
    pdnn_str_finish(&uneven);
    pdnn_str_finish(&pairs);
}
