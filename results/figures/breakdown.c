/* `paradnn plot breakdown`: one bar per instance, divided into where its time goes. Groups have the order and
 * the colors of results/query/op_groups.h. */
#include "base/units.h"
#include "results/figures/caption.h"
#include "results/figures/names.h"
#include "results/figures/parts.h"
#include "results/figures/picture.h"
#include "results/query/share_matrix.h"

#include <math.h>
#include <stdio.h>

enum { BARS_MAX = 60 };

/* Wider where many bars and higher where long names need it. right_most: the frame's right edge if the
 * legend's names are short; caption_gap: above the captions at the bottom; values_most: the length of an
 * upright name. */
static const double left = 104, right_most = 940, above_frame = 88, full_width = 1200;
static const double slot_least = 18, bars_least = 360, upright_time_pixels = 76, values_most = 540;
static const double caption_bottom = 8, caption_gap = 12, axis_pixels = 34, legend_pixels = 74;
static const double bar_pixels_most = 120, number_pixels = 30, time_pixels = 62;

/* The frame's upper end in per cent, so that times have room above bars. */
static const double most_pct = 106;

/* In slots, one per bar: the width of a bar, and the gap between two sets of bars. */
static const double bar_part = 0.7, gap = 0.7;

struct picture {
    struct pdnn_picture *in;
    struct pdnn_by_list by;
    struct pdnn_axes axes, named;  /* what orders the bars, and what names them */
    struct pdnn_series *sets, all; /* series, and all their members in order */
    size_t n_sets;
    struct pdnn_share_matrix matrix; /* columns are bars */
    struct pdnn_bar_name *bars, *set_names;
    size_t *set_of; /* by bar */
    struct pdnn_bar_parts parts;
    struct pdnn_scale x, y; /* slots; per cent */
};

static enum pdnn_status find_sets(struct picture *p, const char *across, struct pdnn_err *err) {
    size_t count = p->in->selection.count;
    enum pdnn_status status = across ? pdnn_axes_parse(&p->in->selection, across, &p->axes, err) : PDNN_OK;
    if (status != PDNN_OK)
        return status;
    if (!count)
        return pdnn_fail(err, PDNN_INVALID, "results.csv: no instance that ended ok");
    if (count > BARS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%zu bars are more than %d: choose some with --only", count,
                         BARS_MAX);
    if (across) {
        pdnn_selection_series(&p->in->selection, &p->axes, &p->in->arena, &p->sets, &p->n_sets);
        return PDNN_OK;
    }
    p->sets = pdnn_arena_alloc(&p->in->arena, 1, sizeof *p->sets);
    p->sets->at = pdnn_arena_alloc(&p->in->arena, count, sizeof *p->sets->at);
    p->n_sets = 1;
    for (; p->sets->count < count; p->sets->count++)
        p->sets->at[p->sets->count] = p->sets->count;
    return PDNN_OK;
}

/* Puts bars side by side, with a gap between sets. */
static void order_bars(struct picture *p) {
    size_t count = p->in->selection.count;
    double center = 0;
    p->bars = pdnn_arena_alloc(&p->in->arena, count, sizeof *p->bars);
    p->set_of = pdnn_arena_alloc(&p->in->arena, count, sizeof *p->set_of);
    p->set_names = pdnn_arena_alloc(&p->in->arena, p->n_sets, sizeof *p->set_names);
    p->all.at = pdnn_arena_alloc(&p->in->arena, count, sizeof *p->all.at);
    for (size_t set = 0; set < p->n_sets; set++) {
        p->set_names[set].center = center + ((double)p->sets[set].count - 1) / 2;
        for (size_t i = 0; i < p->sets[set].count; i++) {
            p->bars[p->all.count].center = center;
            p->set_of[p->all.count] = set;
            p->all.at[p->all.count++] = p->sets[set].at[i];
            center += 1;
        }
        center += gap;
    }
}

static double slot_pixels(const struct picture *p) {
    return pdnn_scale_at(&p->x, 1) - pdnn_scale_at(&p->x, 0);
}

