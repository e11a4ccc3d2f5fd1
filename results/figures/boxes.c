/* `paradnn plot boxes`: how a column, or the ratio of two platforms, spreads over the models of each family
 * and platform. */
#include "results/figures/boxes.h"
#include "base/stats.h"
#include "models/zoo/catalog.h"
#include "models/cost/cost.h"
#include "models/instance.h"
#include "results/figures/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 48, QUANTILES = 5, MEDIAN = 2, BOX_LEAST = 5 };

static const double right_legend = 264, right_alone = 24, caption_bottom = 8, legend_pixels = 24,
                    legend_width = 264 - 24 - PDNN_LEGEND_EDGE, frame_least = 160;

/* A box's width in slots, one per box. */
static const double box_part = 0.56;

struct box {
    struct pdnn_row_list rows;                /* of the results; the group's */
    size_t at;                                /* the first as a chosen row */
    size_t rank[1 + PDNN_SELECTION_AXES_MAX]; /* its family and keys, by where they come first */
    double *value;                            /* of each row, then sorted */
    double quantile[QUANTILES]; /* lower whisker, box, bar, box, upper whisker; NaN: too few values */
};

/* A named model, drawn as a point over its box. */
struct dot {
    size_t box;
    const char *name;
    double value;
    const char *method; /* of its row; NULL: it is in no table */
    bool doubtful;
};

/* A value beyond the whiskers of its box, or of a box without percentiles, drawn as a circle. */
struct circle {
    size_t box, row; /* row: of the results */
};

struct picture {
    struct pdnn_picture *in;
    const struct pdnn_selection *selection; /* the picture's */
    bool is_span;
    const char *title, *y_title;
    double *value;   /* by row of the results, whose family and keys make the boxes; NaN: none */
    unsigned *notes; /* the same; of a ratio, those of its pair */
    struct pdnn_axes keys;
    double line; /* a value to draw a line at; NaN: none */
    struct pdnn_groups groups;
    struct pdnn_plot_tally tally;
    struct box box[BOXES_MAX];
    size_t n_boxes;
    struct pdnn_bars bars;
    struct dot *dot;
    size_t n_dots, room;
    struct pdnn_look *look; /* of each dot */
    struct circle *circle;
    size_t n_circles, circles_room;
    double low, high;
    struct pdnn_scale y;
};

/* The family, then the keys. */
static int column_of(const struct picture *p, size_t k) {
    return k ? p->keys.column[k - 1] : p->selection->family;
}

static const char *get(const struct picture *p, size_t box, size_t k) {
    return pdnn_selection_get(p->selection, p->box[box].at, column_of(p, k));
}

static int compare_boxes(const void *a, const void *b) {
    const struct box *x = a, *y = b;
    int order = 0;
    for (size_t k = 0; k <= PDNN_SELECTION_AXES_MAX && !order; k++)
        order = (x->rank[k] > y->rank[k]) - (x->rank[k] < y->rank[k]);
    return order;
}

static void widen(struct picture *p, double value) {
    p->low = fmin(p->low, value);
    p->high = fmax(p->high, value);
}

