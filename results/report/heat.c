/* Heat maps as in the papers: utilization over two keys, the others averaged. Drawn once per family here; the
 * script draws any other pair of axes. */
#include "results/report/html.h"
#include "results/report/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 40 };

struct heat_map {
    const struct pdnn_report_rows *rows;
    size_t family;
    const struct pdnn_report_axis *x, *y;
    double *sum;           /* per cell: of the utilization */
    size_t *n, *n_failed;  /* per cell: rows that ended ok, and others */
    bool *x_used, *y_used; /* values that this family has */
};

static bool is_member(const struct heat_map *map, size_t row) {
    return map->rows->axis[0].of_row[row] == map->family;
}

static size_t values_in_family(const struct heat_map *map, const struct pdnn_report_axis *axis) {
    size_t count = 0;
    for (size_t v = 0; v < axis->n_values; v++) {
        size_t r = 0;
        while (r < map->rows->n_rows && !(is_member(map, r) && axis->of_row[r] == v))
            r++;
        count += r < map->rows->n_rows && *axis->value[v];
    }
    return count;
}

/* The two numeric axes with the most values, the one with more along x. */
static void choose_axes(struct heat_map *map) {
    size_t best[2] = {1, 1};
    for (size_t k = 1; k < map->rows->n_axes; k++) {
        const struct pdnn_report_axis *axis = &map->rows->axis[k];
        size_t count = axis->is_numeric ? values_in_family(map, axis) : 0;
        if (count > CELLS_MAX)
            continue;
        if (count > best[0]) {
            map->y = map->x;
            best[1] = best[0];
            map->x = axis;
            best[0] = count;
        } else if (count > best[1]) {
            map->y = axis;
            best[1] = count;
        }
    }
}

/* A row that was never tried, or that ran where there is no peak to compare with, is missing. */
static bool has_failed(const struct pdnn_report_rows *rows, const struct pdnn_report_row *row) {
    const char *status = pdnn_report_word_text(rows, row, PDNN_REPORT_STATUS);
    return strcmp(status, "ok") != 0 && strcmp(status, "filtered") != 0 && strcmp(status, "interrupted") != 0;
}

static void fill_cells(struct heat_map *map) {
    for (size_t r = 0; r < map->rows->n_rows; r++) {
        const struct pdnn_report_row *row = &map->rows->row[r];
        size_t cell = map->y->of_row[r] * map->x->n_values + map->x->of_row[r];
        if (!is_member(map, r))
            continue;
        map->x_used[map->x->of_row[r]] = map->y_used[map->y->of_row[r]] = true;
        if (row->is_ok && isfinite(row->number[PDNN_REPORT_PCT_OF_PEAK])) {
            map->sum[cell] += row->number[PDNN_REPORT_PCT_OF_PEAK];
            map->n[cell]++;
        } else {
            map->n_failed[cell] += has_failed(map->rows, row);
        }
    }
}

/* From pale yellow through green to dark blue, whose lightness falls all the way, so that it reads in grey.
 */
static unsigned shade(double share) {
    static const double stops[][3] = {{253, 244, 191}, {127, 205, 187}, {44, 127, 184}, {12, 44, 100}};
    double at = fmin(fmax(share, 0), 1) * 3;
    int low = at >= 3 ? 2 : (int)at;
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++)
        rgb = rgb << 8 | (unsigned)lround(stops[low][k] + (at - low) * (stops[low + 1][k] - stops[low][k]));
    return rgb;
}

