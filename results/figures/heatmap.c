/* `paradnn plot heatmap`: a column over two axes (results/query/grid.h). */
#include "results/table/number.h"
#include "results/query/gaps.h"
#include "results/query/grid.h"
#include "base/units.h"
#include "results/figures/picture.h"

#include <math.h>
#include <string.h>

/* The panels lie between left, right_gap from the right edge and top_gap from the upper one; the color scale
 * is to the right. */
static const double left = 24, right_gap = 120, top_gap = 72, caption_bottom = 8, caption_gap = 10,
                    cell_least = 10, panel_least = 220, palette_least = 220, title_pixels = 30,
                    tick_pixels = 12, panel_gap = 18, line_pixels = 18, corner_pixels = 12;

/* More rows of panels than usual make the picture higher. */
enum { COLUMNS_MOST = 6, ROWS_USUAL = 3 };

struct picture {
    struct pdnn_picture *in;
    struct pdnn_axes keys, axes; /* of the panels; x and y */
    int value;                   /* its column */
    struct pdnn_grid grid;
    double bottom; /* of the panels, which are all alike: */
    size_t columns;
    double across, up;           /* of a panel with all that belongs to it */
    double beside, below, above; /* its frame */
    double cell_x, cell_y;       /* in pixels */
    bool upright;                /* names of words on the x axis that are wider than a cell */
    bool fits;                   /* numbers in cells */
    struct pdnn_scale colors[2]; /* of the value, and of ratios, without their places */
    const double *ratio;         /* by row of the results; NULL: no sides are compared */
    struct pdnn_gaps gaps;
    const char *confounder, *confounded; /* a key that is neither axis nor panel, and the axis; NULL: none */
};

/* A mean over a key that goes together with an axis would show that key along the axis. */
static void find_confounder(struct picture *p) {
    const struct pdnn_results *results = &p->in->selection.results;
    const struct pdnn_gaps *gaps = &p->gaps;
    pdnn_gaps_find(&p->in->selection, &p->gaps);
    for (size_t a = 0; a < gaps->count; a++)
        for (size_t b = 0; b < gaps->count && !p->confounder; b++) {
            const int hidden = gaps->column[b];
            if (!gaps->is_confounded[a][b] || !pdnn_axes_have(&p->axes, gaps->column[a]) ||
                pdnn_axes_have(&p->axes, hidden) || pdnn_axes_have(&p->keys, hidden) ||
                hidden == p->in->selection.family)
                continue;
            p->confounder = pdnn_results_name(results, hidden);
            p->confounded = pdnn_results_name(results, gaps->column[a]);
        }
}

/* The named axes, and for one that is not, the best key besides the other one. */
static enum pdnn_status find_axes(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_results *results = &p->in->selection.results;
    const char *const name[] = {p->in->request->x, p->in->request->y};
    int *const axis = p->axes.column;
    p->axes = (struct pdnn_axes){.column = {-1, -1}, .count = 2};
    for (int k = 0; k < 2; k++)
        if (name[k] && pdnn_results_ask(results, name[k], true, &axis[k], err) != PDNN_OK)
            return err->status;
    for (int k = 0; k < 2; k++) {
        if (!name[k])
            axis[k] = pdnn_grid_choose_axis(&p->in->selection, axis[!k]);
        if (axis[k] < 0)
            return pdnn_fail(err, PDNN_INVALID,
                             "only one hyper-parameter or run setting varies: name "
                             "the axes with --x and --y");
    }
    return axis[0] == axis[1]
               ? pdnn_fail(err, PDNN_INVALID, "both axes are %s", pdnn_results_name(results, axis[0]))
               : PDNN_OK;
}

/* A ratio stands at the row of side B. Two directories need not have a pair, unless it is said what differs.
 */
static enum pdnn_status find_ratios(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    const struct pdnn_results *results = &p->in->selection.results;
    if (!request->across && request->n_directories == 1)
        return PDNN_OK;
    if (pdnn_picture_compare(p->in, request->across != NULL, err) != PDNN_OK)
        return err->status;
    double *ratio = pdnn_arena_alloc(&p->in->arena, results->table.n_rows + 1, sizeof *ratio);
    for (size_t row = 0; row < results->table.n_rows; row++)
        ratio[row] = NAN;
    for (size_t i = 0; i < p->in->n_comparisons; i++) {
        const struct pdnn_comparison *c = &p->in->comparisons[i];
        for (size_t pair = 0; pair < c->pairs.n_rows; pair++)
            ratio[pdnn_picture_pair_row(c, pair)] = pdnn_pair_ratio(c, pair);
        for (size_t k = 0;
             k < c->across.count && !pdnn_comparison_has_two(c) && p->keys.count < PDNN_SELECTION_AXES_MAX;
             k++)
            p->keys.column[p->keys.count++] = c->across.column[k];
    }
    p->ratio = p->in->n_comparisons ? ratio : NULL;
    return PDNN_OK;
}

