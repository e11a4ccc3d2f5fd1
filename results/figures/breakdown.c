/* `paradnn plot breakdown`: one bar per instance, divided into where its time goes. Groups have the order and
 * the colors of results/query/op_groups.h. The looks are in results/figures/breakdown.gp. */
#include "base/units.h"
#include "results/figures/gnuplot.h"
#include "results/figures/caption.h"
#include "results/figures/file.h"
#include "results/figures/names.h"
#include "results/figures/parts.h"
#include "results/query/share_matrix.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>

enum { BARS_MAX = 60, FIRST_LABEL = 10, VALUES_MOST = 72 };

/* The picture in pixels, wider where many bars and higher where long names need it. right_most: the frame's
 * right edge if the legend's names are short; caption_gap: above the captions at the bottom. */
static const double width_least = 1200, height_least = 800, left = 104, right_most = 940, above_frame = 88;
static const double slot_least = 18, bars_least = 360, upright_time_pixels = 76;
static const double caption_bottom = 8, caption_gap = 12, axis_pixels = 34, legend_pixels = 74;
static const double bar_pixels_most = 120, number_pixels = 30, time_pixels = 62;

/* In slots, one per bar: the width of a bar, and the gap between two sets of bars. */
static const double bar_part = 0.7, gap = 0.7;

struct picture {
    struct pdnn_selection selection;
    struct pdnn_ops_reader *reader; /* by directory */
    struct pdnn_arena arena;
    struct pdnn_by_list by;
    struct pdnn_axes axes, named;  /* what orders the bars, and what names them */
    struct pdnn_series *sets, all; /* series, and all their members in order */
    size_t n_sets;
    struct pdnn_share_matrix matrix; /* columns are bars */
    struct pdnn_bar_name *bars, *set_names;
    size_t *set_of; /* by bar */
    struct pdnn_bar_parts parts;
    double width, height, top; /* of the picture, and of the frame */
    double xmin, xmax, right, bottom, axis_y;
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status find_sets(struct picture *p, const char *across, struct pdnn_err *err) {
    size_t count = p->selection.count;
    enum pdnn_status status = across ? pdnn_axes_parse(&p->selection, across, &p->axes, err) : PDNN_OK;
    if (status != PDNN_OK)
        return status;
    if (!count)
        return pdnn_fail(err, PDNN_INVALID, "results.csv: no instance that ended ok");
    if (count > BARS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%zu bars are more than %d: choose some with --only", count,
                         BARS_MAX);
    if (across) {
        pdnn_selection_series(&p->selection, &p->axes, &p->arena, &p->sets, &p->n_sets);
        return PDNN_OK;
    }
    p->sets = pdnn_arena_alloc(&p->arena, 1, sizeof *p->sets);
    p->sets->at = pdnn_arena_alloc(&p->arena, count, sizeof *p->sets->at);
    p->n_sets = 1;
    for (; p->sets->count < count; p->sets->count++)
        p->sets->at[p->sets->count] = p->sets->count;
    return PDNN_OK;
}

/* Puts bars side by side, with a gap between sets. */
static void order_bars(struct picture *p) {
    size_t count = p->selection.count;
    double center = 0;
    p->bars = pdnn_arena_alloc(&p->arena, count, sizeof *p->bars);
    p->set_of = pdnn_arena_alloc(&p->arena, count, sizeof *p->set_of);
    p->set_names = pdnn_arena_alloc(&p->arena, p->n_sets, sizeof *p->set_names);
    p->all.at = pdnn_arena_alloc(&p->arena, count, sizeof *p->all.at);
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
    return (p->right - left) / (p->xmax - p->xmin);
}

/* If there are few bars, they stay narrow and centered; many make the picture wider. The legend gets room for
 * its longest name. */
static void choose_columns(struct picture *p) {
    double slots = p->bars[p->all.count - 1].center + 1;
    p->right = fmin(right_most, width_least - legend_pixels - pdnn_bar_parts_legend_pixels(&p->parts));
    p->width = width_least + fmax(0, left + slots * slot_least - p->right);
    p->right += p->width - width_least;
    double margin = (fmax(slots, (p->right - left) / bar_pixels_most * bar_part) - slots) / 2;
    p->xmin = -0.5 - margin;
    p->xmax = slots - 0.5 + margin;
}

static bool is_dark(unsigned rgb) {
    return 0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 0xff) + 0.114 * (rgb & 0xff) < 140;
}