static void put_cell(struct pdnn_str *out, const struct heat_map *map, size_t cell, const double at[2],
                     const double size[2], double highest) {
    double mean = map->n[cell] ? map->sum[cell] / (double)map->n[cell] : NAN;
    bool failed = !map->n[cell] && map->n_failed[cell];
    if (!map->n[cell] && !failed)
        return;
    pdnn_str_printf(out, "<rect class=\"cell\" x=\"");
    pdnn_html_pixel(out, at[0]);
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, at[1]);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, size[0] - 1);
    pdnn_str_printf(out, "\" height=\"");
    pdnn_html_pixel(out, size[1] - 1);
    pdnn_str_printf(out, "\" fill=\"#%06x\"/>", failed ? 0xffffffU : shade(mean / highest));
    struct pdnn_str text = {0};
    if (failed)
        pdnn_str_printf(&text, "\xc3\x97");
    else
        pdnn_html_number(&text, mean, 3, "");
    if (size[0] >= 30)
        pdnn_html_label(out, at[0] + size[0] / 2, at[1] + size[1] / 2 + 4, PDNN_HTML_MIDDLE,
                        !failed && mean / highest > 0.5 ? "on-dark" : "on-light", pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static size_t count_used(const bool *used, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += used[i];
    return count;
}

static double highest_mean(const struct heat_map *map) {
    double highest = 0;
    for (size_t c = 0; c < map->x->n_values * map->y->n_values; c++)
        highest = fmax(highest, map->n[c] ? map->sum[c] / (double)map->n[c] : 0);
    return highest > 0 ? highest : 1;
}

static void put_cells(struct pdnn_str *out, const struct heat_map *map, const struct pdnn_html_chart *chart) {
    double size[2] = {(chart->right - chart->left) / (double)count_used(map->x_used, map->x->n_values),
                      (chart->bottom - chart->top) / (double)count_used(map->y_used, map->y->n_values)};
    double at[2] = {chart->left, chart->bottom}, highest = highest_mean(map);
    for (size_t y = 0; y < map->y->n_values; y++) {
        if (!map->y_used[y])
            continue;
        at[0] = chart->left;
        at[1] -= size[1];
        pdnn_html_label(out, chart->left - 6, at[1] + size[1] / 2 + 4, PDNN_HTML_END, "tick",
                        map->y->value[y]);
        for (size_t x = 0; x < map->x->n_values; x++) {
            if (!map->x_used[x])
                continue;
            put_cell(out, map, y * map->x->n_values + x, at, size, highest);
            at[0] += size[0];
        }
    }
    at[0] = chart->left;
    for (size_t x = 0; x < map->x->n_values; x++) {
        if (!map->x_used[x])
            continue;
        pdnn_html_label(out, at[0] + size[0] / 2, chart->bottom + 16, PDNN_HTML_MIDDLE, "tick",
                        map->x->value[x]);
        at[0] += size[0];
    }
    pdnn_html_label(out, (chart->left + chart->right) / 2, chart->bottom + 36, PDNN_HTML_MIDDLE, "",
                    map->x->name);
    pdnn_html_label(out, chart->left, chart->top - 10, PDNN_HTML_START, "", map->y->name);
}

static void put_map(struct pdnn_str *out, struct heat_map *map) {
    const char *family = map->rows->axis[0].value[map->family];
    char id[32];
    struct pdnn_str title = {0}, caption = {0};
    snprintf(id, sizeof id, "heat%zu", map->family);
    pdnn_str_printf(&title, "Utilization of %s over %s and %s", family, map->x->name, map->y->name);
    pdnn_str_printf(
        &caption,
        "%s: FLOP rate in %% of the measured peak, the mean over all models with these values. White: no "
        "model; a cross: all of them failed.",
        family);
    double height = 30 * (double)count_used(map->y_used, map->y->n_values);
    struct pdnn_html_chart chart = {id, pdnn_str_text(&title), 860, height + 80, 64, 850, 30, height + 30};
    pdnn_html_chart(out, &chart, "");
    put_cells(out, map, &chart);
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    out->failed = out->failed || title.failed || caption.failed;
    pdnn_str_finish(&title);
    pdnn_str_finish(&caption);
}

void pdnn_report_put_heat_maps(const struct pdnn_report_page *page, struct pdnn_str *out) {
    bool any = false;
    for (size_t f = 0; f < page->rows.axis[0].n_values; f++) {
        struct heat_map map = {.rows = &page->rows, .family = f};
        choose_axes(&map);
        if (!map.x || !map.y)
            continue;
        size_t n_cells = map.x->n_values * map.y->n_values;
        map.sum = calloc(n_cells, sizeof *map.sum);
        map.n = calloc(2 * n_cells, sizeof *map.n);
        map.x_used = calloc(map.x->n_values + map.y->n_values, sizeof *map.x_used);
        if (map.sum && map.n && map.x_used) {
            map.n_failed = map.n + n_cells;
            map.y_used = map.x_used + map.x->n_values;
            fill_cells(&map);
            if (!any) {
                pdnn_html_section(out, "heat", "Heat maps");
                pdnn_str_printf(out, "<div id=\"heat-any\" hidden></div>\n");
            }
            any = true;
            put_map(out, &map);
        } else {
            out->failed = true;
        }
        free(map.sum);
        free(map.n);
        free(map.x_used);
    }
    if (any)
        pdnn_html_section_end(out);
}