/* A mean of inference and training would be of neither, and a cross of the one would stand in cells of the
 * other: each has its panels, where there is room. */
static void add_mode(struct picture *p) {
    const struct pdnn_selection *selection = &p->in->selection;
    const int mode = pdnn_results_setting(&selection->results, PDNN_SETTING_MODE);
    const char **family;
    const size_t families =
                     pdnn_selection_distinct(selection, selection->family, &p->in->arena, &family, NULL),
                 panels = families * selection->results.n_directories * (p->ratio ? 3 : 2);
    bool varies = false;
    for (size_t at = 1; mode >= 0 && at < selection->count + selection->left_out && !varies; at++)
        varies = strcmp(pdnn_selection_get(selection, at, mode), pdnn_selection_get(selection, 0, mode)) != 0;
    if (varies && !pdnn_axes_have(&p->axes, mode) && !pdnn_axes_have(&p->keys, mode) && mode != p->value &&
        panels <= PDNN_GRID_PANELS_MAX && p->keys.count < PDNN_SELECTION_AXES_MAX)
        p->keys.column[p->keys.count++] = mode;
}

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_selection *selection = &p->in->selection;
    const struct pdnn_plot_request *request = p->in->request;
    if (find_axes(p, err) != PDNN_OK ||
        pdnn_results_ask(&selection->results,
                         request->value ? request->value : pdnn_selection_utilization(selection), false,
                         &p->value, err) != PDNN_OK ||
        (request->by && pdnn_axes_parse(selection, request->by, &p->keys, err) != PDNN_OK) ||
        find_ratios(p, err) != PDNN_OK)
        return err->status;
    /* A mean over several directories would say nothing: each has its panels, unless a key tells them apart.
     */
    const int results = selection->results.results, version = selection->results.version;
    if (selection->results.n_directories > 1 && !pdnn_axes_have(&p->axes, results) &&
        !pdnn_axes_have(&p->keys, results) && !pdnn_axes_have(&p->keys, version) &&
        p->keys.count < PDNN_SELECTION_AXES_MAX)
        p->keys.column[p->keys.count++] = results;
    add_mode(p);
    for (size_t k = 0; k < p->keys.count; k++)
        if (pdnn_axes_have(&p->axes, p->keys.column[k]))
            return pdnn_fail(err, PDNN_INVALID, "%s is an axis already: name the axes with --x and --y",
                             pdnn_results_name(&selection->results, p->keys.column[k]));
    if (pdnn_axes_have(&p->axes, p->value) || pdnn_axes_have(&p->keys, p->value))
        return pdnn_fail(err, PDNN_INVALID, "%s cannot be the value, it is an axis or divides the picture",
                         pdnn_results_name(&selection->results, p->value));
    return PDNN_OK;
}

/* The comparison whose side B the panel's rows are. */
static const struct pdnn_comparison *comparison_of(const struct picture *p,
                                                   const struct pdnn_grid_panel *panel) {
    const struct pdnn_comparison *c = p->in->comparisons;
    const size_t source = pdnn_results_source(&p->in->selection.results, panel->row);
    while (c + 1 < p->in->comparisons + p->in->n_comparisons && c->source[PDNN_SIDE_B] != source)
        c++;
    return c;
}

/* "fc, mode=infer"; empty for a single panel without keys. A ratio lacks the keys that its sides differ in.
 */
static const char *panel_name(const struct picture *p, const struct pdnn_grid_panel *panel) {
    const struct pdnn_results *results = &p->in->selection.results;
    struct pdnn_arena *arena = &p->in->arena;
    const struct pdnn_comparison *c = panel->is_ratio ? comparison_of(p, panel) : NULL;
    struct pdnn_str name = {0};
    if (p->grid.families > 1)
        pdnn_str_printf(&name, "%s", pdnn_results_text(results, panel->row, p->in->selection.family));
    if (panel->is_ratio)
        pdnn_str_printf(&name, "%stime of %s over %s", name.length ? ", " : "",
                        pdnn_plot_side(c, PDNN_SIDE_A), pdnn_plot_side(c, PDNN_SIDE_B));
    for (size_t k = 0; k < p->keys.count; k++) {
        const int column = p->keys.column[k];
        const bool is_side = c && (column == results->results || pdnn_axes_have(&c->across, column));
        const char *value = pdnn_results_text(results, panel->row, column);
        if (!is_side)
            pdnn_str_printf(&name, "%s%s=%s", name.length ? ", " : "", pdnn_results_name(results, column),
                            *value ? value : "-");
    }
    return pdnn_plot_keep(arena, &name);
}

