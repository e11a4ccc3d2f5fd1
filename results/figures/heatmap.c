/* `paradnn plot heatmap`: a column over two axes (results/query/grid.h). The looks are in
 * results/figures/heatmap.gp. */
#include "results/table/number.h"
#include "results/query/grid.h"
#include "base/units.h"
#include "results/figures/caption.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_LABEL = 10 };

/* The picture in pixels: the panels lie between left, right and top; the color scale is to the right. */
static const double width = 1200, height = 800, left = 24, right = 1080, top = 728;
static const double caption_bottom = 8, caption_gap = 10, title_pixels = 30, tick_pixels = 12, panel_gap = 18,
                    letter_pixels = 8.3, line_pixels = 18, corner_pixels = 12;

/* On cells darker than this part of the scale, numbers are white. */
static const double dark_part = 0.6;

struct picture {
    struct pdnn_selection selection;
    struct pdnn_arena arena;
    struct pdnn_axes keys; /* of the panels */
    int x, y, value;
    struct pdnn_grid grid;
    double bottom;         /* of the panels */
    double cell_x, cell_y; /* pixels */
    double low, high;      /* the color scale */
    struct pdnn_axes axes; /* x and y */
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status find_axis(struct picture *p, const char *name, int other, int *column,
                                  struct pdnn_err *err) {
    if (name)
        return pdnn_selection_key(&p->selection, name, column, err);
    *column = pdnn_grid_choose_axis(&p->selection, other);
    return *column >= 0 ? PDNN_OK
                        : pdnn_fail(err, PDNN_INVALID,
                                    "only one hyper-parameter or run setting varies: name "
                                    "the axes with --x and --y");
}

/* A mean over several directories would say nothing: each has its panels, unless an axis or --by tells them
 * apart. */
static void part_directories(struct picture *p) {
    int results = p->selection.results.results;
    int version = p->selection.results.version;
    bool parted = p->selection.results.n_directories == 1 || p->x == results || p->y == results;
    for (size_t k = 0; k < p->keys.count && !parted; k++)
        parted = p->keys.column[k] == results || p->keys.column[k] == version;
    if (!parted && p->keys.count < PDNN_SELECTION_AXES_MAX)
        p->keys.column[p->keys.count++] = results;
}

static enum pdnn_status find_columns(struct picture *p, const struct pdnn_plot_request *request,
                                     struct pdnn_err *err) {
    int named_y = -1;
    if (request->y && pdnn_selection_key(&p->selection, request->y, &named_y, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = find_axis(p, request->x, named_y, &p->x, err);
    if (status == PDNN_OK)
        status = find_axis(p, request->y, p->x, &p->y, err);
    if (status == PDNN_OK && p->x == p->y)
        status =
            pdnn_fail(err, PDNN_INVALID, "both axes are %s", pdnn_results_name(&p->selection.results, p->x));
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p->selection,
                                  request->value ? request->value : pdnn_selection_utilization(&p->selection),
                                  &p->value, err);
    if (status == PDNN_OK && request->by)
        status = pdnn_axes_parse(&p->selection, request->by, &p->keys, err);
    if (status == PDNN_OK)
        part_directories(p);
    for (size_t k = 0; status == PDNN_OK && k < p->keys.count; k++) {
        if (p->keys.column[k] == p->x || p->keys.column[k] == p->y)
            status = pdnn_fail(err, PDNN_INVALID, "--by %s is an axis already",
                               pdnn_results_name(&p->selection.results, p->keys.column[k]));
    }
    p->axes = (struct pdnn_axes){.column = {p->x, p->y}, .count = 2};
    return status;
}

/* "fc, mode=infer"; empty for a single panel without keys. */
static void panel_name(const struct picture *p, const struct pdnn_grid_panel *panel, struct pdnn_str *name) {
    if (p->grid.families > 1)
        pdnn_str_printf(name, "%s",
                        pdnn_results_text(&p->selection.results, panel->row, p->selection.family));
    for (size_t k = 0; k < p->keys.count; k++) {
        int column = p->keys.column[k];
        const char *value = pdnn_results_text(&p->selection.results, panel->row, column);
        pdnn_str_printf(name, "%s%s=%s", name->length ? ", " : "",
                        pdnn_results_name(&p->selection.results, column), *value ? value : "-");
    }
}

static double longest_step(const struct pdnn_grid_axis *axis) {
    size_t most = 0;
    for (size_t i = 0; i < axis->count; i++)
        most = strlen(axis->step[i]) > most ? strlen(axis->step[i]) : most;
    return letter_pixels * (double)most;
}

/* Every which step is named, so that names do not touch. */
static size_t stride(double label_pixels, double cell_pixels) {
    return (size_t)fmax(1, ceil(label_pixels / cell_pixels));
}

static void put_tics(struct picture *p, const char *axis, const struct pdnn_grid_axis *steps, size_t every) {
    pdnn_str_printf(&p->script, "set %stics (", axis);
    for (size_t i = 0; i < steps->count; i += every) {
        pdnn_str_printf(&p->script, "%s", i ? ", " : "");
        pdnn_gnuplot_quote(&p->script, steps->step[i]);
        pdnn_str_printf(&p->script, " %zu", i);
    }
    pdnn_str_printf(&p->script, ")\n");
}

/* The title says that steps are bins where it has room beside a frame of this many pixels. */
static const char *axis_title(const struct pdnn_grid_axis *axis, double pixels,
                              char text[PDNN_AXIS_TEXT + 32]) {
    static const char binned[] = ", each to the next";
    char plain[PDNN_AXIS_TEXT];
    snprintf(text, PDNN_AXIS_TEXT + 32, "%s%s", pdnn_plot_axis(axis->name, plain),
             axis->binned ? binned : "");
    if (axis->binned && pdnn_plot_text_pixels(text) > pixels)
        text[strlen(text) - (sizeof binned - 1)] = 0;
    return text;
}

/* Where each panel's frame lies, and how its axes are named. Names of words that are wider than a cell stand
 * upright. */
static void put_panels(struct picture *p) {
    static const size_t columns_of[PDNN_GRID_PANELS_MAX + 1] = {1, 1, 2, 3, 2, 3, 3, 4, 4, 3, 4, 4, 4};
    const struct pdnn_grid *grid = &p->grid;
    size_t n = grid->n_panels, columns = columns_of[n], rows = (n + columns - 1) / columns;
    bool named = grid->families > 1 || p->keys.count;
    double across = (right - left) / (double)columns, up = (top - p->bottom) / (double)rows, number;
    double beside = title_pixels + tick_pixels + longest_step(&grid->y), above = named ? 26 : 4;
    p->cell_x = (across - beside - panel_gap) / (double)grid->x.count;
    bool upright =
        !pdnn_parse_double(grid->x.step[grid->x.count - 1], &number) && longest_step(&grid->x) > p->cell_x;
    double below = title_pixels + tick_pixels + (upright ? longest_step(&grid->x) : line_pixels);
    p->cell_y = (up - below - above) / (double)grid->y.count;
    pdnn_str_printf(&p->script, "array PANEL[%zu]\narray NAME[%zu]\n", 4 * n, n);
    for (size_t i = 0; i < n; i++) {
        double x = left + across * (double)(i % columns), y = top - up * (double)(i / columns);
        const double frame[] = {x + beside, x + across - panel_gap, y - up + below, y - above};
        char name[32];
        struct pdnn_str text = {0};
        for (size_t side = 0; side < 4; side++) {
            snprintf(name, sizeof name, "PANEL[%zu]", 4 * i + side + 1);
            pdnn_plot_variable(&p->script, name, frame[side]);
        }
        panel_name(p, &grid->panel[i], &text);
        snprintf(name, sizeof name, "NAME[%zu]", i + 1);
        pdnn_gnuplot_text(&p->script, name, pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
    put_tics(p, "x", &grid->x, upright ? 1 : stride(longest_step(&grid->x) + 8, p->cell_x));
    put_tics(p, "y", &grid->y, stride(line_pixels, p->cell_y));
    pdnn_str_printf(&p->script, "UPRIGHT = %d\n", upright);
    pdnn_plot_variable(&p->script, "X_TITLE_DOWN", below - title_pixels / 2);
    pdnn_plot_variable(&p->script, "Y_TITLE_LEFT", beside - title_pixels / 2);
}

/* 1, 2 and 5 of each decade, or only decades, so that a short scale has more than one number. */
static void put_ticks_of_scale(struct picture *p) {
    static const int steps[] = {1, 2, 5};
    struct pdnn_str ticks = {0};
    double decades = log10(p->high / p->low);
    for (int e = (int)floor(log10(p->low)); e <= (int)ceil(log10(p->high)); e++) {
        for (size_t i = 0; i < (decades > 3 ? 1 : 3); i++) {
            double value = steps[i] * pow(10, e);
            if (value < p->low || value > p->high)
                continue;
            pdnn_str_append(&ticks, ", ", ticks.length ? 2 : 0);
            pdnn_number_format(&ticks, value, 3);
        }
    }
    pdnn_gnuplot_text(&p->script, "CBTICS", pdnn_str_text(&ticks));
    pdnn_str_finish(&ticks);
}

static void put_scale(struct picture *p) {
    const struct pdnn_grid *grid = &p->grid;
    char title[PDNN_AXIS_TEXT];
    bool logarithmic = grid->geometric && grid->greatest > 10 * grid->least;
    double margin = grid->least == grid->greatest ? fmax(fabs(grid->least) / 10, 1e-9) : 0;
    p->low = grid->least - margin;
    p->high = grid->greatest + margin;
    pdnn_str_printf(&p->script, "CBLOG = %d\n", logarithmic);
    pdnn_plot_variable(&p->script, "CBMIN", p->low);
    pdnn_plot_variable(&p->script, "CBMAX", p->high);
    pdnn_gnuplot_text(&p->script, "COLOR",
                      pdnn_plot_axis(pdnn_results_name(&p->selection.results, p->value), title));
    if (logarithmic)
        put_ticks_of_scale(p);
    else
        pdnn_gnuplot_text(&p->script, "CBTICS", "");
}

static bool is_dark(const struct picture *p, double mean) {
    bool logarithmic = p->grid.geometric && p->grid.greatest > 10 * p->grid.least;
    double part =
        logarithmic ? log(mean / p->low) / log(p->high / p->low) : (mean - p->low) / (p->high - p->low);
    return part < dark_part;
}

/* Three significant digits, with a prefix where the integer part is long. */
static void format_mean(double mean, struct pdnn_str *text) {
    char buffer[PDNN_UNIT_TEXT];
    if (fabs(mean) < 1e4)
        pdnn_number_format(text, mean, 3);
    else
        for (const char *letter = pdnn_format_si(buffer, mean, ""); *letter; letter++)
            pdnn_str_append(text, letter, *letter == ' ' ? 0 : 1);
}

/* "~" before the mean says that some of the models are predicted. */
static void format_cell(const struct pdnn_grid_cell *cell, struct pdnn_str *text) {
    if (cell->predicted)
        pdnn_str_append(text, "~", 1);
    format_mean(cell->mean, text);
}

static double longest_mean(const struct picture *p) {
    double longest = 0;
    for (size_t i = 0; i < p->grid.n_panels; i++) {
        for (size_t k = 0; k < p->grid.x.count * p->grid.y.count; k++) {
            struct pdnn_str text = {0};
            if (p->grid.panel[i].cell[k].models)
                format_cell(&p->grid.panel[i].cell[k], &text);
            longest = fmax(longest, (double)text.length * letter_pixels);
            pdnn_str_finish(&text);
        }
    }
    return longest;
}

typedef void put_cell(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y);

/* One data block with an index per panel; `nothing` is a line that draws nothing. */
static void put_block(struct picture *p, const char *name, const char *nothing, put_cell *put) {
    pdnn_str_printf(&p->script, "$%s << END\n", name);
    for (size_t i = 0; i < p->grid.n_panels; i++) {
        pdnn_str_printf(&p->script, "%s\n", nothing);
        for (size_t k = 0; k < p->grid.x.count * p->grid.y.count; k++)
            put(p, &p->grid.panel[i].cell[k], k % p->grid.x.count, k / p->grid.x.count);
        pdnn_str_printf(&p->script, "\n\n");
    }
    pdnn_str_printf(&p->script, "END\n");
}

static void put_filled(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y) {
    if (!cell->models)
        return;
    pdnn_str_printf(&p->script, "%zu %zu ", x, y);
    pdnn_plot_number(&p->script, cell->mean, "\n");
}

/* Two strokes: over the whole cell if every model failed, in its upper right corner if some did. */
static void put_cross(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y) {
    static const double end = 0.42, middle = 0.3;
    double wide = cell->models ? fmin(2 * middle, corner_pixels / p->cell_x) : 2 * middle;
    double high = cell->models ? fmin(2 * middle, corner_pixels / p->cell_y) : 2 * middle;
    if (!cell->failed)
        return;
    double right_x = (double)x + (cell->models ? end : middle),
           top_y = (double)y + (cell->models ? end : middle);
    for (int rises = 0; rises < 2; rises++) {
        pdnn_plot_number(&p->script, right_x - wide, " ");
        pdnn_plot_number(&p->script, rises ? top_y - high : top_y, " ");
        pdnn_plot_number(&p->script, wide, " ");
        pdnn_plot_number(&p->script, rises ? high : -high, "\n");
    }
}

/* Whether a number in the middle of the cell and a cross in its corner leave each other room. */
static bool has_room(const struct picture *p, const struct pdnn_str *number) {
    double beside = (p->cell_x - letter_pixels * (double)number->length) / 2,
           above = (p->cell_y - line_pixels) / 2;
    return beside >= corner_pixels + 3 || above >= corner_pixels;
}

static void put_mean(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y, bool dark) {
    struct pdnn_str text = {0};
    if (!cell->models || is_dark(p, cell->mean) != dark)
        return;
    format_cell(cell, &text);
    if (cell->failed && !has_room(p, &text)) {
        pdnn_str_finish(&text);
        return;
    }
    pdnn_str_printf(&p->script, "%zu %zu \"%s\"\n", x, y, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void put_light(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y) {
    put_mean(p, cell, x, y, false);
}

static void put_dark(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y) {
    put_mean(p, cell, x, y, true);
}

static void put_nothing(struct picture *p, const struct pdnn_grid_cell *cell, size_t x, size_t y) {
    (void)p, (void)cell, (void)x, (void)y;
}

static void put_captions(struct picture *p) {
    struct pdnn_label_sheet sheet = {&p->script, width, height, FIRST_LABEL};
    struct pdnn_str caption = {0}, usual = {0};
    struct pdnn_axes fixed = p->axes;
    for (size_t k = 0; k < p->keys.count && fixed.count < PDNN_SELECTION_AXES_MAX; k++)
        fixed.column[fixed.count++] = p->keys.column[k];
    pdnn_str_printf(&caption, "A cell is the %s mean of its models, %zu in all",
                    p->grid.geometric ? "geometric" : "arithmetic", p->grid.models);
    if (p->grid.failed)
        pdnn_str_printf(&caption, "; a cross: all failed, a small one: some did, %zu in all", p->grid.failed);
    if (p->grid.predicted)
        pdnn_str_printf(&caption, "; ~: some are predicted, %zu in all", p->grid.predicted);
    pdnn_str_printf(&caption, "; white: nothing was measured");
    pdnn_selection_usual(&p->selection, &fixed, &usual);
    if (usual.length)
        pdnn_str_printf(&usual, " for most models");
    double y = caption_bottom;
    y += pdnn_plot_caption(pdnn_str_text(&usual), left, y, &sheet);
    y += pdnn_plot_caption(pdnn_str_text(&caption), left, y, &sheet);
    p->bottom = y + caption_gap;
    pdnn_str_finish(&caption);
    pdnn_str_finish(&usual);
}

static void add_cell(struct picture *p, const struct pdnn_grid_panel *panel, size_t x, size_t y) {
    const struct pdnn_grid_cell *cell = &panel->cell[x + p->grid.x.count * y];
    size_t column = 0;
    if (!cell->models && !cell->failed)
        return;
    size_t row = pdnn_table_add_row(&p->data);
    pdnn_table_set_text(&p->data, row, column++,
                        pdnn_results_text(&p->selection.results, panel->row, p->selection.family));
    for (size_t k = 0; k < p->keys.count; k++)
        pdnn_table_set_text(&p->data, row, column++,
                            pdnn_results_text(&p->selection.results, panel->row, p->keys.column[k]));
    pdnn_table_set_text(&p->data, row, column++, p->grid.x.step[x]);
    pdnn_table_set_text(&p->data, row, column++, p->grid.y.step[y]);
    pdnn_table_set_number(&p->data, row, column++, cell->mean);
    pdnn_table_set_count(&p->data, row, column++, cell->models);
    pdnn_table_set_count(&p->data, row, column, cell->failed);
}

/* The family, the keys of panels, both axes, the mean, and how many models it is of. */
static void fill_data(struct picture *p) {
    struct pdnn_column_def columns[PDNN_SELECTION_AXES_MAX + 6] = {{.name = "family"}};
    const struct pdnn_results *results = &p->selection.results;
    size_t count = 1;
    for (size_t k = 0; k < p->keys.count; k++)
        columns[count++].name = pdnn_key_column(pdnn_results_name(results, p->keys.column[k]));
    columns[count++].name = pdnn_key_column(p->grid.x.name);
    columns[count++].name = pdnn_key_column(p->grid.y.name);
    columns[count++] = (struct pdnn_column_def){.name = pdnn_key_column(pdnn_results_name(results, p->value)),
                                                .kind = PDNN_KIND_NUMBER};
    columns[count++] = (struct pdnn_column_def){.name = "models", .kind = PDNN_KIND_COUNT};
    columns[count++] = (struct pdnn_column_def){.name = "failed", .kind = PDNN_KIND_COUNT};
    pdnn_table_init(&p->data, &(struct pdnn_table_def){"plot heatmap", "what is drawn", columns, count});
    for (size_t i = 0; i < p->grid.n_panels; i++)
        for (size_t y = 0; y < p->grid.y.count; y++)
            for (size_t x = 0; x < p->grid.x.count; x++)
                add_cell(p, &p->grid.panel[i], x, y);
}

static void write_script(struct picture *p) {
    char title[PDNN_AXIS_TEXT + 32], what[PDNN_AXIS_TEXT];
    snprintf(what, sizeof what, "%.100s in", pdnn_results_name(&p->selection.results, p->value));
    pdnn_plot_titles(&p->script, what, &p->selection);
    put_captions(p);
    pdnn_plot_variable(&p->script, "WIDTH", width);
    pdnn_plot_variable(&p->script, "HEIGHT", height);
    pdnn_plot_variable(&p->script, "N_PANELS", (double)p->grid.n_panels);
    pdnn_plot_variable(&p->script, "NX", (double)p->grid.x.count);
    pdnn_plot_variable(&p->script, "NY", (double)p->grid.y.count);
    put_panels(p);
    pdnn_gnuplot_text(&p->script, "X_TITLE",
                      axis_title(&p->grid.x, p->cell_x * (double)p->grid.x.count, title));
    pdnn_gnuplot_text(&p->script, "Y_TITLE",
                      axis_title(&p->grid.y, p->cell_y * (double)p->grid.y.count, title));
    put_scale(p);
    bool fits = longest_mean(p) + 4 <= p->cell_x && line_pixels <= p->cell_y;
    put_block(p, "cells", "-9 -9 NaN", put_filled);
    put_block(p, "crosses", "-9 -9 0 0", put_cross);
    put_block(p, "light", "-9 -9 \"\"", fits ? put_light : put_nothing);
    put_block(p, "dark", "-9 -9 \"\"", fits ? put_dark : put_nothing);
    fill_data(p);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.bottom = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    enum pdnn_status status = pdnn_plot_select(request, &p.selection, err);
    if (status == PDNN_OK)
        status = find_columns(&p, request, err);
    if (status == PDNN_OK)
        status = pdnn_grid(&(struct pdnn_grid_request){&p.selection, p.x, p.y, p.value, &p.keys}, &p.arena,
                           &p.grid, err);
    if (status == PDNN_OK) {
        write_script(&p);
        status = pdnn_plot_write(request,
                                 &(struct pdnn_plot_parts){.kind = "heatmap",
                                                           .variables = &p.script,
                                                           .embedded = pdnn_plot_script_heatmap,
                                                           .data = &p.data},
                                 &drawn, err);
    }
    drawn.drawn = (int)p.grid.models;
    drawn.left_out = (int)p.grid.left_out;
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.data);
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"x", "y", "value", "by", "only", NULL};

const struct pdnn_plot_def pdnn_plot_heatmap = {
    .name = "heatmap",
    .help =
        "the mean of a column over two axes: --x and --y (default: the minibatch and the key with the most "
        "values), "
        "--value (default: pct_of_peak, or gflops where no model has it), a panel for each family and each "
        "value of --by, --only",
    .options = options,
    .drawn = "models",
    .left_out_as = "rows without the axes or the value",
    .draw = draw,
};
