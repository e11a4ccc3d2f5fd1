#include "results/figures/box.h"
#include "base/memory.h"
#include "models/cost/cost.h"
#include "models/instance.h"
#include "results/figures/caption.h"
#include "results/figures/color.h"
#include "results/figures/names.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 48 };

static const double left = 104, right_legend = 264, right_alone = 24, above = 88, axis_pixels = 30,
                    caption_bottom = 8, caption_gap = 12, box_pixels_most = 130, legend_pixels = 24;

/* In slots, one per box: the width of a box, and the gap between two families. */
static const double box_part = 0.56, gap = 0.6;

struct box {
    size_t at;                                /* one of its chosen rows */
    size_t rank[1 + PDNN_SELECTION_AXES_MAX]; /* its family and keys, by where they come first */
    double *value;
    size_t count;
    double center;
};

/* A named model, drawn as a point over its box. */
struct dot {
    size_t box;
    const char *name;
    double value;
    bool measured;
};

struct picture {
    struct pdnn_picture *in;
    const struct pdnn_box_request *request;
    struct box box[BOXES_MAX];
    size_t n_boxes, n_sets;
    size_t set_of[BOXES_MAX];
    struct pdnn_bar_name names[BOXES_MAX], sets[BOXES_MAX];
    struct dot *dot;
    size_t n_dots;
    double slots, low, high;
    struct pdnn_scale x, y;
};

static const char *get(const struct picture *p, size_t at, int column) {
    return pdnn_selection_get(p->request->selection, at, column);
}

static const char *family_of(const struct picture *p, size_t box) {
    return get(p, p->box[box].at, p->request->selection->family);
}

static bool same_box(const struct picture *p, size_t a, size_t b) {
    bool same =
        strcmp(get(p, a, p->request->selection->family), get(p, b, p->request->selection->family)) == 0;
    for (size_t k = 0; k < p->request->keys.count && same; k++)
        same = strcmp(get(p, a, p->request->keys.column[k]), get(p, b, p->request->keys.column[k])) == 0;
    return same;
}

static enum pdnn_status find_box(struct picture *p, size_t at, size_t *box, struct pdnn_err *err) {
    size_t found = 0;
    while (found < p->n_boxes && !same_box(p, p->box[found].at, at))
        found++;
    if (found == BOXES_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than %d boxes: choose some with --only, or other keys with --by", BOXES_MAX);
    if (found == p->n_boxes) {
        double *room = pdnn_arena_alloc(&p->in->arena, p->request->n_values, sizeof *room);
        p->box[p->n_boxes++] = (struct box){.at = at, .value = room};
    }
    *box = found;
    return PDNN_OK;
}

/* The first box, in the order of the file, with the same value in this column. */
static size_t rank_of(const struct picture *p, size_t box, int column) {
    size_t first = 0;
    while (strcmp(get(p, p->box[first].at, column), get(p, p->box[box].at, column)) != 0)
        first++;
    return first;
}

/* By family, then by each key; values in the order of the file. */
static void rank_boxes(struct picture *p) {
    for (size_t i = 0; i < p->n_boxes; i++) {
        p->box[i].rank[0] = rank_of(p, i, p->request->selection->family);
        for (size_t k = 0; k < p->request->keys.count; k++)
            p->box[i].rank[k + 1] = rank_of(p, i, p->request->keys.column[k]);
    }
}

static int compare_boxes(const void *a, const void *b) {
    const struct box *x = a, *y = b;
    int order = 0;
    for (size_t k = 0; k <= PDNN_SELECTION_AXES_MAX && !order; k++)
        order = (x->rank[k] > y->rank[k]) - (x->rank[k] < y->rank[k]);
    return order;
}

static void order_boxes(struct picture *p) {
    rank_boxes(p);
    qsort(p->box, p->n_boxes, sizeof *p->box, compare_boxes);
    double center = 0;
    for (size_t i = 0; i < p->n_boxes; i++) {
        bool first = i == 0 || strcmp(family_of(p, i), family_of(p, i - 1)) != 0;
        center += i == 0 ? 0 : first ? 1 + gap : 1;
        p->n_sets += first;
        p->set_of[i] = p->n_sets - 1;
        p->box[i].center = center;
        pdnn_sort(p->box[i].value, p->box[i].count);
    }
    p->slots = center + 1;
}

static enum pdnn_status collect_boxes(struct picture *p, struct pdnn_err *err) {
    p->low = INFINITY;
    p->high = -INFINITY;
    for (size_t i = 0; i < p->request->n_values; i++) {
        size_t box = 0;
        if (find_box(p, p->request->at[i], &box, err) != PDNN_OK)
            return err->status;
        p->box[box].value[p->box[box].count++] = p->request->value[i];
        p->low = fmin(p->low, p->request->value[i]);
        p->high = fmax(p->high, p->request->value[i]);
    }
    if (!p->n_boxes)
        return pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has a number to draw");
    order_boxes(p);
    return PDNN_OK;
}

static void add_dot(struct picture *p, size_t box, const char *name, double value, bool measured) {
    p->dot[p->n_dots++] = (struct dot){box, name, value, measured};
    p->low = fmin(p->low, value);
    p->high = fmax(p->high, value);
}

static void add_measured(struct picture *p) {
    struct pdnn_parsed_presets presets = {0};
    for (size_t i = 0; i < p->request->n_values; i++) {
        struct pdnn_instance instance;
        struct pdnn_err ignored = {0};
        size_t box = 0, at = p->request->at[i];
        if (pdnn_instance_parse(get(p, at, p->request->selection->id), &instance, &ignored) != PDNN_OK)
            continue;
        pdnn_instance_resolve(&instance, instance.setting[PDNN_SETTING_THREADS]);
        const struct pdnn_preset *preset = pdnn_instance_preset(&instance, &presets);
        if (preset && find_box(p, at, &box, &ignored) == PDNN_OK)
            add_dot(p, box, preset->name, p->request->value[i], true);
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
                add_dot(p, box, family->presets[i].name, (double)totals.params, false);
        }
    }
    pdnn_arena_finish(&arena);
}