static double longest_step(const struct pdnn_grid_axis *axis) {
    double most = 0;
    for (size_t i = 0; i < axis->count; i++)
        most = fmax(most, pdnn_text_width(axis->step[i], PDNN_FONT_SMALL));
    return most;
}

/* The title says that steps are bins where it has room beside a frame of this many pixels. */
static const char *axis_title(struct picture *p, int column, bool is_binned, double pixels) {
    const char *plain = pdnn_plot_axis(&p->in->arena, &p->in->selection.results, column);
    const char *binned = pdnn_arena_printf(&p->in->arena, "%s, each to the next", plain);
    return is_binned && pdnn_text_width(binned, PDNN_FONT_SMALL) <= pixels ? binned : plain;
}

/* Three significant digits, with a prefix where the integer part is long; "~" before it says that some of the
 * models are predicted. */
static const char *name_cell(struct picture *p, const struct pdnn_grid_cell *cell) {
    struct pdnn_str text = {0};
    char buffer[PDNN_UNIT_TEXT];
    if (cell->predicted)
        pdnn_str_append(&text, "~", 1);
    if (fabs(cell->mean) < 1e4)
        pdnn_number_format(&text, cell->mean, 3);
    else
        for (const char *letter = pdnn_format_si(buffer, cell->mean, ""); *letter; letter++)
            pdnn_str_append(&text, letter, *letter == ' ' ? 0 : 1);
    return pdnn_plot_keep(&p->in->arena, &text);
}

/* Whether the table has it; the others are empty. */
static bool has_row(const struct pdnn_grid_cell *cell) {
    return cell->models || cell->failed;
}

/* A cross is in the middle of the cell if every model failed, and in its upper right corner if some did; it
 * has the cell's row of the table. */
static void draw_cell(struct picture *p, const struct pdnn_grid_cell *cell, bool is_ratio,
                      struct pdnn_spot at, size_t row) {
    const double x = at.x, y = at.y;
    const double half_x = p->cell_x / 2, half_y = p->cell_y / 2, aside = corner_pixels / 2 + 2;
    const int ink = pdnn_palette(is_ratio ? pdnn_diverging : pdnn_sequential,
                                 pdnn_scale_at(&p->colors[is_ratio], cell->mean));
    if (cell->models)
        pdnn_draw_box(&p->in->canvas, x - half_x, y - half_y, x + half_x, y + half_y, pdnn_pen_fill(ink));
    if (cell->failed) {
        const struct pdnn_spot spot = {cell->models ? x + half_x - aside : x,
                                       cell->models ? y + half_y - aside : y};
        pdnn_draw_points(&p->in->canvas, &spot, &row, 1,
                         (struct pdnn_mark){PDNN_CROSS,
                                            fmin(corner_pixels / 2, 0.3 * fmin(p->cell_x, p->cell_y)),
                                            {0xb00020, PDNN_INK_WHITE, 0.8, 0},
                                            false});
    }
    if (!cell->models || !p->fits)
        return;
    const char *number = name_cell(p, cell);
    const double beside = (p->cell_x - pdnn_text_width(number, PDNN_FONT_SMALL)) / 2,
                 above = (p->cell_y - line_pixels) / 2;
    struct pdnn_font font = pdnn_small_middle;
    font.ink = pdnn_ink_on(ink);
    if (!cell->failed || beside >= corner_pixels + 3 || above >= corner_pixels)
        pdnn_draw_text(&p->in->canvas, x, y, font, number);
}

/* What the name of a panel, which is above its frame, has. */
static double name_room(const struct picture *p) {
    return p->across - p->beside - panel_gap;
}

