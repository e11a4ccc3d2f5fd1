#include "results/figures/parts.h"
#include "results/figures/color.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEGEND_MOST = 22 };

/* The most that a name of the legend takes, and what is left of the first of its keys at least. */
static const double name_most = 210, first_key = 45;

/* Parts of a group get lighter up to this, so that none looks like the background. */
static const double lightest = 0.8;

enum { INK_RESIDUAL = 0xe6e6e6 };

static int lighter(unsigned rgb, double part) {
    int mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double value = (rgb >> shift) & 0xff;
        mixed |= (int)(value + (255 - value) * part) << shift;
    }
    return mixed;
}

static void name_part(struct pdnn_bar_part *part, const struct pdnn_share *row,
                      const struct pdnn_by_list *by) {
    for (size_t k = 0; k < by->count; k++) {
        size_t used = strlen(part->name);
        const char *key = row->key[by->by[k]];
        if (*key)
            snprintf(part->name + used, sizeof part->name - used, "%s%s", used ? ", " : "", key);
    }
}

static bool is_plain(const struct pdnn_share *row) {
    return !row->rgb && !row->is_residual;
}

/* The number of plain rows that take more time than this one, over all bars. */
static size_t count_larger(const struct pdnn_share_matrix *matrix, size_t row) {
    size_t larger = 0;
    for (size_t r = 0; r < matrix->n_rows; r++)
        larger += is_plain(&matrix->row[r]) && matrix->row[r].work.time_ns > matrix->row[row].work.time_ns;
    return larger;
}

static int group_color(const struct pdnn_share_matrix *matrix, size_t row) {
    size_t same = 0;
    for (size_t before = 0; before < row; before++)
        same += matrix->row[before].rgb == matrix->row[row].rgb;
    return lighter(matrix->row[row].rgb, fmin(1 - pow(0.72, (double)same), lightest));
}

void pdnn_bar_parts_choose(struct pdnn_bar_parts *parts, const struct pdnn_share_matrix *matrix,
                           const struct pdnn_by_list *by, struct pdnn_arena *arena) {
    size_t n_plain = 0, taken = 0, grey = matrix->n_rows;
    *parts =
        (struct pdnn_bar_parts){matrix, pdnn_arena_alloc(arena, matrix->n_rows + 1, sizeof *parts->part)};
    for (size_t r = 0; r < matrix->n_rows; r++)
        n_plain += is_plain(&matrix->row[r]);
    size_t own = n_plain <= PDNN_PLOT_COLORS ? n_plain : PDNN_PLOT_COLORS - 1;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const struct pdnn_share *row = &matrix->row[r];
        struct pdnn_bar_part *part = &parts->part[r];
        name_part(part, row, by);
        part->merged_into = r;
        if (row->is_residual) {
            part->ink = INK_RESIDUAL;
        } else if (row->rgb) {
            part->ink = group_color(matrix, r);
        } else if (count_larger(matrix, r) < own && taken < own) {
            part->ink = pdnn_plot_distinct_color(taken++);
        } else {
            grey = grey < r ? grey : r;
            part->ink = PDNN_INK_OTHERS;
            part->merged_into = grey;
            snprintf(parts->part[grey].name, sizeof part->name, "%zu others", n_plain - own);
        }
    }
}

double pdnn_bar_part_pct(const struct pdnn_bar_parts *parts, size_t row, size_t bar) {
    double sum = 0, whole = 100;
    for (size_t r = 0; r < parts->matrix->n_rows; r++) {
        const struct pdnn_share *share = pdnn_share_matrix_at(parts->matrix, r, bar);
        double pct = share ? share->work.share_pct : 0;
        if (share && share->is_residual && pct < 0) {
            whole -= pct;
            continue;
        }
        if (parts->part[r].merged_into == row)
            sum += pct;
    }
    return sum / whole * 100;
}

/* The name of a part in the legend: of several keys the first is cut, since the last ones tell parts of a
 * group from each other. Returns buffer. */
static const char *legend_name(const struct pdnn_bar_part *part, char buffer[PDNN_BAR_PART_TEXT]) {
    const char *rest = strchr(part->name, ',');
    double after = rest ? pdnn_text_width(rest, PDNN_FONT_SMALL) : 0;
    snprintf(buffer, PDNN_BAR_PART_TEXT, "%s", part->name);
    if (!rest || after + first_key > name_most) {
        pdnn_text_cut(buffer, name_most, PDNN_FONT_SMALL);
        return buffer;
    }
    buffer[rest - part->name] = 0;
    pdnn_text_cut(buffer, name_most - after, PDNN_FONT_SMALL);
    size_t used = strlen(buffer);
    snprintf(buffer + used, PDNN_BAR_PART_TEXT - used, "%s", rest);
    return buffer;
}

double pdnn_bar_parts_legend_pixels(const struct pdnn_bar_parts *parts) {
    double longest = 0;
    for (size_t r = 0; r < parts->matrix->n_rows; r++) {
        char name[PDNN_BAR_PART_TEXT];
        if (parts->part[r].merged_into == r)
            longest = fmax(longest, pdnn_text_width(legend_name(&parts->part[r], name), PDNN_FONT_SMALL));
    }
    return longest;
}

/* Whether the part is in the legend: the residual only where it is seen. */
static bool has_entry(const struct pdnn_bar_parts *parts, size_t row) {
    bool is_residual = parts->matrix->row[row].is_residual;
    bool shown = parts->part[row].merged_into == row && !is_residual;
    for (size_t b = 0; b < parts->matrix->n_columns && is_residual; b++)
        shown = shown || pdnn_bar_part_pct(parts, row, b) > 0;
    return shown;
}

/* The number of entries that stand for more time than this one, over all bars. */
static size_t count_longer(const struct pdnn_bar_parts *parts, size_t row) {
    const struct pdnn_share *rows = parts->matrix->row;
    size_t longer = 0;
    for (size_t r = 0; r < parts->matrix->n_rows; r++)
        longer += has_entry(parts, r) && rows[r].work.time_ns > rows[row].work.time_ns;
    return longer;
}

void pdnn_bar_parts_put_legend(const struct pdnn_bar_parts *parts, struct pdnn_legend *legend) {
    size_t count = 0, all = 0;
    char text[PDNN_BAR_PART_TEXT];
    for (size_t r = 0; r < parts->matrix->n_rows; r++)
        all += has_entry(parts, r);
    for (size_t r = parts->matrix->n_rows; r-- > 0;) {
        bool fits = all <= LEGEND_MOST || count_longer(parts, r) < LEGEND_MOST - 1;
        if (!has_entry(parts, r) || !fits || count == LEGEND_MOST)
            continue;
        count++;
        pdnn_legend_mark(legend, legend_name(&parts->part[r], text), pdnn_swatch(parts->part[r].ink));
    }
    if (count < all) {
        snprintf(text, sizeof text, "and %zu more", all - count);
        pdnn_legend_mark(legend, text, pdnn_swatch(PDNN_INK_WHITE));
    }
}