/* By family, then by each key, in the order of the file. */
static enum pdnn_status collect_boxes(struct picture *p, struct pdnn_err *err) {
    struct pdnn_row_list rows = {0};
    size_t keys[1 + PDNN_SELECTION_AXES_MAX];
    for (size_t k = 0; k <= p->keys.count; k++)
        keys[k] = (size_t)column_of(p, k);
    for (size_t at = 0; at < p->selection->count; at++) {
        const size_t row = p->selection->row[at];
        if (isnan(p->value[row]))
            continue;
        pdnn_rows_add(&rows, row);
        pdnn_plot_tally_add(&p->tally, p->notes[row]);
        widen(p, p->value[row]);
    }
    p->in->drawn = rows.count;
    p->groups = pdnn_groups_make(&p->selection->results.table, &rows, keys, 1 + p->keys.count);
    pdnn_rows_finish(&rows);
    if (!p->groups.count)
        return pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has a number to draw");
    if (p->groups.count > BOXES_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than %d boxes: choose some with --only, or other keys with --by", BOXES_MAX);
    for (size_t b = 0; b < p->groups.count; b++) {
        static const double percentiles[QUANTILES] = {0.02, 0.09, 0.5, 0.91, 0.98},
                            ends[] = {0, 0, 0.5, 1, 1};
        struct box *box = &p->box[b];
        box->rows = p->groups.group[b];
        while (p->selection->row[box->at] != box->rows.at[0])
            box->at++;
        for (size_t k = 0; k <= p->keys.count; k++)
            while (strcmp(get(p, box->rank[k], k), get(p, b, k)) != 0)
                box->rank[k]++;
        box->value = pdnn_arena_alloc(&p->in->arena, box->rows.count, sizeof *box->value);
        for (size_t i = 0; i < box->rows.count; i++)
            box->value[i] = p->value[box->rows.at[i]];
        pdnn_sort(box->value, box->rows.count);
        for (size_t k = 0; k < QUANTILES; k++) {
            const bool is_known = k == MEDIAN || p->is_span || box->rows.count >= BOX_LEAST;
            const double part = (p->is_span ? ends : percentiles)[k];
            box->quantile[k] = is_known ? pdnn_quantile_sorted(box->value, box->rows.count, part) : NAN;
        }
    }
    p->n_boxes = p->groups.count;
    qsort(p->box, p->n_boxes, sizeof *p->box, compare_boxes);
    return PDNN_OK;
}

static void add_dot(struct picture *p, struct dot dot) {
    p->dot = pdnn_arena_grow(&p->in->arena, p->dot, &p->room, p->n_dots, sizeof *p->dot);
    p->dot[p->n_dots++] = dot;
    widen(p, dot.value);
}

static void add_measured(struct picture *p) {
    struct pdnn_parsed_presets presets = {0};
    for (size_t b = 0; b < p->n_boxes; b++)
        for (size_t i = 0; i < p->box[b].rows.count; i++) {
            const size_t row = p->box[b].rows.at[i];
            const char *id = pdnn_results_text(&p->selection->results, row, p->selection->id);
            struct pdnn_instance instance;
            struct pdnn_err ignored = {0};
            if (pdnn_instance_parse(id, &instance, &ignored) != PDNN_OK)
                continue;
            pdnn_instance_resolve(&instance, instance.setting[PDNN_SETTING_THREADS]);
            const struct pdnn_preset *preset = pdnn_instance_preset(&instance, &presets);
            const int column = p->selection->results.at[PDNN_RESULT_METHOD];
            const char *method = pdnn_results_text(&p->selection->results, row, column);
            if (!*method || strcmp(method, "direct") == 0)
                method = "measured";
            if (preset)
                add_dot(p, (struct dot){b, preset->name, p->value[row], method,
                                        p->notes[row] & PDNN_NOTES_DOUBT});
        }
}

/* Presets that no row is, by their number of parameters. */
static void add_others(struct picture *p) {
    struct pdnn_arena arena = {0};
    for (size_t box = 0; box < p->n_boxes; box++) {
        const struct pdnn_family_def *family = pdnn_family_find(get(p, box, 0));
        for (size_t i = 0; family && i < family->n_presets; i++) {
            struct pdnn_instance instance;
            struct pdnn_totals totals;
            struct pdnn_err ignored = {0};
            bool has = false;
            for (size_t k = 0; k < p->n_dots && !has; k++)
                has = p->dot[k].box == box && p->dot[k].method &&
                      strcmp(p->dot[k].name, family->presets[i].name) == 0;
            pdnn_instance_init_preset(&instance, family, &family->presets[i]);
            pdnn_instance_resolve(&instance, 1);
            if (!has && pdnn_cost_instance(&instance, &arena, false, &totals, &ignored) == PDNN_OK)
                add_dot(p, (struct dot){box, family->presets[i].name, (double)totals.params, NULL, false});
        }
    }
    pdnn_arena_finish(&arena);
}

static void add_circles(struct picture *p) {
    for (size_t b = 0; b < p->n_boxes; b++)
        for (size_t i = 0; i < p->box[b].rows.count; i++) {
            const struct box *box = &p->box[b];
            const double value = p->value[box->rows.at[i]];
            if (value >= box->quantile[0] && value <= box->quantile[4])
                continue;
            p->circle =
                pdnn_arena_grow(&p->in->arena, p->circle, &p->circles_room, p->n_circles, sizeof *p->circle);
            p->circle[p->n_circles++] = (struct circle){b, box->rows.at[i]};
        }
}

static void choose_range(struct picture *p) {
    widen(p, p->line);
    p->y.base = p->low > 0 && (p->high > 10 * p->low || !isnan(p->line)) ? 10 : 0;
    if (p->y.base) {
        double margin = fmax(pow(p->high / p->low, 0.04), 1.02);
        p->y.low = p->low / margin;
        p->y.high = p->high * margin;
    } else {
        double margin = fmax((p->high - p->low) * 0.04, fabs(p->high) * 1e-3 + 1e-9);
        p->y.low = p->low >= 0 && p->low < p->high / 2 ? 0 : p->low - margin;
        p->y.high = p->high + margin;
    }
    pdnn_scale_narrow(&p->y, p->in->chart.y_range);
    for (size_t b = 0; b < p->n_boxes; b++)
        for (size_t i = 0; i < p->box[b].rows.count; i++)
            p->in->chart.n_outside += !pdnn_scale_holds(&p->y, p->box[b].value[i]);
    p->in->drawn -= p->in->chart.n_outside;
}

static void level(struct picture *p, double center, double half, double value, double width) {
    const double y = pdnn_scale_within(&p->y, value);
    if (pdnn_scale_holds(&p->y, value))
        pdnn_draw_line(&p->in->canvas, pdnn_scale_at(&p->bars.x, center - half), y,
                       pdnn_scale_at(&p->bars.x, center + half), y, pdnn_pen_line(PDNN_INK_TEXT, width));
}

/* The box from a low to a high percentile: open where the axis ends before it. */
static void draw_middle(struct picture *p, double center, const struct box *box) {
    static const double width = 1.2;
    const double half = box_part / 2;
    const double low = pdnn_scale_within(&p->y, box->quantile[1]),
                 high = pdnn_scale_within(&p->y, box->quantile[3]),
                 left = pdnn_scale_at(&p->bars.x, center - half),
                 right = pdnn_scale_at(&p->bars.x, center + half);
    const bool is_whole =
        pdnn_scale_holds(&p->y, box->quantile[1]) && pdnn_scale_holds(&p->y, box->quantile[3]);
    const struct pdnn_pen edge = pdnn_pen_line(PDNN_INK_TEXT, width);
    pdnn_draw_box(&p->in->canvas, left, low, right, high,
                  (struct pdnn_pen){0x9ecae1, is_whole ? PDNN_INK_TEXT : PDNN_NO_INK, width, 0});
    if (is_whole)
        return;
    pdnn_draw_line(&p->in->canvas, left, low, left, high, edge);
    pdnn_draw_line(&p->in->canvas, right, low, right, high, edge);
    level(p, center, half, box->quantile[1], width);
    level(p, center, half, box->quantile[3], width);
}

/* Whiskers, the box and its middle, as far as the axis holds them. */
static void draw_box(struct picture *p, size_t number) {
    const struct box *box = &p->box[number];
    const struct pdnn_pen whisker = pdnn_pen_line(PDNN_INK_TEXT, 1.4);
    struct pdnn_canvas *canvas = &p->in->canvas;
    const double center = p->bars.bar[number].center, half = box_part / 2,
                 x = pdnn_scale_at(&p->bars.x, center);
    double y[QUANTILES];
    if (isnan(box->quantile[0]))
        return;
    for (size_t k = 0; k < QUANTILES; k++)
        y[k] = pdnn_scale_within(&p->y, box->quantile[k]);
    pdnn_draw_line(canvas, x, y[0], x, y[1], whisker);
    pdnn_draw_line(canvas, x, y[3], x, y[4], whisker);
    level(p, center, half / 2, box->quantile[0], 1.4);
    level(p, center, half / 2, box->quantile[4], 1.4);
    if (box->quantile[1] <= p->y.high && box->quantile[3] >= p->y.low)
        draw_middle(p, center, box);
    if (!p->is_span)
        level(p, center, half, box->quantile[2], 3);
}

static void draw_circles(struct picture *p) {
    const struct pdnn_mark mark = {PDNN_CIRCLE, 2.5, pdnn_pen_line(PDNN_INK_SOFT, 1), false};
    for (size_t i = 0; i < p->n_circles; i++) {
        const double value = p->value[p->circle[i].row];
        const struct pdnn_spot spot = {pdnn_scale_at(&p->bars.x, p->bars.bar[p->circle[i].box].center),
                                       pdnn_scale_at(&p->y, value)};
        if (pdnn_scale_holds(&p->y, value))
            pdnn_draw_points(&p->in->canvas, &spot, &(size_t){p->n_boxes + p->n_dots + i}, 1, mark);
    }
}

/* White where the model is not in the tables. */
static struct pdnn_mark mark_of(struct pdnn_look look, bool measured) {
    const struct pdnn_pen full = {look.ink, PDNN_INK_TEXT, 0.8, 0},
                          hollow = {PDNN_INK_WHITE, look.ink, 1.6, 0};
    return (struct pdnn_mark){look.symbol, 6, measured ? full : hollow, false};
}

/* Those of one box are spread over its width, so that few cover each other. */
static void draw_dots(struct picture *p) {
    for (size_t i = 0; i < p->n_dots; i++) {
        double spread = ((double)(i % 5) - 2) / 5 * box_part * 0.7;
        const struct pdnn_spot spot = {pdnn_scale_at(&p->bars.x, p->bars.bar[p->dot[i].box].center + spread),
                                       pdnn_scale_at(&p->y, p->dot[i].value)};
        const struct pdnn_mark marks[] = {mark_of(p->look[i], p->dot[i].method), pdnn_plot_cross};
        for (int k = 0; k <= p->dot[i].doubtful && pdnn_scale_holds(&p->y, p->dot[i].value); k++)
            pdnn_draw_points(&p->in->canvas, &spot, &(size_t){p->n_boxes + i}, 1, marks[k]);
    }
}

static void list_dots(struct picture *p) {
    bool hollow = false, crossed = false;
    if (!p->n_dots)
        return;
    struct pdnn_color_cell *names = pdnn_arena_alloc(&p->in->arena, p->n_dots, sizeof *names);
    struct pdnn_color_key key;
    p->look = pdnn_arena_alloc(&p->in->arena, p->n_dots, sizeof *p->look);
    for (size_t i = 0; i < p->n_dots; i++) {
        names[i] = (struct pdnn_color_cell){p->dot[i].name, NAN};
        hollow = hollow || !p->dot[i].method;
        crossed = crossed || p->dot[i].doubtful;
    }
    pdnn_plot_color(names, p->n_dots, &p->in->arena, p->look, &key);
    pdnn_entries_add(&p->in->legend, "named models", pdnn_no_mark);
    for (size_t i = 0; i < key.n_words; i++)
        pdnn_entries_add(&p->in->legend, key.word[i].text, mark_of(key.word[i].look, true));
    if (crossed)
        pdnn_entries_add(&p->in->legend, pdnn_plot_doubt, pdnn_plot_cross);
    if (hollow)
        pdnn_entries_add(&p->in->legend,
                         p->selection->results.is_costs ? "hollow: not in the spec"
                                                        : "hollow: not in the tables",
                         pdnn_no_mark);
}

/* Boxes are named by their keys, sets by their family. */
static void name_boxes(struct picture *p) {
    const struct pdnn_axes *keys = &p->keys;
    struct pdnn_bars *bars = &p->bars;
    *bars = (struct pdnn_bars){.canvas = &p->in->canvas,
                               .bar = pdnn_arena_alloc(&p->in->arena, p->n_boxes, sizeof *bars->bar),
                               .set = pdnn_arena_alloc(&p->in->arena, p->n_boxes, sizeof *bars->set),
                               .n_bars = p->n_boxes,
                               .part = box_part};
    for (size_t i = 0; i < p->n_boxes; i++) {
        const char *family = get(p, i, 0);
        struct pdnn_str text = {0};
        if (keys->count)
            pdnn_selection_values(p->selection, p->box[i].at, keys, &text);
        else
            pdnn_str_printf(&text, "%s", family);
        pdnn_str_printf(&text, ", n=%zu", p->box[i].rows.count);
        if (i == 0 || strcmp(family, bars->set[bars->n_sets - 1]) != 0)
            bars->set[bars->n_sets++] = family;
        bars->bar[i] = (struct pdnn_bar){pdnn_plot_keep(&p->in->arena, &text), .set = bars->n_sets - 1};
    }
    if (!keys->count || bars->n_sets == 1)
        bars->n_sets = 0;
}

/* The family, the keys, and of each box its quantiles, of each dot and circle its value. */
static void fill_data(struct picture *p) {
    const char *names = "";
    const size_t n = 1 + p->keys.count;
    for (size_t k = 0; k < n; k++)
        names = pdnn_arena_printf(&p->in->arena, "%s%s ", names, pdnn_picture_name(p->in, column_of(p, k)));
    pdnn_picture_table(
        p->in,
        pdnn_arena_printf(&p->in->arena,
                          "%skind name +instances #low_whisker #low #middle #high #high_whisker", names));
    for (size_t i = 0; i < p->n_boxes + p->n_dots; i++) {
        const struct dot *dot = i < p->n_boxes ? NULL : &p->dot[i - p->n_boxes];
        const size_t box = dot ? dot->box : i, row = pdnn_table_add_row(&p->in->data);
        const double *q = p->box[box].quantile;
        for (size_t k = 0; k < n; k++)
            pdnn_table_set_text(&p->in->data, row, k, get(p, box, k));
        if (dot)
            pdnn_picture_fill(p->in, n, dot->method ? dot->method : "preset", dot->name, (size_t)1, NAN, NAN,
                              dot->value, NAN, NAN);
        else
            pdnn_picture_fill(p->in, n, isnan(q[0]) ? "values" : "box", "", p->box[box].rows.count, q[0],
                              q[1], q[2], q[3], q[4]);
    }
    for (size_t i = 0; i < p->n_circles; i++) {
        const struct circle *circle = &p->circle[i];
        const size_t row = pdnn_table_add_row(&p->in->data);
        for (size_t k = 0; k < n; k++)
            pdnn_table_set_text(&p->in->data, row, k, get(p, circle->box, k));
        pdnn_picture_fill(p->in, n, isnan(p->box[circle->box].quantile[0]) ? "value" : "beyond",
                          pdnn_results_text(&p->selection->results, circle->row, p->selection->id), (size_t)1,
                          NAN, NAN, p->value[circle->row], NAN, NAN);
    }
    p->in->n_beyond = p->n_circles;
}

static const char *caption_of(const struct picture *p) {
    size_t few = 0;
    for (size_t i = 0; i < p->n_boxes; i++)
        few += isnan(p->box[i].quantile[0]) != 0;
    if (p->is_span)
        return "A bar goes from the least to the greatest model";
    return pdnn_arena_printf(&p->in->arena, "%s%s%s n: models.",
                             few < p->n_boxes
                                 ? "Box: percentiles 9 to 91; bar: median; whiskers: percentiles "
                                   "2 and 98; circles: beyond;"
                                 : "",
                             few && few < p->n_boxes ? " " : "",
                             few ? "fewer than five models have no percentiles: a circle is one;" : "");
}

static void describe(struct picture *p) {
    struct pdnn_canvas *canvas = &p->in->canvas;
    const struct pdnn_titles titles = pdnn_plot_titles(&p->in->arena, p->title, p->selection, &p->tally);
    const bool beside = p->n_dots && canvas->width >= PDNN_WIDE_ENOUGH;
    struct pdnn_str keys = {0};
    const double right = canvas->width - (beside ? right_legend : right_alone);
    list_dots(p);
    double foot =
        caption_bottom + (beside ? 0 : pdnn_entries_draw_below(&p->in->legend, caption_bottom, canvas));
    canvas->height += foot - caption_bottom;
    choose_range(p);
    name_boxes(p);
    pdnn_bars_place(&p->bars, right, 0);
    pdnn_selection_values(p->selection, SIZE_MAX, &p->keys, &keys);
    p->y.from = pdnn_bars_put(&p->bars, foot, caption_of(p), pdnn_plot_keep(&p->in->arena, &keys));
    canvas->height = fmax(canvas->height, p->y.from + frame_least + PDNN_BARS_ABOVE);
    if (beside)
        canvas->height =
            fmax(canvas->height, PDNN_BARS_ABOVE + pdnn_entries_height(&p->in->legend, legend_width));
    p->y.to = canvas->height - PDNN_BARS_ABOVE;
    pdnn_put_titles(canvas, PDNN_BARS_LEFT, titles);
    const struct pdnn_frame_axis x = {.scale = p->bars.x, .bare = true},
                                 y = {.scale = p->y,
                                      .title = p->y_title,
                                      .grid = true,
                                      .title_low = foot - caption_bottom};
    pdnn_draw_frame(canvas, &x, &y);
    if (pdnn_scale_holds(&p->y, p->line)) {
        const double at = pdnn_scale_at(&p->y, p->line);
        pdnn_draw_line(canvas, PDNN_BARS_LEFT, at, right, at,
                       (struct pdnn_pen){PDNN_NO_INK, PDNN_INK_LINE, 1.6, .dash = 6});
    }
    for (size_t i = 0; i < p->n_boxes; i++)
        draw_box(p, i);
    fill_data(p);
    draw_circles(p);
    draw_dots(p);
    if (beside)
        pdnn_entries_draw(&p->in->legend, canvas, right + legend_pixels, p->y.to - 10);
}

/* Every directory against the first, or both sides in one; a ratio belongs to the row of side B. The first
 * is the baseline of the title and of the vertical axis. */
static enum pdnn_status take_ratios(struct picture *p, struct pdnn_err *err) {
    struct pdnn_arena *arena = &p->in->arena;
    if (p->in->request->value)
        return pdnn_fail(err, PDNN_INVALID, "the boxes of --across show ratios of times, not --value");
    if (pdnn_picture_compare(p->in, true, err) != PDNN_OK)
        return err->status;
    const struct pdnn_comparison *first = p->in->comparisons;
    p->line = 1;
    for (const struct pdnn_comparison *c = first; c < first + p->in->n_comparisons; c++) {
        for (size_t pair = 0; pair < c->pairs.n_rows; pair++) {
            const size_t row = pdnn_picture_pair_row(c, pair);
            p->value[row] = pdnn_pair_ratio(c, pair);
            p->notes[row] = pdnn_plot_pair_notes(c, pair);
        }
        p->in->left_out += c->unpaired.n_rows;
    }
    const char *base = pdnn_plot_base(first, p->in->n_comparisons),
               *other = pdnn_plot_side(first, PDNN_SIDE_B);
    p->title = p->in->n_comparisons > 1 ? pdnn_arena_printf(arena, "Speed-up over %s", base)
                                        : pdnn_arena_printf(arena, "Speed-up of %s over %s%s", other, base,
                                                            first->across.count ? " in" : "");
    p->y_title = pdnn_plot_ratio_axis(arena, "step time", first, p->in->n_comparisons);
    return PDNN_OK;
}

static enum pdnn_status take_column(struct picture *p, const char *name, struct pdnn_err *err) {
    int column;
    if (pdnn_results_ask(&p->selection->results, name, false, &column, err) != PDNN_OK)
        return err->status;
    p->in->left_out = p->selection->left_out;
    for (size_t at = 0; at < p->selection->count; at++) {
        const double value = p->value[p->selection->row[at]] =
            pdnn_selection_number(p->selection, at, column);
        p->in->left_out += isnan(value) != 0;
    }
    p->title = pdnn_arena_printf(&p->in->arena, "%s %s",
                                 pdnn_plot_words(&p->in->arena, &p->selection->results, column),
                                 p->is_span ? "of" : "in");
    p->y_title = pdnn_plot_axis(&p->in->arena, &p->selection->results, column);
    return PDNN_OK;
}

/* Whether instances with a value differ in the column, and all have a cell there unless some may lack it. */
static bool varies(const struct picture *p, int column, bool may_lack) {
    const struct pdnn_selection *selection = p->selection;
    const char *first = NULL;
    bool several = false, empty = false;
    for (size_t at = 0; at < selection->count && column >= 0; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (isnan(p->value[selection->row[at]]))
            continue;
        first = first ? first : value;
        several = several || strcmp(value, first) != 0;
        empty = empty || !*value;
    }
    return several && (may_lack || !empty);
}

/* The run settings that differ among the values' instances, but not of a span, and the directories. */
static void choose_keys(struct picture *p) {
    const struct pdnn_selection *selection = p->selection;
    for (size_t s = 0; s < PDNN_SETTING_COUNT && !p->is_span; s++) {
        int column = pdnn_results_named(&selection->results, pdnn_settings[s].name);
        /* A setting that some lack follows another one, as the optimizer does the mode. */
        if (varies(p, column, false) && !pdnn_selection_key(selection, column)->follows &&
            p->keys.count + (selection->results.n_directories > 1) < PDNN_SELECTION_AXES_MAX)
            p->keys.column[p->keys.count++] = column;
    }
    if (varies(p, selection->results.results, true) || (p->is_span && selection->results.n_directories > 1))
        p->keys.column[p->keys.count++] = selection->results.results;
}

enum pdnn_status pdnn_boxes_draw(struct pdnn_picture *picture, bool is_span, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    const struct pdnn_selection *selection = &picture->selection;
    const size_t n_rows = selection->results.table.n_rows;
    struct picture p = {.in = picture,
                        .selection = selection,
                        .is_span = is_span,
                        .value = pdnn_arena_alloc(&picture->arena, n_rows, sizeof *p.value),
                        .notes = pdnn_arena_alloc(&picture->arena, n_rows, sizeof *p.notes),
                        .line = NAN,
                        .low = INFINITY,
                        .high = -INFINITY};
    const char *value = request->value ? request->value
                        : is_span      ? "params"
                                       : pdnn_selection_utilization(selection);
    for (size_t at = 0; at < selection->count; at++) {
        p.value[selection->row[at]] = NAN;
        p.notes[selection->row[at]] = pdnn_plot_notes(selection, at);
    }
    enum pdnn_status status = !is_span && (request->across || (request->n_directories > 1 && !request->value))
                                  ? take_ratios(&p, err)
                                  : take_column(&p, value, err);
    if (status == PDNN_OK && request->by)
        status = pdnn_axes_parse(selection, request->by, &p.keys, err);
    else if (status == PDNN_OK)
        choose_keys(&p);
    if (status == PDNN_OK)
        status = collect_boxes(&p, err);
    if (status == PDNN_OK) {
        add_measured(&p);
        add_circles(&p);
        if (is_span && strcmp(value, "params") == 0)
            add_others(&p);
        describe(&p);
    }
    pdnn_groups_finish(&p.groups);
    return status;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    return pdnn_boxes_draw(picture, false, err);
}

const struct pdnn_plot_def pdnn_plot_boxes = {
    .name = "boxes",
    .help =
        "the percentiles 2, 9, 50, 91 and 98 of --value (default: pct_of_peak, or gflops where no model has "
        "it), or, with --across or for several RESULTS without --value, of the speed-up over the first as in "
        "speedup: a box per family and value of --by (default: the run settings that vary, and results), "
        "presets as points; --only",
    .options = (const char *const[]){"value", "across", "by", "only", NULL},
    .drawn = "models",
    .left_out_as = "models without a value",
    .no_range = {"has names"},
    .takes_costs = true,
    .of = PDNN_PLOT_ROWS,
    .draw = draw,
};