static void collect_dots(struct picture *p) {
    size_t most = p->request->n_values;
    for (size_t box = 0; p->request->adds_presets && box < p->n_boxes; box++) {
        const struct pdnn_family_def *family = pdnn_family_find(family_of(p, box));
        most += family ? family->n_presets : 0;
    }
    p->dot = pdnn_arena_alloc(&p->in->arena, most + 1, sizeof *p->dot);
    add_measured(p);
    if (p->request->adds_presets)
        add_others(p);
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

static double quantile(const struct box *box, double q) {
    return pdnn_quantile_sorted(box->value, box->count, q);
}

static void level(struct picture *p, double center, double half, double y, double width) {
    pdnn_draw_line(&p->in->canvas, pdnn_scale_at(&p->x, center - half), y,
                   pdnn_scale_at(&p->x, center + half), y, pdnn_pen_line(PDNN_INK_TEXT, width));
}

/* Whiskers, the box, its middle, and what is beyond. */
static void draw_box(struct picture *p, const struct box *box) {
    const struct pdnn_box_style *style = &p->request->style;
    const double q[] = {style->low_whisker, style->low, style->middle, style->high, style->high_whisker};
    const struct pdnn_pen whisker = pdnn_pen_line(PDNN_INK_TEXT, 1.4);
    const struct pdnn_mark beyond = {PDNN_CIRCLE, 2.5, pdnn_pen_line(PDNN_INK_SOFT, 1), false};
    double y[5], x = pdnn_scale_at(&p->x, box->center), half = box_part / 2;
    for (size_t k = 0; k < 5; k++)
        y[k] = pdnn_scale_at(&p->y, quantile(box, q[k]));
    pdnn_draw_line(&p->in->canvas, x, y[0], x, y[1], whisker);
    pdnn_draw_line(&p->in->canvas, x, y[3], x, y[4], whisker);
    level(p, box->center, half / 2, y[0], 1.4);
    level(p, box->center, half / 2, y[4], 1.4);
    pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, box->center - half), y[1],
                  pdnn_scale_at(&p->x, box->center + half), y[3],
                  (struct pdnn_pen){0x9ecae1, PDNN_INK_TEXT, 1.2, 0});
    if (style->shows_middle)
        level(p, box->center, half, y[2], 3);
    struct pdnn_spot *spots = pdnn_alloc(box->count, sizeof *spots);
    size_t n_beyond = 0;
    for (size_t k = 0; k < box->count && style->shows_beyond; k++) {
        double at = pdnn_scale_at(&p->y, box->value[k]);
        if (at < y[0] || at > y[4])
            spots[n_beyond++] = (struct pdnn_spot){x, at};
    }
    if (n_beyond)
        pdnn_draw_points(&p->in->canvas, spots, NULL, n_beyond, beyond);
    free(spots);
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
        pdnn_draw_points(&p->in->canvas,
                         &(struct pdnn_spot){pdnn_scale_at(&p->x, p->box[p->dot[i].box].center + spread),
                                             pdnn_scale_at(&p->y, p->dot[i].value)},
                         &(size_t){p->n_boxes + i}, 1, mark_of(&colors[i], p->dot[i].measured));
    }
}