static void lay_out(struct picture *p) {
    static const size_t columns_of[PDNN_GRID_PANELS_MAX + 1] = {1, 1, 2, 3, 2, 3, 3, 4, 4, 3,
                                                                4, 4, 4, 5, 5, 5, 6, 6, 6};
    const struct pdnn_grid *grid = &p->grid;
    /* A side is a row of panels where there are several of each; else all sides are, and their ratios. */
    const size_t of_side = p->in->n_comparisons ? grid->n_ratios / p->in->n_comparisons : 0;
    p->columns = of_side > 1 ? of_side
                 : p->in->n_comparisons > 1 && p->in->n_comparisons < COLUMNS_MOST
                     ? p->in->n_comparisons + 1
                     : columns_of[grid->n_panels];
    struct pdnn_canvas *canvas = &p->in->canvas;
    const bool narrow = canvas->width < PDNN_WIDE_ENOUGH;
    const double longest = longest_step(&grid->x), room = canvas->width - right_gap - left;
    if (narrow)
        p->columns = (size_t)fmax(1, fmin((double)p->columns, floor(room / panel_least)));
    const size_t rows = (grid->n_panels + p->columns - 1) / p->columns;
    size_t lines = 0;
    p->across = room / (double)p->columns;
    p->beside = title_pixels + tick_pixels + longest_step(&grid->y);
    for (size_t i = 0; i < grid->n_panels; i++)
        lines = (size_t)fmax((double)lines, (double)pdnn_draw_lines(NULL, 0, 0, name_room(p), pdnn_small,
                                                                    panel_name(p, &grid->panel[i])));
    p->above = lines ? 8 + line_pixels * (double)lines : 4;
    p->cell_x = (p->across - p->beside - panel_gap) / (double)grid->x.count;
    canvas->is_short = p->cell_x < cell_least;
    p->upright = isnan(grid->x.start[grid->x.count - 1]) && longest > p->cell_x;
    p->below = title_pixels + tick_pixels + (p->upright ? longest : line_pixels);
    const double least = p->below + p->above + line_pixels * (double)grid->y.count;
    if (narrow || rows > ROWS_USUAL)
        canvas->height =
            fmax(canvas->height,
                 top_gap + p->bottom + fmax(least * (double)rows, palette_least * (grid->n_ratios ? 2 : 1)));
    p->up = (canvas->height - top_gap - p->bottom) / (double)rows;
    p->cell_y = (p->up - p->below - p->above) / (double)grid->y.count;
    p->fits = line_pixels <= p->cell_y;
    for (size_t i = 0; i < grid->n_panels; i++)
        for (size_t k = 0; k < grid->x.count * grid->y.count; k++) {
            const struct pdnn_grid_cell *cell = &grid->panel[i].cell[k];
            const double width = cell->models ? pdnn_text_width(name_cell(p, cell), PDNN_FONT_SMALL) : 0;
            p->fits = p->fits && width + 4 <= p->cell_x;
        }
}

/* The names of the steps, as many as have room, and the titles of both axes. */
static void draw_axes(struct picture *p, double x, double bottom) {
    const struct pdnn_grid *grid = &p->grid;
    double wide = p->cell_x * (double)grid->x.count, high = p->cell_y * (double)grid->y.count;
    /* Every which step is named, so that names do not touch. */
    const size_t every_x = p->upright ? 1 : (size_t)fmax(1, ceil((longest_step(&grid->x) + 8) / p->cell_x)),
                 every_y = (size_t)fmax(1, ceil(line_pixels / p->cell_y));
    struct pdnn_font x_font = p->upright ? pdnn_small_end : pdnn_small_middle;
    x_font.degrees = p->upright ? 90 : 0;
    for (size_t i = 0; i < grid->x.count; i += every_x)
        pdnn_draw_text(&p->in->canvas, x + ((double)i + 0.5) * p->cell_x, bottom - (p->upright ? 6 : 12),
                       x_font, grid->x.step[i]);
    for (size_t i = 0; i < grid->y.count; i += every_y)
        pdnn_draw_text(&p->in->canvas, x - 6, bottom + ((double)i + 0.5) * p->cell_y, pdnn_small_end,
                       grid->y.step[i]);
    pdnn_draw_box(&p->in->canvas, x, bottom, x + wide, bottom + high, pdnn_pen_line(0x888888, 0.8));
    pdnn_draw_axis_title(&p->in->canvas, &(struct pdnn_axis_title){
                                             .text = axis_title(p, p->axes.column[0], grid->x.binned, wide),
                                             .beside = bottom - p->below + title_pixels / 2,
                                             .middle = x + wide / 2,
                                             .low = x - p->beside,
                                             .high = x + wide + panel_gap / 2,
                                             .is_small = true});
    pdnn_draw_axis_title(&p->in->canvas, &(struct pdnn_axis_title){
                                             .text = axis_title(p, p->axes.column[1], grid->y.binned, high),
                                             .beside = x - p->beside + title_pixels / 2,
                                             .middle = bottom + high / 2,
                                             .low = bottom - p->below + title_pixels,
                                             .high = bottom + high + p->above,
                                             .upright = true,
                                             .is_small = true});
}

