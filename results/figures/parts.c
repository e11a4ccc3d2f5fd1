#include "results/figures/parts.h"
#include "results/figures/color.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LEGEND_NAME = 28, /* letters */
    FIRST_KEY = 6,    /* what is left of the first key at least */
    LEGEND_MOST = 22
};

/* The legend's font relative to that of names. */
static const double legend_size = 1.12;

/* Parts of a group get lighter up to this, so that none looks like the background. */
static const double lightest = 0.8;

static const unsigned residual_rgb = 0xe6e6e6, white_rgb = 0xffffff;

static unsigned lighter(unsigned rgb, double part) {
    unsigned mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double value = (rgb >> shift) & 0xff;
        mixed |= (unsigned)(value + (255 - value) * part) << shift;
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

static unsigned group_color(const struct pdnn_share_matrix *matrix, size_t row) {
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
            part->rgb = residual_rgb;
        } else if (row->rgb) {
            part->rgb = group_color(matrix, r);
        } else if (count_larger(matrix, r) < own && taken < own) {
            part->rgb = pdnn_plot_distinct_color(taken++);
        } else {
            grey = grey < r ? grey : r;
            part->rgb = pdnn_plot_grey;
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
    size_t after = rest ? strlen(rest) : 0;
    snprintf(buffer, PDNN_BAR_PART_TEXT, "%s", part->name);
    if (strlen(buffer) <= LEGEND_NAME)
        return buffer;
    if (!rest || after + FIRST_KEY > LEGEND_NAME) {
        pdnn_plot_cut(buffer, LEGEND_NAME);
        return buffer;
    }
    buffer[rest - part->name] = 0;
    pdnn_plot_cut(buffer, LEGEND_NAME - after);
    size_t used = strlen(buffer);
    snprintf(buffer + used, PDNN_BAR_PART_TEXT - used, "%s", rest);
    return buffer;
}

double pdnn_bar_parts_legend_pixels(const struct pdnn_bar_parts *parts) {
    double longest = 0;
    for (size_t r = 0; r < parts->matrix->n_rows; r++) {
        char name[PDNN_BAR_PART_TEXT];
        if (parts->part[r].merged_into == r)
            longest = fmax(longest, legend_size * pdnn_plot_text_pixels(legend_name(&parts->part[r], name)));
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

static void put_entry(struct pdnn_str *entries, size_t number, const char *text, unsigned rgb) {
    char name[32];
    snprintf(name, sizeof name, "PART[%zu]", number);
    pdnn_gnuplot_text(entries, name, text);
    pdnn_str_printf(entries, "PART_COLOR[%zu] = %u\n", number, rgb);
}

void pdnn_bar_parts_put_legend(const struct pdnn_bar_parts *parts, struct pdnn_str *script) {
    size_t count = 0, all = 0;
    struct pdnn_str entries = {0};
    for (size_t r = 0; r < parts->matrix->n_rows; r++)
        all += has_entry(parts, r);
    for (size_t r = parts->matrix->n_rows; r-- > 0;) {
        char text[PDNN_BAR_PART_TEXT];
        bool fits = all <= LEGEND_MOST || count_longer(parts, r) < LEGEND_MOST - 1;
        if (has_entry(parts, r) && fits && count < LEGEND_MOST)
            put_entry(&entries, ++count, legend_name(&parts->part[r], text), parts->part[r].rgb);
    }
    if (count < all) {
        char text[PDNN_BAR_PART_TEXT];
        snprintf(text, sizeof text, "and %zu more", all - count);
        put_entry(&entries, ++count, text, white_rgb);
    }
    pdnn_str_printf(script, "N_PARTS = %zu\narray PART[%zu]\narray PART_COLOR[%zu]\n", count, count, count);
    pdnn_str_append(script, pdnn_str_text(&entries), entries.length);
    pdnn_str_finish(&entries);
}