static void list_dots(struct picture *p, struct pdnn_look *colors, struct pdnn_entries *entries) {
    struct pdnn_color_cell *names = pdnn_arena_alloc(&p->in->arena, p->n_dots + 1, sizeof *names);
    struct pdnn_color_key *key = pdnn_arena_alloc(&p->in->arena, 1, sizeof *key);
    bool hollow = false;
    for (size_t i = 0; i < p->n_dots; i++) {
        names[i] = (struct pdnn_color_cell){p->dot[i].name, NAN};
        hollow = hollow || !p->dot[i].measured;
    }
    pdnn_plot_color(names, p->n_dots, &p->in->arena, colors, key);
    if (p->n_dots)
        pdnn_entries_add(entries, "named models", NULL);
    for (size_t i = 0; i < key->n_words && p->n_dots; i++) {
        struct pdnn_mark mark = mark_of(&key->word[i].look, true);
        pdnn_entries_add(entries, key->word[i].text, &mark);
    }
    if (hollow)
        pdnn_entries_add(entries, "white: not in the tables", NULL);
}

/* Boxes are named by their keys, sets by their family; the frame ends above the names. */
static void draw_names(struct picture *p, double foot) {
    const struct pdnn_selection *selection = p->request->selection;
    double slot = pdnn_scale_at(&p->x, 1) - pdnn_scale_at(&p->x, 0);
    bool has_keys = p->request->keys.count > 0;
    for (size_t i = 0; i < p->n_boxes; i++) {
        struct pdnn_str text = {0};
        if (has_keys)
            pdnn_selection_values(selection, p->box[i].at, &p->request->keys, &text);
        else
            pdnn_str_printf(&text, "%s", family_of(p, i));
        pdnn_str_printf(&text, ", n=%zu", p->box[i].count);
        p->names[i] = (struct pdnn_bar_name){pdnn_plot_keep(&p->in->arena, &text), p->box[i].center,
                                             pdnn_bar_name_room(slot)};
        struct pdnn_bar_name *set = &p->sets[p->set_of[i]];
        if (!set->text)
            *set = (struct pdnn_bar_name){has_keys ? family_of(p, i) : "", p->box[i].center, 0};
        set->center +=
            (p->box[i].center - p->box[i > 0 && p->set_of[i - 1] == p->set_of[i] ? i - 1 : i].center) / 2;
        set->pixels += slot * (set->pixels > 0 ? 1 : 1 + gap) * 0.96;
    }
    struct pdnn_str axis = {0};
    pdnn_selection_values(selection, SIZE_MAX, &p->request->keys, &axis);
    struct pdnn_bar_names names = {.bar = p->names,
                                   .set = p->sets,
                                   .set_of = p->set_of,
                                   .n_bars = p->n_boxes,
                                   .n_sets = has_keys && p->n_sets > 1 ? p->n_sets : 0};
    const char *title = pdnn_plot_keep(&p->in->arena, &axis);
    pdnn_bar_names_arrange(&names);
    double below = foot + pdnn_draw_caption(&p->in->canvas, left, foot, p->request->caption) + caption_gap;
    pdnn_draw_cut(&p->in->canvas, (p->x.from + p->x.to) / 2, below + axis_pixels / 2, p->in->width - 12,
                  pdnn_plain_middle, title);
    p->y.from = below + (*title ? axis_pixels : 0) + names.height;
    pdnn_bar_names_put(&names, p->y.from, &p->x, &p->in->canvas);
}