static void draw_panels(struct picture *p) {
    const struct pdnn_grid *grid = &p->grid;
    size_t row =
        0; /* of the table; panels of ratios, which have none of their own and no crosses, are last */
    for (size_t i = 0; i < grid->n_panels; i++) {
        double x = left + p->across * (double)(i % p->columns) + p->beside;
        double bottom = p->in->canvas.height - top_gap - p->up * (double)(i / p->columns + 1) + p->below;
        const char *name = panel_name(p, &grid->panel[i]);
        const double lines = (double)pdnn_draw_lines(NULL, 0, 0, name_room(p), pdnn_small, name);
        pdnn_draw_lines(&p->in->canvas, x,
                        bottom + p->cell_y * (double)grid->y.count + 12 + line_pixels * fmax(lines - 1, 0),
                        name_room(p), pdnn_small, name);
        for (size_t k = 0; k < grid->x.count * grid->y.count; k++) {
            const struct pdnn_grid_cell *cell = &grid->panel[i].cell[k];
            const struct pdnn_spot at = {x + ((double)(k % grid->x.count) + 0.5) * p->cell_x,
                                         bottom + ((double)(k / grid->x.count) + 0.5) * p->cell_y};
            draw_cell(p, cell, grid->panel[i].is_ratio, at, row);
            row += has_row(cell);
        }
        draw_axes(p, x, bottom);
    }
}

/* Beside the middle of the picture, with its title at the edge; above that of the ratios, if there are any.
 */
static void draw_colors(struct picture *p) {
    const bool both = p->grid.n_ratios > 0;
    struct pdnn_font font = pdnn_small_middle;
    font.degrees = 90;
    for (int ratio = 0; ratio <= both; ratio++) {
        const double low = both ? ratio ? 0.1 : 0.55 : 0.3, high = low + (both ? 0.35 : 0.4);
        p->colors[ratio].from = low * p->in->canvas.height;
        p->colors[ratio].to = fmin(high * p->in->canvas.height, p->in->canvas.height - top_gap);
        pdnn_draw_palette(&p->in->canvas, p->in->canvas.width - 102, &p->colors[ratio],
                          ratio ? pdnn_diverging : pdnn_sequential, NULL, 0);
        pdnn_draw_text(&p->in->canvas, p->in->canvas.width - 14, (low + high) / 2 * p->in->canvas.height,
                       font,
                       ratio ? "ratio of step times"
                             : pdnn_plot_axis(&p->in->arena, &p->in->selection.results, p->value));
    }
}

static void draw_caption(struct picture *p) {
    struct pdnn_str caption = {0}, open = {0};
    struct pdnn_axes fixed = p->axes;
    for (size_t k = 0; k < p->keys.count && fixed.count < PDNN_SELECTION_AXES_MAX; k++)
        fixed.column[fixed.count++] = p->keys.column[k];
    pdnn_str_printf(&caption, "A cell is the %s mean of its models, %zu in all",
                    p->grid.geometric ? "geometric" : "arithmetic", p->grid.models);
    if (p->grid.failed)
        pdnn_str_printf(&caption, "; a cross: all failed, a small one: some did, %zu in all", p->grid.failed);
    if (p->grid.predicted)
        pdnn_str_printf(&caption, "; ~: some are predicted, %zu in all", p->grid.predicted);
    pdnn_str_printf(&caption, "; empty: no model%s%s", p->in->selection.results.is_costs ? "" : " ended ok",
                    p->grid.n_ratios ? ", of a ratio: no pair; a ratio is the geometric mean of its pairs"
                                     : "");
    pdnn_gaps_say(&p->gaps, &p->in->selection, &open);
    if (open.length)
        pdnn_str_printf(&caption, "; %s", open.text);
    if (p->grid.confounded)
        pdnn_str_printf(&caption, "; left out: %zu cells where some are open, since %s goes together with %s",
                        p->grid.confounded, p->confounded, p->confounder);
    pdnn_str_finish(&open);
    p->bottom = caption_bottom + caption_gap +
                pdnn_draw_caption(
                    &p->in->canvas, left, caption_bottom,
                    pdnn_plot_caption(&p->in->arena, &caption, &p->in->selection, &fixed, "for most models"));
}