/* If there are few bars, they stay narrow and centered; many make the picture wider. The legend gets room for
 * its longest name. */
static void choose_columns(struct picture *p) {
    double slots = p->bars[p->all.count - 1].center + 1, width = p->in->width;
    double right = fmin(right_most - full_width + width,
                        width - legend_pixels - pdnn_bar_parts_legend_pixels(&p->parts));
    p->in->canvas.width = width + fmax(0, left + slots * slot_least - right);
    right += p->in->canvas.width - width;
    double margin = (fmax(slots, (right - left) / bar_pixels_most * bar_part) - slots) / 2;
    p->x = (struct pdnn_scale){.low = -0.5 - margin, .high = slots - 0.5 + margin, .from = left, .to = right};
}

static bool is_dark(int ink) {
    return 0.299 * (ink >> 16) + 0.587 * (ink >> 8 & 0xff) + 0.114 * (ink & 0xff) < 140;
}

/* The parts, with percentages in those that have room for them. A thin white line separates parts of similar
 * color. */
static void draw_bars(struct picture *p) {
    bool fits = slot_pixels(p) * bar_part >= number_pixels;
    for (size_t b = 0; b < p->all.count; b++) {
        double low = 0, center = p->bars[b].center, half = bar_part / 2;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = pdnn_bar_part_pct(&p->parts, r, b);
            struct pdnn_pen pen = {p->parts.part[r].ink, PDNN_INK_WHITE, 0.4, 0};
            struct pdnn_font font = pdnn_small_middle;
            char text[32];
            if (!(pct > 0))
                continue;
            double y = pdnn_scale_at(&p->y, low), top = pdnn_scale_at(&p->y, low + pct);
            pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, center - half), y,
                          pdnn_scale_at(&p->x, center + half), top, pen);
            snprintf(text, sizeof text, "%.1f", pct);
            font.ink = is_dark(pen.fill) ? PDNN_INK_WHITE : PDNN_INK_TEXT;
            if (fits && top - y >= PDNN_FONT_SMALL + 3)
                pdnn_draw_text(&p->in->canvas, pdnn_scale_at(&p->x, center), (y + top) / 2, font, text);
            low += pct;
        }
    }
}

enum { RESULTS, ID, SET, STEP_NS, PART, SHARE_PCT, N_COLUMNS };

static void fill_data(struct picture *p) {
    struct pdnn_table *data = &p->in->data;
    pdnn_picture_table(p->in, PDNN_RESULTS_KEY " id +set #step_ns part #share_pct");
    for (size_t b = 0; b < p->all.count; b++) {
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = pdnn_bar_part_pct(&p->parts, r, b);
            if (!(pct > 0))
                continue;
            size_t at = p->all.at[b], row = pdnn_table_add_row(data);
            pdnn_table_set_text(data, row, RESULTS,
                                pdnn_picture_cell(p->in, at, p->in->selection.results.results));
            pdnn_table_set_text(data, row, ID, pdnn_picture_cell(p->in, at, p->in->selection.id));
            pdnn_table_set_count(data, row, SET, p->set_of[b] + 1);
            pdnn_table_set_number(data, row, STEP_NS, pdnn_selection_step_ns(&p->in->selection, at));
            pdnn_table_set_text(data, row, PART, p->parts.part[r].name);
            pdnn_table_set_number(data, row, SHARE_PCT, pct);
        }
    }
}

/* Else they stand upright. */
static bool times_fit(const struct picture *p) {
    return slot_pixels(p) >= time_pixels;
}

static void draw_times(struct picture *p) {
    struct pdnn_font font = times_fit(p) ? pdnn_small_middle : pdnn_small;
    double y = pdnn_scale_at(&p->y, times_fit(p) ? 103 : 102);
    font.degrees = times_fit(p) ? 0 : 90;
    for (size_t b = 0; b < p->all.count; b++) {
        char time[PDNN_UNIT_TEXT], text[PDNN_UNIT_TEXT + 1];
        size_t at = p->all.at[b];
        snprintf(text, sizeof text, "%s%s", pdnn_selection_extrapolated(&p->in->selection, at) ? "~" : "",
                 pdnn_format_ns(time, pdnn_selection_step_ns(&p->in->selection, at)));
        pdnn_draw_text(&p->in->canvas, pdnn_scale_at(&p->x, p->bars[b].center), y, font, text);
    }
}

