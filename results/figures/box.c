#include "results/figures/box.h"
#include "base/stats.h"
#include "models/cost/cost.h"
#include "models/instance.h"
#include "results/figures/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 48 };

static const double right_legend = 264, right_alone = 24, caption_bottom = 8, legend_pixels = 24;

/* A box's width in slots, one per box. */
static const double box_part = 0.56;

struct box {
    struct pdnn_row_list rows;                /* of the results; the group's */
    size_t at;                                /* the first as a chosen row */
    size_t rank[1 + PDNN_SELECTION_AXES_MAX]; /* its family and keys, by where they come first */
    double *value;                            /* of each row, then sorted */
    double quantile[PDNN_BOX_QUANTILES];      /* lower whisker, box, bar, box, upper whisker */
};

/* A named model, drawn as a point over its box. */
struct dot {
    size_t box;
    const char *name;
    double value;
    bool measured, doubtful;
};

struct picture {
    struct pdnn_picture *in;
    const struct pdnn_selection *selection; /* the picture's */
    const struct pdnn_box_request *request;
    int column[1 + PDNN_SELECTION_AXES_MAX]; /* the family and the keys */
    size_t n_columns;
    struct pdnn_groups groups;
    struct box box[BOXES_MAX];
    size_t n_boxes;
    struct pdnn_bars bars;
    struct dot *dot;
    size_t n_dots, room;
    double low, high;
    struct pdnn_scale y;
};

static const char *get(const struct picture *p, size_t at, int column) {
    return pdnn_selection_get(p->selection, at, column);
}