/* The family, the keys of panels, both axes, the mean, and how many models it is of. */
static void fill_data(struct picture *p) {
    const struct pdnn_results *results = &p->in->selection.results;
    const struct pdnn_grid *grid = &p->grid;
    const char *names = "";
    for (size_t k = 0; k < p->keys.count; k++)
        names = pdnn_arena_printf(&p->in->arena, "%s%s ", names, pdnn_picture_name(p->in, p->keys.column[k]));
    pdnn_picture_table(
        p->in, pdnn_arena_printf(&p->in->arena, "family %s%s %s #%s +models +failed +doubtful%s", names,
                                 pdnn_picture_name(p->in, p->axes.column[0]),
                                 pdnn_picture_name(p->in, p->axes.column[1]),
                                 pdnn_picture_name(p->in, p->value), grid->n_ratios ? " #ratio" : ""));
    const size_t n_values = grid->n_panels - grid->n_ratios;
    for (size_t i = 0; i < n_values; i++) {
        const size_t panel = grid->panel[i].row;
        size_t ratios = n_values; /* the panel that stands beside this one */
        while (ratios < grid->n_panels && grid->panel[ratios].row != panel)
            ratios++;
        for (size_t c = 0; c < grid->x.count * grid->y.count; c++) {
            const struct pdnn_grid_cell *cell = &grid->panel[i].cell[c];
            if (!has_row(cell))
                continue;
            const size_t row = pdnn_table_add_row(&p->in->data);
            pdnn_table_set_text(&p->in->data, row, 0,
                                pdnn_results_text(results, panel, p->in->selection.family));
            for (size_t k = 0; k < p->keys.count; k++)
                pdnn_table_set_text(&p->in->data, row, 1 + k,
                                    pdnn_results_text(results, panel, p->keys.column[k]));
            pdnn_picture_fill(p->in, 1 + p->keys.count, grid->x.step[c % grid->x.count],
                              grid->y.step[c / grid->x.count], cell->mean, cell->models, cell->failed,
                              cell->doubtful,
                              ratios < grid->n_panels ? grid->panel[ratios].cell[c].mean : NAN);
        }
    }
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    if (find_columns(&p, err) != PDNN_OK)
        return err->status;
    find_confounder(&p);
    if (pdnn_grid(&(struct pdnn_grid_request){&picture->selection, p.axes.column[0], p.axes.column[1],
                                              p.value, p.ratio, &p.keys, p.confounder,
                                              picture->n_comparisons ? &picture->comparisons->across : NULL},
                  &picture->arena, &p.grid, err) != PDNN_OK)
        return err->status;
    const char *what = pdnn_arena_printf(
        &picture->arena, "%s in", pdnn_plot_words(&picture->arena, &picture->selection.results, p.value));
    draw_caption(&p);
    p.colors[0] = pdnn_scale_of(p.grid.least[0], p.grid.greatest[0]);
    const double most = fmax(1.01, fmax(p.grid.greatest[1], 1 / p.grid.least[1]));
    p.colors[1] = (struct pdnn_scale){.low = 1 / most, .high = most, .to = 1, .base = 10};
    lay_out(&p);
    draw_panels(&p);
    draw_colors(&p);
    pdnn_put_titles(&picture->canvas, left,
                    pdnn_plot_titles(&picture->arena, what, &picture->selection, NULL));
    fill_data(&p);
    picture->drawn = p.grid.models;
    picture->left_out = p.grid.left_out;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_heatmap = {
    .name = "heatmap",
    .help =
        "the mean of a column over two axes: --x and --y (default: the minibatch and the key with the most "
        "values), "
        "--value (default: pct_of_peak, or gflops where no model has it), a panel for each family, mode and "
        "value of --by, --only; of several RESULTS, or with --across what is to differ in one, also the ratio of "
        "the first one's step times to each other one's",
    .options = (const char *const[]){"x", "y", "value", "by", "across", "only", NULL},
    .drawn = "models",
    .left_out_as = "rows without the axes or the value",
    .no_range = {"has the values of a key, which --only chooses",
                 "has the values of a key, which --only chooses"},
    .takes_costs = true,
    .of = PDNN_PLOT_ROWS,
    .draw = draw,
};