static bool any_extrapolated(const struct picture *p) {
    bool any = false;
    for (size_t b = 0; b < p->all.count; b++)
        any = any || pdnn_selection_extrapolated(&p->in->selection, p->all.at[b]);
    return any;
}

/* Draws the captions at the bottom; returns the lowest y above them. */
static double draw_captions(struct picture *p, bool named_by_values) {
    struct pdnn_str caption = {0}, usual = {0};
    pdnn_str_printf(&caption,
                    "A bar is one step of a model by the time of its ops; above it is the time of the "
                    "step%s; residual: time in no op",
                    any_extrapolated(p) ? " (~ extrapolated)" : "");
    if (!named_by_values)
        pdnn_selection_where(&p->in->selection, SIZE_MAX, &p->named, &usual);
    if (usual.length)
        pdnn_str_printf(&usual, " unless stated otherwise");
    double y = caption_bottom;
    y += pdnn_draw_caption(&p->in->canvas, left, y, pdnn_str_text(&usual));
    y += pdnn_draw_caption(&p->in->canvas, left, y, pdnn_str_text(&caption));
    pdnn_str_finish(&caption);
    pdnn_str_finish(&usual);
    return y + caption_gap;
}

/* Without axes, bars are named by all keys that differ, unless those are too many. */
static void choose_names(struct picture *p) {
    p->named = p->axes;
    for (int column = p->in->selection.family; column < p->in->selection.results.end_key && !p->axes.count;
         column++) {
        if (!p->in->selection.key[column].varies || p->in->selection.key[column].follows)
            continue;
        if (p->named.count == PDNN_SELECTION_AXES_MAX) {
            p->named.count = 0;
            return;
        }
        p->named.column[p->named.count++] = column;
    }
}

/* Bars are named by the axes, and sets by what else differs; without axes, bars are named by all that
 * differs. */
static void name_bars(struct picture *p) {
    double slot = slot_pixels(p);
    choose_names(p);
    for (size_t b = 0; b < p->all.count; b++) {
        struct pdnn_str text = {0};
        size_t at = p->all.at[b];
        if (p->named.count)
            pdnn_selection_values(&p->in->selection, at, &p->named, &text);
        else
            pdnn_selection_where(&p->in->selection, at, &p->axes, &text);
        if (!text.length)
            pdnn_str_printf(&text, "usual");
        p->bars[b].pixels = pdnn_bar_name_room(slot);
        p->bars[b].text = pdnn_plot_keep(&p->in->arena, &text);
    }
    for (size_t set = 0; set < p->n_sets; set++) {
        struct pdnn_str text = {0};
        if (p->axes.count)
            pdnn_selection_where(&p->in->selection, p->sets[set].at[0], &p->axes, &text);
        p->set_names[set].pixels = slot * ((double)p->sets[set].count + gap) * 0.96;
        p->set_names[set].text = pdnn_plot_keep(&p->in->arena, &text);
    }
}

/* Names without their keys, which one line below gives in the same order, where whole ones would be cut. */
static void name_by_values(struct picture *p, struct pdnn_bar_names *names, const char **keys) {
    struct pdnn_str text = {0};
    for (size_t b = 0; b < p->all.count; b++) {
        pdnn_selection_varying(&p->in->selection, p->all.at[b], &text);
        p->bars[b].text = pdnn_plot_keep(&p->in->arena, &text);
    }
    pdnn_selection_varying(&p->in->selection, SIZE_MAX, &text);
    *keys = pdnn_plot_keep(&p->in->arena, &text);
    *names = (struct pdnn_bar_names){.bar = p->bars, .n_bars = p->all.count, .upright_most = values_most};
    pdnn_bar_names_arrange(names);
}

