#include "results/figures/box.h"
#include "base/memory.h"
#include "models/cost/cost.h"
#include "models/instance.h"
#include "results/figures/caption.h"
#include "results/figures/color.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 48, FIRST_LABEL = 10 };

/* The picture in pixels. */
static const double width = 1200, height = 800, left = 104, right_legend = 936, right_alone = 1176, top = 712,
                    axis_pixels = 30, caption_bottom = 8, caption_pixels = 18, caption_gap = 12,
                    box_pixels_most = 130, line_pixels = 22, legend_pixels = 24;

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
    const struct pdnn_box_request *request;
    struct pdnn_arena arena;
    struct box box[BOXES_MAX];
    size_t n_boxes, n_sets;
    size_t set_of[BOXES_MAX];
    struct pdnn_bar_name names[BOXES_MAX], sets[BOXES_MAX];
    struct dot *dot;
    size_t n_dots;
    double slots, low, high, right, bottom, axis_y;
    bool logarithmic;
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
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
        double *room = pdnn_arena_alloc(&p->arena, p->request->n_values, sizeof *room);
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

/* The preset that the instance is, whatever its minibatch and its run settings, or NULL. */
static const struct pdnn_preset *preset_of(const struct pdnn_instance *instance) {
    char text[PDNN_ID_TEXT], other[PDNN_ID_TEXT];
    const struct pdnn_family_def *family = instance->family;
    for (size_t i = 0; i < family->n_presets; i++) {
        struct pdnn_instance preset = *instance, plain;
        pdnn_instance_init_preset(&plain, family, &family->presets[i]);
        memcpy(preset.hyper, plain.hyper, sizeof preset.hyper);
        preset.hyper[family->minibatch_param] = instance->hyper[family->minibatch_param];
        pdnn_instance_settle(&preset);
        pdnn_instance_resolve(&preset, instance->setting[PDNN_SETTING_THREADS]);
        if (strcmp(pdnn_instance_format(&preset, text), pdnn_instance_format(instance, other)) == 0)
            return &family->presets[i];
    }
    return NULL;
}

static void add_dot(struct picture *p, size_t box, const char *name, double value, bool measured) {
    p->dot[p->n_dots++] = (struct dot){box, name, value, measured};
    p->low = fmin(p->low, value);
    p->high = fmax(p->high, value);
}