static void put_parts(struct picture *p) {
    pdnn_str_printf(&p->script, "$parts << END\n");
    for (size_t b = 0; b < p->all.count; b++) {
        double low = 0, center = p->bars[b].center;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = pdnn_bar_part_pct(&p->parts, r, b);
            if (!(pct > 0))
                continue;
            pdnn_plot_number(&p->script, center - bar_part / 2, " ");
            pdnn_plot_number(&p->script, center + bar_part / 2, " ");
            pdnn_plot_number(&p->script, low, " ");
            pdnn_plot_number(&p->script, low + pct, " ");
            pdnn_str_printf(&p->script, "%u\n", p->parts.part[r].rgb);
            low += pct;
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

/* Percentages in the parts that have room for them. The first label is empty because gnuplot fails on an
 * empty block of labels. */
static void put_numbers(struct picture *p, const char *block, bool dark) {
    bool fits = slot_pixels(p) * bar_part >= number_pixels;
    double least_pct = 16 / (p->top - p->bottom) * 106;
    pdnn_str_printf(&p->script, "$%s << END\n0 0 \"\"\n", block);
    for (size_t b = 0; fits && b < p->all.count; b++) {
        double low = 0;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = pdnn_bar_part_pct(&p->parts, r, b);
            if (pct >= least_pct && is_dark(p->parts.part[r].rgb) == dark) {
                pdnn_plot_number(&p->script, p->bars[b].center, " ");
                pdnn_plot_number(&p->script, low + pct / 2, " ");
                pdnn_str_printf(&p->script, "\"%.1f\"\n", pct);
            }
            low += fmax(pct, 0);
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

enum { RESULTS, ID, SET, STEP_NS, PART, SHARE_PCT, N_COLUMNS };
static const struct pdnn_column_def columns[N_COLUMNS] = {
    [RESULTS] = {.name = PDNN_RESULTS_KEY},
    [ID] = {.name = "id"},
    [SET] = {.name = "set", .kind = PDNN_KIND_COUNT},
    [STEP_NS] = {.name = "step_ns", .kind = PDNN_KIND_NUMBER},
    [PART] = {.name = "part"},
    [SHARE_PCT] = {.name = "share_pct", .kind = PDNN_KIND_NUMBER},
};
static const struct pdnn_table_def data_def = {"plot breakdown", "what is drawn", columns, N_COLUMNS};

static void fill_data(struct picture *p) {
    struct pdnn_table *data = &p->data;
    pdnn_table_init(data, &data_def);
    for (size_t b = 0; b < p->all.count; b++) {
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = pdnn_bar_part_pct(&p->parts, r, b);
            if (!(pct > 0))
                continue;
            size_t at = p->all.at[b], row = pdnn_table_add_row(data);
            pdnn_table_set_text(data, row, RESULTS,
                                pdnn_selection_get(&p->selection, at, p->selection.results.results));
            pdnn_table_set_text(data, row, ID, pdnn_selection_get(&p->selection, at, p->selection.id));
            pdnn_table_set_count(data, row, SET, p->set_of[b] + 1);
            pdnn_table_set_number(data, row, STEP_NS, pdnn_selection_step_ns(&p->selection, at));
            pdnn_table_set_text(data, row, PART, p->parts.part[r].name);
            pdnn_table_set_number(data, row, SHARE_PCT, pct);
        }
    }
}

/* Else they stand upright. */
static bool times_fit(const struct picture *p) {
    return slot_pixels(p) >= time_pixels;
}

/* TIME is the text of each row of $times, or of $upright. */
static void put_times(struct picture *p) {
    size_t count = p->all.count;
    pdnn_str_printf(&p->script, "array TIME[%zu]\nTIME[1] = ''\n", count + 1);
    for (size_t b = 0; b < count; b++) {
        char name[32], time[PDNN_UNIT_TEXT], text[PDNN_UNIT_TEXT + 1];
        size_t at = p->all.at[b];
        snprintf(name, sizeof name, "TIME[%zu]", b + 2);
        snprintf(text, sizeof text, "%s%s", pdnn_selection_extrapolated(&p->selection, at) ? "~" : "",
                 pdnn_format_ns(time, pdnn_selection_step_ns(&p->selection, at)));
        pdnn_gnuplot_text(&p->script, name, text);
    }
    for (int upright = 0; upright < 2; upright++) {
        pdnn_str_printf(&p->script, "$%s << END\n0 0\n", upright ? "upright" : "times");
        for (size_t b = 0; b < count && times_fit(p) != upright; b++)
            pdnn_plot_number(&p->script, p->bars[b].center, upright ? " 102\n" : " 103\n");
        pdnn_str_printf(&p->script, "END\n");
    }
}

/* Moves a text into the arena. */
static const char *keep(struct picture *p, struct pdnn_str *text) {
    const char *kept = pdnn_arena_strdup(&p->arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

static bool any_extrapolated(const struct picture *p) {
    bool any = false;
    for (size_t b = 0; b < p->all.count; b++)
        any = any || pdnn_selection_extrapolated(&p->selection, p->all.at[b]);
    return any;
}

/* Puts the captions at the bottom; returns the lowest y above them. */
static double put_captions(struct picture *p, bool named_by_values, struct pdnn_label_sheet *sheet) {
    struct pdnn_str caption = {0}, usual = {0};
    pdnn_str_printf(&caption,
                    "A bar is one step of a model by the time of its ops; above it is the time of the "
                    "step%s; residual: time in no op",
                    any_extrapolated(p) ? " (~ extrapolated)" : "");
    if (!named_by_values)
        pdnn_selection_usual(&p->selection, &p->named, &usual);
    if (usual.length)
        pdnn_str_printf(&usual, " unless stated otherwise");
    double y = caption_bottom;
    y += pdnn_plot_caption(pdnn_str_text(&usual), left, y, sheet);
    y += pdnn_plot_caption(pdnn_str_text(&caption), left, y, sheet);
    pdnn_str_finish(&caption);
    pdnn_str_finish(&usual);
    return y + caption_gap;
}

/* Without axes, bars are named by all keys that differ, unless those are too many. */
static void choose_names(struct picture *p) {
    p->named = p->axes;
    for (int column = p->selection.family; column < p->selection.results.end_key && !p->axes.count;
         column++) {
        if (!p->selection.key[column].varies || p->selection.key[column].follows)
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
            pdnn_selection_values(&p->selection, at, &p->named, &text);
        else
            pdnn_selection_where(&p->selection, at, &p->axes, &text);
        if (!text.length)
            pdnn_str_printf(&text, "usual");
        p->bars[b].pixels = pdnn_bar_name_room(slot);
        p->bars[b].text = keep(p, &text);
    }
    for (size_t set = 0; set < p->n_sets; set++) {
        struct pdnn_str text = {0};
        if (p->axes.count)
            pdnn_selection_where(&p->selection, p->sets[set].at[0], &p->axes, &text);
        p->set_names[set].pixels = slot * ((double)p->sets[set].count + gap) * 0.96;
        p->set_names[set].text = keep(p, &text);
    }
}

/* Names without their keys, which one line below gives in the same order: for where whole ones would be cut.
 */
static void name_by_values(struct picture *p, struct pdnn_bar_names *names, const char **keys) {
    struct pdnn_str text = {0};
    for (size_t b = 0; b < p->all.count; b++) {
        pdnn_selection_varying_values(&p->selection, p->all.at[b], &text);
        p->bars[b].text = keep(p, &text);
    }
    pdnn_selection_varying_names(&p->selection, &text);
    *keys = keep(p, &text);
    *names = (struct pdnn_bar_names){.bar = p->bars, .n_bars = p->all.count, .upright_most = VALUES_MOST};
    pdnn_bar_names_arrange(names);
}

/* Places names and captions from the bottom up; the frame ends above them, and the picture is as high as the
 * bars need. */
static void place_names(struct picture *p, const struct pdnn_bar_names *names, const char *keys,
                        bool by_values) {
    struct pdnn_str unused = {0};
    struct pdnn_label_sheet trial = {&unused, p->width, height_least, FIRST_LABEL};
    bool named_below = *keys;
    double below = put_captions(p, by_values, &trial);
    p->axis_y = below + axis_pixels / 2;
    p->bottom = below + (named_below ? axis_pixels : 0) + names->height;
    double above = above_frame + (times_fit(p) ? 0 : upright_time_pixels);
    p->height = fmax(height_least, p->bottom + bars_least + above);
    p->top = p->height - above;
    struct pdnn_label_sheet sheet = {&p->script, p->width, p->height, FIRST_LABEL};
    pdnn_gnuplot_text(&p->script, "AXIS", named_below ? keys : "");
    put_captions(p, by_values, &sheet);
    pdnn_bar_names_put(names, p->bottom, &sheet);
    pdnn_str_finish(&unused);
}

static void put_names(struct picture *p) {
    struct pdnn_str axis = {0};
    name_bars(p);
    if (p->named.count)
        pdnn_selection_names(&p->selection, &p->named, &axis);
    const char *keys = keep(p, &axis);
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

static void write_script(struct picture *p) {
    pdnn_bar_parts_choose(&p->parts, &p->matrix, &p->by, &p->arena);
    choose_columns(p);
    put_names(p);
    pdnn_plot_titles(&p->script, "Where the time goes in", &p->selection);
    const struct {
        const char *name;
        double value;
    } variables[] = {{"WIDTH", p->width},   {"HEIGHT", p->height}, {"LEFT", left},
                     {"RIGHT", p->right},   {"TOP", p->top},       {"BOTTOM", p->bottom},
                     {"AXIS_Y", p->axis_y}, {"XMIN", p->xmin},     {"XMAX", p->xmax}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pdnn_plot_variable(&p->script, variables[i].name, variables[i].value);
    pdnn_bar_parts_put_legend(&p->parts, &p->script);
    put_parts(p);
    put_numbers(p, "light", false);
    put_numbers(p, "dark", true);
    put_times(p);
    fill_data(p);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    static const size_t order[N_COLUMNS] = {RESULTS, ID, SET, STEP_NS, PART, SHARE_PCT};
    const bool several = request->n_directories > 1;
    struct picture p = {.n_sets = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    enum pdnn_status status = pdnn_by_parse(request->by ? request->by : "group", &p.by, err);
    if (status == PDNN_OK)
        status = pdnn_plot_select(request, &p.selection, err);
    if (status == PDNN_OK)
        status = pdnn_selection_ops_open(&p.selection, &p.reader, err);
    if (status == PDNN_OK)
        status = find_sets(&p, request->across, err);
    if (status == PDNN_OK)
        order_bars(&p);
    if (status == PDNN_OK)
        status = pdnn_share_matrix(&(struct pdnn_share_source){&p.selection, p.reader, &p.by, &p.arena},
                                   &p.all, &p.matrix, err);
    if (status == PDNN_OK)
        write_script(&p);
    if (status == PDNN_OK)
        status = pdnn_plot_write(request,
                                 &(struct pdnn_plot_parts){.kind = "breakdown",
                                                           .variables = &p.script,
                                                           .embedded = pdnn_plot_script_breakdown,
                                                           .data = &p.data,
                                                           .columns = several ? order : order + 1,
                                                           .n_columns = N_COLUMNS - !several},
                                 &drawn, err);
    drawn.drawn = (int)p.all.count;
    drawn.left_out = (int)p.selection.left_out;
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.data);
    pdnn_selection_ops_close(&p.selection, p.reader);
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"by", "across", "only", NULL};

const struct pdnn_plot_def pdnn_plot_breakdown = {
    .name = "breakdown",
    .help =
        "one bar per instance, divided by what its time goes to: --by category, group (the default), pass, "
        "layer, op or a combination; --across puts bars side by side; --only",
    .options = options,
    .drawn = "bars",
    .left_out_as = "rows that did not end ok",
    .draw = draw,
};