/* Names and captions from the bottom up; the frame ends above them, and the picture is as high as the bars
 * need. */
static void place_names(struct picture *p, const struct pdnn_bar_names *names, const char *keys,
                        bool by_values) {
    double below = draw_captions(p, by_values),
           above = above_frame + (times_fit(p) ? 0 : upright_time_pixels);
    double bottom = below + (*keys ? axis_pixels : 0) + names->height;
    p->in->canvas.height = fmax(p->in->height, bottom + bars_least + above);
    p->y = (struct pdnn_scale){.high = most_pct, .from = bottom, .to = p->in->canvas.height - above};
    pdnn_draw_cut(&p->in->canvas, (p->x.from + p->x.to) / 2, below + axis_pixels / 2,
                  p->in->canvas.width - 12, pdnn_plain_middle, keys);
    pdnn_bar_names_put(names, bottom, &p->x, &p->in->canvas);
}

static void draw_names(struct picture *p) {
    struct pdnn_str axis = {0};
    name_bars(p);
    if (p->named.count)
        pdnn_selection_values(&p->in->selection, SIZE_MAX, &p->named, &axis);
    const char *keys = pdnn_plot_keep(&p->in->arena, &axis);
    struct pdnn_bar_names names = {.bar = p->bars,
                                   .set = p->set_names,
                                   .set_of = p->set_of,
                                   .n_bars = p->all.count,
                                   .n_sets = p->n_sets};
    pdnn_bar_names_arrange(&names);
    bool by_values = names.cut;
    if (by_values)
        name_by_values(p, &names, &keys);
    place_names(p, &names, keys, by_values);
}

static void describe(struct picture *p) {
    struct pdnn_canvas *canvas = &p->in->canvas;
    pdnn_bar_parts_choose(&p->parts, &p->matrix, &p->by, &p->in->arena);
    choose_columns(p);
    draw_names(p);
    const struct pdnn_titles titles =
        pdnn_plot_titles(&p->in->arena, "Where the time goes in", &p->in->selection);
    const struct pdnn_frame_axis x = {.scale = p->x, .bare = true},
                                 y = {.scale = {.high = 100,
                                                .from = p->y.from,
                                                .to = pdnn_scale_at(&p->y, 100)},
                                      .title = "share of a step's time",
                                      .unit = " %",
                                      .grid = true};
    pdnn_draw_titles(canvas, left, canvas->height, &titles);
    pdnn_draw_frame(canvas, &x, &y);
    struct pdnn_legend legend = {canvas, p->x.to + 28, p->y.to - 6, canvas->width - p->x.to - 32};
    pdnn_bar_parts_put_legend(&p->parts, &legend);
    draw_bars(p);
    draw_times(p);
    fill_data(p);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    static const size_t order[N_COLUMNS] = {RESULTS, ID, SET, STEP_NS, PART, SHARE_PCT};
    const struct pdnn_plot_request *request = picture->request;
    const bool several = request->n_directories > 1;
    struct picture p = {.in = picture};
    if (pdnn_by_parse(request->by ? request->by : "group", &p.by, err) != PDNN_OK ||
        pdnn_picture_select(picture, err) != PDNN_OK || pdnn_picture_open_ops(picture, err) != PDNN_OK ||
        find_sets(&p, request->across, err) != PDNN_OK)
        return err->status;
    order_bars(&p);
    p.matrix = pdnn_share_matrix(
        &(struct pdnn_share_source){&picture->selection, picture->ops[0], &p.by, &picture->arena}, &p.all);
    describe(&p);
    picture->columns = several ? order : order + 1;
    picture->n_columns = N_COLUMNS - !several;
    picture->drawn = p.all.count;
    picture->left_out = picture->selection.left_out;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_breakdown = {
    .name = "breakdown",
    .help =
        "one bar per instance, divided by what its time goes to: --by category, group (the default), pass, "
        "layer, op or a combination; --across puts bars side by side; --only",
    .options = (const char *const[]){"by", "across", "only", NULL},
    .drawn = "bars",
    .left_out_as = "rows that did not end ok",
    .draw = draw,
};