static void add_measured(struct picture *p) {
    for (size_t i = 0; i < p->request->n_values; i++) {
        struct pdnn_instance instance;
        struct pdnn_err ignored = {0};
        size_t box, at = p->request->at[i];
        if (pdnn_instance_parse(get(p, at, p->request->selection->id), &instance, &ignored) != PDNN_OK)
            continue;
        pdnn_instance_resolve(&instance, instance.setting[PDNN_SETTING_THREADS]);
        const struct pdnn_preset *preset = preset_of(&instance);
        for (box = 0; box < p->n_boxes && !same_box(p, p->box[box].at, at); box++) {
        }
        if (preset)
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
    p->dot = pdnn_arena_alloc(&p->arena, most + 1, sizeof *p->dot);
    add_measured(p);
    if (p->request->adds_presets)
        add_others(p);
}

static void choose_range(struct picture *p) {
    double line = p->request->line;
    p->low = isnan(line) ? p->low : fmin(p->low, line);
    p->high = isnan(line) ? p->high : fmax(p->high, line);
    p->logarithmic = p->low > 0 && (p->high > 10 * p->low || !isnan(line));
    if (p->logarithmic) {
        double margin = fmax(pow(p->high / p->low, 0.04), 1.02);
        p->low /= margin;
        p->high *= margin;
    } else {
        double margin = fmax((p->high - p->low) * 0.04, fabs(p->high) * 1e-3 + 1e-9);
        p->low = p->low >= 0 && p->low < p->high / 2 ? 0 : p->low - margin;
        p->high += margin;
    }
}

static double quantile(const struct box *box, double q) {
    return pdnn_quantile_sorted(box->value, box->count, q);
}

/* x low_whisker low middle high high_whisker */
static void put_boxes(struct picture *p) {
    const struct pdnn_box_style *style = &p->request->style;
    const double q[] = {style->low_whisker, style->low, style->middle, style->high, style->high_whisker};
    pdnn_str_printf(&p->script, "$boxes << END\n");
    for (size_t i = 0; i < p->n_boxes; i++) {
        pdnn_plot_number(&p->script, p->box[i].center, "");
        for (size_t k = 0; k < 5; k++) {
            pdnn_str_append(&p->script, " ", 1);
            pdnn_plot_number(&p->script, quantile(&p->box[i], q[k]), "");
        }
        pdnn_str_append(&p->script, "\n", 1);
    }
    pdnn_str_printf(&p->script, "END\n$beyond << END\nNaN NaN\n");
    for (size_t i = 0; i < p->n_boxes && style->shows_beyond; i++) {
        double low = quantile(&p->box[i], style->low_whisker),
               high = quantile(&p->box[i], style->high_whisker);
        for (size_t k = 0; k < p->box[i].count; k++) {
            if (p->box[i].value[k] >= low && p->box[i].value[k] <= high)
                continue;
            pdnn_plot_number(&p->script, p->box[i].center, " ");
            pdnn_plot_number(&p->script, p->box[i].value[k], "\n");
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

static void put_look(struct picture *p, double y, const char *look, struct pdnn_label_sheet *sheet) {
    pdnn_str_printf(&p->script, "set label %zu '' at screen ", sheet->next++);
    pdnn_plot_number(&p->script, (p->right + legend_pixels + 8) / width, ", screen ");
    pdnn_plot_number(&p->script, y / height, " ");
    pdnn_str_printf(&p->script, "point %s\n", look);
}

static void put_legend_text(struct picture *p, const char *text, double x, double y,
                            struct pdnn_label_sheet *sheet) {
    pdnn_str_printf(&p->script, "set label %zu ", sheet->next++);
    pdnn_gnuplot_quote(&p->script, text);
    pdnn_str_printf(&p->script, " at screen ");
    pdnn_plot_number(&p->script, x / width, ", screen ");
    pdnn_plot_number(&p->script, y / height, " left font 'DejaVu Sans,12' textcolor rgb '#222222'\n");
}

static void put_legend(struct picture *p, const struct pdnn_color_key *key, struct pdnn_label_sheet *sheet) {
    double y = top - 10;
    bool hollow = false;
    char look[128];
    for (size_t i = 0; i < p->n_dots; i++)
        hollow = hollow || !p->dot[i].measured;
    put_legend_text(p, "named models", p->right + legend_pixels, y, sheet);
    for (size_t i = 0; i < key->n_words; i++) {
        y -= line_pixels;
        snprintf(look, sizeof look, "pointtype %d pointsize 1.3 linecolor rgb %u", key->word[i].shape,
                 key->word[i].rgb);
        put_look(p, y, look, sheet);
        snprintf(look, sizeof look, "pointtype %d pointsize 1.3 linecolor rgb '#222222' linewidth 0.7",
                 key->word[i].shape - 1);
        put_look(p, y, look, sheet);
        put_legend_text(p, key->word[i].text, p->right + legend_pixels + 26, y, sheet);
    }
    if (hollow)
        put_legend_text(p, "white: not in the tables", p->right + legend_pixels, y - line_pixels - 8, sheet);
}

/* $dots: x y type rgb outline. Those of one box are spread over its width, so that few cover each other. */
static void put_dots(struct picture *p, struct pdnn_label_sheet *sheet) {
    const char **names = pdnn_arena_alloc(&p->arena, p->n_dots + 1, sizeof *names);
    struct pdnn_point_color *colors = pdnn_arena_alloc(&p->arena, p->n_dots + 1, sizeof *colors);
    struct pdnn_color_key key = {0};
    for (size_t i = 0; i < p->n_dots; i++)
        names[i] = p->dot[i].name;
    if (p->n_dots)
        pdnn_plot_color("preset", names, p->n_dots, colors, &key, &p->script);
    pdnn_str_printf(&p->script, "$dots << END\nNaN NaN 7 0 0\n");
    for (size_t i = 0; i < p->n_dots; i++) {
        double spread = ((double)(i % 5) - 2) / 5 * box_part * 0.7;
        pdnn_plot_number(&p->script, p->box[p->dot[i].box].center + spread, " ");
        pdnn_plot_number(&p->script, p->dot[i].value, " ");
        pdnn_str_printf(&p->script, "%d %u %u\n", colors[i].shape,
                        p->dot[i].measured ? colors[i].rgb : 0xffffff,
                        p->dot[i].measured ? 0x222222 : colors[i].rgb);
    }
    pdnn_str_printf(&p->script, "END\n");
    if (p->n_dots)
        put_legend(p, &key, sheet);
}

static const char *keep(struct picture *p, struct pdnn_str *text) {
    const char *kept = pdnn_arena_strdup(&p->arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

/* Boxes are named by their keys, sets by their family. */
static void put_names(struct picture *p, struct pdnn_label_sheet *sheet) {
    const struct pdnn_selection *selection = p->request->selection;
    double slot = fmin(box_pixels_most / box_part, (p->right - left) / p->slots);
    bool has_keys = p->request->keys.count > 0;
    for (size_t i = 0; i < p->n_boxes; i++) {
        struct pdnn_str text = {0};
        if (has_keys)
            pdnn_selection_values(selection, p->box[i].at, &p->request->keys, &text);
        else
            pdnn_str_printf(&text, "%s", family_of(p, i));
        pdnn_str_printf(&text, ", n=%zu", p->box[i].count);
        p->names[i] = (struct pdnn_bar_name){keep(p, &text), p->box[i].center, pdnn_bar_name_room(slot)};
        struct pdnn_bar_name *set = &p->sets[p->set_of[i]];
        if (!set->text)
            *set = (struct pdnn_bar_name){has_keys ? family_of(p, i) : "", p->box[i].center, 0};
        set->center +=
            (p->box[i].center - p->box[i > 0 && p->set_of[i - 1] == p->set_of[i] ? i - 1 : i].center) / 2;
        set->pixels += slot * (set->pixels > 0 ? 1 : 1 + gap) * 0.96;
    }
    struct pdnn_str axis = {0};
    pdnn_selection_names(selection, &p->request->keys, &axis);
    struct pdnn_bar_names names = {.bar = p->names,
                                   .set = p->sets,
                                   .set_of = p->set_of,
                                   .n_bars = p->n_boxes,
                                   .n_sets = has_keys && p->n_sets > 1 ? p->n_sets : 0};
    const char *title = keep(p, &axis);
    pdnn_bar_names_arrange(&names);
    put_legend_text(p, p->request->caption, left, caption_bottom + caption_pixels / 2, sheet);
    double below = caption_bottom + caption_pixels + caption_gap;
    pdnn_gnuplot_text(&p->script, "AXIS", title);
    p->axis_y = below + axis_pixels / 2;
    p->bottom = below + (*title ? axis_pixels : 0) + names.height;
    pdnn_bar_names_put(&names, p->bottom, sheet);
}

/* The family, the keys, and of each box its quantiles, of each dot its value. */
static void fill_data(struct picture *p) {
    static const struct pdnn_column_def last[] = {{.name = "kind"},
                                                  {.name = "name"},
                                                  {.name = "instances", .kind = PDNN_KIND_COUNT},
                                                  {.name = "low_whisker", .kind = PDNN_KIND_NUMBER},
                                                  {.name = "low", .kind = PDNN_KIND_NUMBER},
                                                  {.name = "middle", .kind = PDNN_KIND_NUMBER},
                                                  {.name = "high", .kind = PDNN_KIND_NUMBER},
                                                  {.name = "high_whisker", .kind = PDNN_KIND_NUMBER}};
    enum { KIND, NAME, INSTANCES, QUANTILES, N_QUANTILES = 5, N_LAST = sizeof last / sizeof *last };
    const struct pdnn_box_style *style = &p->request->style;
    const struct pdnn_selection *selection = p->request->selection;
    const size_t n_keys = p->request->keys.count, after = 1 + n_keys;
    const double q[] = {style->low_whisker, style->low, style->middle, style->high, style->high_whisker};
    struct pdnn_column_def columns[1 + PDNN_SELECTION_AXES_MAX + N_LAST] = {{.name = "family"}};
    for (size_t k = 0; k < n_keys; k++)
        columns[1 + k].name =
            pdnn_key_column(pdnn_results_name(&selection->results, p->request->keys.column[k]));
    memcpy(columns + after, last, sizeof last);
    pdnn_table_init(&p->data,
                    &(struct pdnn_table_def){"plot boxes", "what is drawn", columns, after + N_LAST});
    for (size_t i = 0; i < p->n_boxes + p->n_dots; i++) {
        bool is_box = i < p->n_boxes;
        const struct dot *dot = is_box ? NULL : &p->dot[i - p->n_boxes];
        const struct box *box = &p->box[is_box ? i : dot->box];
        size_t row = pdnn_table_add_row(&p->data);
        pdnn_table_set_text(&p->data, row, 0, get(p, box->at, selection->family));
        for (size_t k = 0; k < n_keys; k++)
            pdnn_table_set_text(&p->data, row, 1 + k, get(p, box->at, p->request->keys.column[k]));
        pdnn_table_set_text(&p->data, row, after + KIND,
                            is_box          ? "box"
                            : dot->measured ? "measured"
                                            : "preset");
        pdnn_table_set_text(&p->data, row, after + NAME, is_box ? "" : dot->name);
        pdnn_table_set_count(&p->data, row, after + INSTANCES, is_box ? box->count : 1);
        for (size_t k = 0; k < N_QUANTILES; k++)
            if (is_box || k == N_QUANTILES / 2)
                pdnn_table_set_number(&p->data, row, after + QUANTILES + k,
                                      is_box ? quantile(box, q[k]) : dot->value);
    }
}

static void write_script(struct picture *p) {
    struct pdnn_label_sheet sheet = {&p->script, width, height, FIRST_LABEL};
    pdnn_plot_titles(&p->script, p->request->title, p->request->selection);
    choose_range(p);
    p->right = p->n_dots ? right_legend : right_alone;
    put_names(p, &sheet);
    double margin = (fmax(p->slots, (p->right - left) / box_pixels_most * box_part) - p->slots) / 2;
    const struct {
        const char *name;
        double value;
    } variables[] = {{"WIDTH", width},
                     {"HEIGHT", height},
                     {"LEFT", left},
                     {"RIGHT", p->right},
                     {"TOP", top},
                     {"BOTTOM", p->bottom},
                     {"AXIS_Y", p->axis_y},
                     {"XMIN", -0.5 - margin},
                     {"XMAX", p->slots - 0.5 + margin},
                     {"YMIN", p->low},
                     {"YMAX", p->high},
                     {"YLOG", p->logarithmic},
                     {"PART", box_part},
                     {"LINE", p->request->line},
                     {"HAS_MIDDLE", p->request->style.shows_middle}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pdnn_plot_variable(&p->script, variables[i].name, variables[i].value);
    pdnn_plot_y_title(p->request->y_title, p->bottom, top, height, &p->script);
    put_boxes(p);
    fill_data(p);
    put_dots(p, &sheet);
}

enum pdnn_status pdnn_boxes_draw(const struct pdnn_box_request *request, struct pdnn_plot_result *result,
                                 struct pdnn_err *err) {
    struct picture *p = pdnn_alloc(1, sizeof *p);
    struct pdnn_plot_result drawn = {.n_paths = 0};
    p->request = request;
    enum pdnn_status status = collect_boxes(p, err);
    if (status == PDNN_OK)
        collect_dots(p);
    if (status == PDNN_OK)
        write_script(p);
    if (status == PDNN_OK)
        status = pdnn_plot_write(request->plot,
                                 &(struct pdnn_plot_parts){.kind = request->kind,
                                                           .variables = &p->script,
                                                           .embedded = pdnn_plot_script_box,
                                                           .data = &p->data},
                                 &drawn, err);
    drawn.drawn = (int)request->n_values;
    drawn.left_out = (int)request->left_out;
    pdnn_str_finish(&p->script);
    pdnn_table_finish(&p->data);
    pdnn_arena_finish(&p->arena);
    free(p);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}