/* The family, the keys, and of each box its quantiles, of each dot its value. */
static void fill_data(struct picture *p) {
    enum { KIND, NAME, INSTANCES, QUANTILES, N_QUANTILES = 5 };
    const struct pdnn_box_style *style = &p->request->style;
    const struct pdnn_selection *selection = p->request->selection;
    const size_t n_keys = p->request->keys.count, after = 1 + n_keys;
    const double q[] = {style->low_whisker, style->low, style->middle, style->high, style->high_whisker};
    struct pdnn_str names = {0};
    pdnn_str_printf(&names, "family ");
    for (size_t k = 0; k < n_keys; k++)
        pdnn_str_printf(&names, "%s ",
                        pdnn_key_column(pdnn_results_name(&selection->results, p->request->keys.column[k])));
    pdnn_str_printf(&names, "kind name +instances #low_whisker #low #middle #high #high_whisker");
    pdnn_picture_table(p->in, pdnn_str_text(&names));
    pdnn_str_finish(&names);
    for (size_t i = 0; i < p->n_boxes + p->n_dots; i++) {
        bool is_box = i < p->n_boxes;
        const struct dot *dot = is_box ? NULL : &p->dot[i - p->n_boxes];
        const struct box *box = &p->box[is_box ? i : dot->box];
        size_t row = pdnn_table_add_row(&p->in->data);
        pdnn_table_set_text(&p->in->data, row, 0, get(p, box->at, selection->family));
        for (size_t k = 0; k < n_keys; k++)
            pdnn_table_set_text(&p->in->data, row, 1 + k, get(p, box->at, p->request->keys.column[k]));
        pdnn_table_set_text(&p->in->data, row, after + KIND,
                            is_box          ? "box"
                            : dot->measured ? "measured"
                                            : "preset");
        pdnn_table_set_text(&p->in->data, row, after + NAME, is_box ? "" : dot->name);
        pdnn_table_set_count(&p->in->data, row, after + INSTANCES, is_box ? box->count : 1);
        for (size_t k = 0; k < N_QUANTILES; k++)
            if (is_box || k == N_QUANTILES / 2)
                pdnn_table_set_number(&p->in->data, row, after + QUANTILES + k,
                                      is_box ? quantile(box, q[k]) : dot->value);
    }
}

static void describe(struct picture *p) {
    struct pdnn_canvas *canvas = &p->in->canvas;
    const struct pdnn_titles titles =
        pdnn_plot_titles(&p->in->arena, p->request->title, p->request->selection);
    const bool beside = p->n_dots && p->in->width >= PDNN_WIDE_ENOUGH;
    struct pdnn_look *colors = pdnn_arena_alloc(&p->in->arena, p->n_dots + 1, sizeof *colors);
    struct pdnn_entries entries = {0};
    const double right = p->in->width - (beside ? right_legend : right_alone),
                 margin = (fmax(p->slots, (right - left) / box_pixels_most * box_part) - p->slots) / 2;
    canvas->width = p->in->width;
    list_dots(p, colors, &entries);
    double foot = caption_bottom + (beside ? 0 : pdnn_entries_draw_below(&entries, caption_bottom, canvas));
    canvas->height = p->in->height + foot - caption_bottom;
    choose_range(p);
    p->x =
        (struct pdnn_scale){.low = -0.5 - margin, .high = p->slots - 0.5 + margin, .from = left, .to = right};
    p->y.to = canvas->height - above;
    draw_names(p, foot);
    pdnn_draw_titles(canvas, left, canvas->height, &titles);
    const struct pdnn_frame_axis x = {.scale = p->x, .bare = true},
                                 y = {.scale = p->y, .title = p->request->y_title, .grid = true};
    pdnn_draw_frame(canvas, &x, &y);
    if (!isnan(p->request->line)) {
        struct pdnn_pen pen = pdnn_pen_line(PDNN_INK_LINE, 1.6);
        double at = pdnn_scale_at(&p->y, p->request->line);
        pen.dash = 6;
        pdnn_draw_line(canvas, left, at, right, at, pen);
    }
    for (size_t i = 0; i < p->n_boxes; i++)
        draw_box(p, &p->box[i]);
    fill_data(p);
    draw_dots(p, colors);
    struct pdnn_legend legend = {canvas, right + legend_pixels, p->y.to - 10,
                                 canvas->width - right - legend_pixels - 4};
    if (beside)
        pdnn_entries_draw(&entries, &legend);
    free(entries.entry);
}

enum pdnn_status pdnn_boxes_draw(const struct pdnn_box_request *request, struct pdnn_picture *picture,
                                 struct pdnn_err *err) {
    struct picture *p = pdnn_arena_alloc(&picture->arena, 1, sizeof *p);
    p->in = picture;
    p->request = request;
    if (collect_boxes(p, err) != PDNN_OK)
        return err->status;
    collect_dots(p);
    describe(p);
    picture->drawn = request->n_values;
    picture->left_out = request->left_out;
    return PDNN_OK;
}