static const char *family_of(const struct picture *p, size_t box) {
    return get(p, p->box[box].at, p->column[0]);
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
    const struct pdnn_table *table = &p->selection->results.table;
    struct pdnn_row_list rows = {0};
    size_t keys[1 + PDNN_SELECTION_AXES_MAX];
    for (size_t k = 0; k < p->n_columns; k++)
        keys[k] = (size_t)p->column[k];
    for (size_t at = 0; at < p->selection->count; at++)
        if (!isnan(p->request->value[p->selection->row[at]]))
            pdnn_rows_add(&rows, p->selection->row[at]);
    p->in->drawn = rows.count;
    p->groups = pdnn_groups_make(table, &rows, keys, p->n_columns);
    pdnn_rows_finish(&rows);
    if (!p->groups.count)
        return pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has a number to draw");
    if (p->groups.count > BOXES_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than %d boxes: choose some with --only, or other keys with --by", BOXES_MAX);
    for (; p->n_boxes < p->groups.count; p->n_boxes++) {
        struct box *box = &p->box[p->n_boxes];
        box->rows = p->groups.group[p->n_boxes];
        while (p->selection->row[box->at] != box->rows.at[0])
            box->at++;
        for (size_t k = 0; k < p->n_columns; k++)
            while (strcmp(get(p, p->box[box->rank[k]].at, p->column[k]), get(p, box->at, p->column[k])) != 0)
                box->rank[k]++;
        box->value = pdnn_arena_alloc(&p->in->arena, box->rows.count, sizeof *box->value);
        for (size_t i = 0; i < box->rows.count; i++) {
            box->value[i] = p->request->value[box->rows.at[i]];
            widen(p, box->value[i]);
        }
        pdnn_sort(box->value, box->rows.count);
        for (size_t k = 0; k < PDNN_BOX_QUANTILES; k++)
            box->quantile[k] =
                pdnn_quantile_sorted(box->value, box->rows.count, p->request->style.quantile[k]);
    }
    qsort(p->box, p->n_boxes, sizeof *p->box, compare_boxes);
    return PDNN_OK;
}

static void add_dot(struct picture *p, struct dot dot) {
    p->dot = pdnn_arena_grow(&p->in->arena, p->dot, &p->room, p->n_dots, sizeof *p->dot);
    p->dot[p->n_dots++] = dot;
    widen(p, dot.value);
}

static void add_measured(struct picture *p, size_t number) {
    const struct box *box = &p->box[number];
    struct pdnn_parsed_presets presets = {0};
    for (size_t i = 0; i < box->rows.count; i++) {
        const size_t row = box->rows.at[i];
        const char *id = pdnn_results_text(&p->selection->results, row, p->selection->id);
        struct pdnn_instance instance;
        struct pdnn_err ignored = {0};
        if (pdnn_instance_parse(id, &instance, &ignored) != PDNN_OK)
            continue;
        pdnn_instance_resolve(&instance, instance.setting[PDNN_SETTING_THREADS]);
        const struct pdnn_preset *preset = pdnn_instance_preset(&instance, &presets);
        if (preset)
            add_dot(p, (struct dot){number, preset->name, p->request->value[row], true,
                                    p->request->notes[row] & PDNN_NOTES_DOUBT});
    }
}

/* Presets that no row is, by their number of parameters. */
static void add_others(struct picture *p) {
    struct pdnn_arena arena = {0};
    for (size_t box = 0; box < p->n_boxes; box++) {
        const struct pdnn_family_def *family = pdnn_family_find(family_of(p, box));
        for (size_t i = 0; family && i < family->n_presets; i++) {
            struct pdnn_instance instance;
            struct pdnn_totals totals;
            struct pdnn_err ignored = {0};
            bool has = false;
            for (size_t k = 0; k < p->n_dots && !has; k++)
                has = p->dot[k].box == box && p->dot[k].measured &&
                      strcmp(p->dot[k].name, family->presets[i].name) == 0;
            pdnn_instance_init_preset(&instance, family, &family->presets[i]);
            pdnn_instance_resolve(&instance, 1);
            if (!has && pdnn_cost_instance(&instance, &arena, false, &totals, &ignored) == PDNN_OK)
                add_dot(p, (struct dot){box, family->presets[i].name, (double)totals.params, false, false});
        }
    }
    pdnn_arena_finish(&arena);
}

static void choose_range(struct picture *p) {
    double line = p->request->line;
    p->low = isnan(line) ? p->low : fmin(p->low, line);
    p->high = isnan(line) ? p->high : fmax(p->high, line);
    p->y.base = p->low > 0 && (p->high > 10 * p->low || !isnan(line)) ? 10 : 0;
    if (p->y.base) {
        double margin = fmax(pow(p->high / p->low, 0.04), 1.02);
        p->y.low = p->low / margin;
        p->y.high = p->high * margin;
    } else {
        double margin = fmax((p->high - p->low) * 0.04, fabs(p->high) * 1e-3 + 1e-9);
        p->y.low = p->low >= 0 && p->low < p->high / 2 ? 0 : p->low - margin;
        p->y.high = p->high + margin;
    }
}

static void level(struct picture *p, double center, double half, double y, double width) {
    pdnn_draw_line(&p->in->canvas, pdnn_scale_at(&p->bars.x, center - half), y,
                   pdnn_scale_at(&p->bars.x, center + half), y, pdnn_pen_line(PDNN_INK_TEXT, width));
}

/* Whiskers, the box, its middle, and what is beyond. */
static void draw_box(struct picture *p, size_t number) {
    const struct box *box = &p->box[number];
    const struct pdnn_pen whisker = pdnn_pen_line(PDNN_INK_TEXT, 1.4);
    const struct pdnn_mark beyond = {PDNN_CIRCLE, 2.5, pdnn_pen_line(PDNN_INK_SOFT, 1), false};
    struct pdnn_canvas *canvas = &p->in->canvas;
    const double center = p->bars.bar[number].center, half = box_part / 2,
                 x = pdnn_scale_at(&p->bars.x, center);
    double y[PDNN_BOX_QUANTILES];
    for (size_t k = 0; k < PDNN_BOX_QUANTILES; k++)
        y[k] = pdnn_scale_at(&p->y, box->quantile[k]);
    pdnn_draw_line(canvas, x, y[0], x, y[1], whisker);
    pdnn_draw_line(canvas, x, y[3], x, y[4], whisker);
    level(p, center, half / 2, y[0], 1.4);
    level(p, center, half / 2, y[4], 1.4);
    pdnn_draw_box(canvas, pdnn_scale_at(&p->bars.x, center - half), y[1],
                  pdnn_scale_at(&p->bars.x, center + half), y[3],
                  (struct pdnn_pen){0x9ecae1, PDNN_INK_TEXT, 1.2, 0});
    if (p->request->style.shows_middle)
        level(p, center, half, y[2], 3);
    for (size_t k = 0; k < box->rows.count && p->request->style.shows_beyond; k++)
        if (box->value[k] < box->quantile[0] || box->value[k] > box->quantile[4])
            pdnn_draw_point(canvas, x, pdnn_scale_at(&p->y, box->value[k]), beyond);
}

/* White where the model is not in the tables. */
static struct pdnn_mark mark_of(const struct pdnn_look *color, bool measured) {
    return (struct pdnn_mark){color->symbol,
                              6,
                              {measured ? color->ink : PDNN_INK_WHITE, measured ? PDNN_INK_TEXT : color->ink,
                               measured ? 0.8 : 1.6, 0},
                              false};
}

/* Those of one box are spread over its width, so that few cover each other. */
static void draw_dots(struct picture *p, const struct pdnn_look *colors) {
    for (size_t i = 0; i < p->n_dots; i++) {
        double spread = ((double)(i % 5) - 2) / 5 * box_part * 0.7;
        const struct pdnn_spot spot = {pdnn_scale_at(&p->bars.x, p->bars.bar[p->dot[i].box].center + spread),
                                       pdnn_scale_at(&p->y, p->dot[i].value)};
        const struct pdnn_mark marks[] = {mark_of(&colors[i], p->dot[i].measured), pdnn_plot_cross};
        for (int k = 0; k <= p->dot[i].doubtful; k++)
            pdnn_draw_points(&p->in->canvas, &spot, &(size_t){p->n_boxes + i}, 1, marks[k]);
    }
}

static void list_dots(struct picture *p, struct pdnn_look *colors) {
    struct pdnn_color_cell *names = pdnn_arena_alloc(&p->in->arena, p->n_dots + 1, sizeof *names);
    struct pdnn_color_key *key = pdnn_arena_alloc(&p->in->arena, 1, sizeof *key);
    bool hollow = false, crossed = false;
    for (size_t i = 0; i < p->n_dots; i++) {
        names[i] = (struct pdnn_color_cell){p->dot[i].name, NAN};
        hollow = hollow || !p->dot[i].measured;
        crossed = crossed || p->dot[i].doubtful;
    }
    pdnn_plot_color(names, p->n_dots, &p->in->arena, colors, key);
    if (p->n_dots)
        pdnn_entries_add(&p->in->legend, "named models", NULL);
    for (size_t i = 0; i < key->n_words && p->n_dots; i++) {
        struct pdnn_mark mark = mark_of(&key->word[i].look, true);
        pdnn_entries_add(&p->in->legend, key->word[i].text, &mark);
    }
    if (crossed)
        pdnn_entries_add(&p->in->legend, pdnn_plot_doubt, &pdnn_plot_cross);
    if (hollow)
        pdnn_entries_add(&p->in->legend, "white: not in the tables", NULL);
}

/* Boxes are named by their keys, sets by their family. */
static void name_boxes(struct picture *p) {
    const struct pdnn_axes *keys = &p->request->keys;
    p->bars = (struct pdnn_bars){.canvas = &p->in->canvas,
                                 .bar = pdnn_arena_alloc(&p->in->arena, p->n_boxes, sizeof *p->bars.bar),
                                 .set = pdnn_arena_alloc(&p->in->arena, p->n_boxes, sizeof *p->bars.set),
                                 .n_bars = p->n_boxes,
                                 .part = box_part};
    for (size_t i = 0; i < p->n_boxes; i++) {
        struct pdnn_str text = {0};
        if (keys->count)
            pdnn_selection_values(p->selection, p->box[i].at, keys, &text);
        else
            pdnn_str_printf(&text, "%s", family_of(p, i));
        pdnn_str_printf(&text, ", n=%zu", p->box[i].rows.count);
        if (i == 0 || strcmp(family_of(p, i), family_of(p, i - 1)) != 0)
            p->bars.set[p->bars.n_sets++] = family_of(p, i);
        p->bars.bar[i] =
            (struct pdnn_bar){.text = pdnn_plot_keep(&p->in->arena, &text), .set = p->bars.n_sets - 1};
    }
    if (!keys->count || p->bars.n_sets == 1)
        p->bars.n_sets = 0;
}

/* The family, the keys, and of each box its quantiles, of each dot its value. */
static void fill_data(struct picture *p) {
    struct pdnn_table *data = &p->in->data;
    const char *names = "";
    for (size_t k = 0; k < p->n_columns; k++)
        names = pdnn_arena_printf(&p->in->arena, "%s%s ", names,
                                  pdnn_key_column(pdnn_results_name(&p->selection->results, p->column[k])));
    pdnn_picture_table(
        p->in,
        pdnn_arena_printf(&p->in->arena,
                          "%skind name +instances #low_whisker #low #middle #high #high_whisker", names));
    for (size_t i = 0; i < p->n_boxes + p->n_dots; i++) {
        const struct dot *dot = i < p->n_boxes ? NULL : &p->dot[i - p->n_boxes];
        const struct box *box = &p->box[dot ? dot->box : i];
        const double *q = box->quantile;
        size_t row = pdnn_table_add_row(data);
        for (size_t k = 0; k < p->n_columns; k++)
            pdnn_table_set_text(data, row, k, get(p, box->at, p->column[k]));
        if (dot)
            pdnn_picture_fill(p->in, p->n_columns, dot->measured ? "measured" : "preset", dot->name,
                              (size_t)1, NAN, NAN, dot->value, NAN, NAN);
        else
            pdnn_picture_fill(p->in, p->n_columns, "box", "", box->rows.count, q[0], q[1], q[2], q[3], q[4]);
    }
}

static void describe(struct picture *p) {
    struct pdnn_canvas *canvas = &p->in->canvas;
    struct pdnn_plot_tally tally = {0};
    for (size_t i = 0; i < p->n_boxes; i++)
        for (size_t k = 0; k < p->box[i].rows.count; k++)
            pdnn_plot_tally_add(&tally, p->request->notes[p->box[i].rows.at[k]]);
    const struct pdnn_titles titles =
        pdnn_plot_titles(&p->in->arena, p->request->title, p->selection, &tally);
    const bool beside = p->n_dots && p->in->width >= PDNN_WIDE_ENOUGH;
    struct pdnn_look *looks = pdnn_arena_alloc(&p->in->arena, p->n_dots + 1, sizeof *looks);
    struct pdnn_str keys = {0};
    const double right = p->in->width - (beside ? right_legend : right_alone);
    canvas->width = p->in->width;
    list_dots(p, looks);
    double foot =
        caption_bottom + (beside ? 0 : pdnn_entries_draw_below(&p->in->legend, caption_bottom, canvas));
    canvas->height = p->in->height + foot - caption_bottom;
    choose_range(p);
    name_boxes(p);
    pdnn_bars_place(&p->bars, right, 0);
    pdnn_selection_values(p->selection, SIZE_MAX, &p->request->keys, &keys);
    p->y.from = pdnn_bars_put(&p->bars, foot, p->request->caption, pdnn_plot_keep(&p->in->arena, &keys));
    p->y.to = canvas->height - PDNN_BARS_ABOVE;
    pdnn_draw_titles(canvas, PDNN_BARS_LEFT, canvas->height, &titles);
    const struct pdnn_frame_axis x = {.scale = p->bars.x, .bare = true},
                                 y = {.scale = p->y, .title = p->request->y_title, .grid = true};
    pdnn_draw_frame(canvas, &x, &y);
    if (!isnan(p->request->line)) {
        struct pdnn_pen pen = pdnn_pen_line(PDNN_INK_LINE, 1.6);
        double at = pdnn_scale_at(&p->y, p->request->line);
        pen.dash = 6;
        pdnn_draw_line(canvas, PDNN_BARS_LEFT, at, right, at, pen);
    }
    for (size_t i = 0; i < p->n_boxes; i++)
        draw_box(p, i);
    fill_data(p);
    draw_dots(p, looks);
    if (beside)
        pdnn_entries_draw(&p->in->legend, canvas, right + legend_pixels, p->y.to - 10);
}

void pdnn_boxes_init(struct pdnn_box_request *request, struct pdnn_picture *picture) {
    const struct pdnn_selection *selection = &picture->selection;
    const size_t n_rows = selection->results.table.n_rows;
    request->value = pdnn_arena_alloc(&picture->arena, n_rows + 1, sizeof *request->value);
    request->notes = pdnn_arena_alloc(&picture->arena, n_rows + 1, sizeof *request->notes);
    for (size_t at = 0; at < selection->count; at++) {
        request->value[selection->row[at]] = NAN;
        request->notes[selection->row[at]] = pdnn_plot_notes(selection, at);
    }
}

enum pdnn_status pdnn_boxes_take(struct pdnn_box_request *request, struct pdnn_picture *picture,
                                 const char *name, const char *in, struct pdnn_err *err) {
    int column;
    if (pdnn_picture_column(picture, name, NULL, &column, err) != PDNN_OK)
        return err->status;
    request->left_out = picture->selection.left_out;
    for (size_t at = 0; at < picture->selection.count; at++) {
        const double value = pdnn_picture_number(picture, at, column);
        request->value[picture->selection.row[at]] = value;
        request->left_out += isnan(value) != 0;
    }
    request->title = pdnn_arena_printf(&picture->arena, "%s %s", pdnn_plot_words(name), in);
    request->y_title = pdnn_plot_axis(&picture->arena, &picture->selection.results, column);
    return PDNN_OK;
}

enum pdnn_status pdnn_boxes_draw(const struct pdnn_box_request *request, struct pdnn_picture *picture,
                                 struct pdnn_err *err) {
    struct picture *p = pdnn_arena_alloc(&picture->arena, 1, sizeof *p);
    *p = (struct picture){.in = picture,
                          .selection = &picture->selection,
                          .request = request,
                          .column = {picture->selection.family},
                          .n_columns = 1 + request->keys.count,
                          .low = INFINITY,
                          .high = -INFINITY};
    memcpy(p->column + 1, request->keys.column, request->keys.count * sizeof *p->column);
    const enum pdnn_status status = collect_boxes(p, err);
    for (size_t box = 0; box < p->n_boxes && status == PDNN_OK; box++)
        add_measured(p, box);
    if (status == PDNN_OK && request->adds_presets)
        add_others(p);
    if (status == PDNN_OK)
        describe(p);
    picture->left_out = request->left_out;
    pdnn_groups_finish(&p->groups);
    return status;
}
