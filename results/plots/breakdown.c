/* `paradnn plot breakdown`: one bar per instance, divided into where its time goes. Groups have the order and
 * the colors of results/analysis/op_groups.h. The looks are in results/plots/breakdown.gp. */
#include "base/units.h"
#include "results/plots/gnuplot.h"
#include "results/plots/caption.h"
#include "results/plots/color.h"
#include "results/plots/file.h"
#include "results/plots/names.h"
#include "results/analysis/share_matrix.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BARS_MAX = 60,
    NAME_TEXT = 128,
    FIRST_LABEL = 10,
    LEGEND_NAME = 28, /* letters */
    FIRST_KEY = 6,    /* what is left of the first key at least */
    LEGEND_MOST = 22,
    VALUES_MOST = 72
};

/* The picture in pixels, wider where many bars and higher where long names need it. right_most: the frame's
 * right edge if the legend's names are short; caption_gap: above the captions at the bottom; legend_size: the
 * legend's font relative to that of names. */
static const double width_least = 1200, height_least = 800, left = 104, right_most = 940, above_frame = 88;
static const double slot_least = 18, bars_least = 360, upright_time_pixels = 76;
static const double caption_bottom = 8, caption_gap = 12, axis_pixels = 34, legend_pixels = 74,
                    legend_size = 1.12;
static const double bar_pixels_most = 120, number_pixels = 30, time_pixels = 62;

/* In slots, one per bar: the width of a bar, and the gap between two sets of bars. */
static const double bar_part = 0.7, gap = 0.7;

/* Parts of a group get lighter up to this, so that none looks like the background. */
static const double lightest = 0.8;

static const unsigned residual_rgb = 0xe6e6e6, white_rgb = 0xffffff;

/* One part of a bar. */
struct part {
    char name[NAME_TEXT];
    unsigned rgb;
    size_t merged_into; /* the row whose color it shares, or its own row */
};

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
    size_t *set_of;            /* by bar */
    struct part *parts;        /* by row of the matrix */
    double width, height, top; /* of the picture, and of the frame */
    double xmin, xmax, right, bottom, axis_y;
    struct pdnn_str script, data;
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
    if (across)
        return pdnn_selection_series(&p->selection, &p->axes, &p->arena, &p->sets, &p->n_sets, err);
    p->sets = pdnn_arena_alloc(&p->arena, 1, sizeof *p->sets);
    if (!p->sets || !(p->sets->at = pdnn_arena_alloc(&p->arena, count, sizeof *p->sets->at)))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu bars", count);
    p->n_sets = 1;
    for (; p->sets->count < count; p->sets->count++)
        p->sets->at[p->sets->count] = p->sets->count;
    return PDNN_OK;
}

/* Puts bars side by side, with a gap between sets. */
static enum pdnn_status order_bars(struct picture *p, struct pdnn_err *err) {
    size_t count = p->selection.count;
    double center = 0;
    p->bars = pdnn_arena_alloc(&p->arena, count, sizeof *p->bars);
    p->set_of = pdnn_arena_alloc(&p->arena, count, sizeof *p->set_of);
    p->set_names = pdnn_arena_alloc(&p->arena, p->n_sets, sizeof *p->set_names);
    p->all.at = pdnn_arena_alloc(&p->arena, count, sizeof *p->all.at);
    if (!p->bars || !p->set_of || !p->set_names || !p->all.at)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu bars", count);
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
    return PDNN_OK;
}

static double slot_pixels(const struct picture *p) {
    return (p->right - left) / (p->xmax - p->xmin);
}

/* The name of a part in the legend: of several keys the first is cut, since the last ones tell parts of a
 * group from each other. Returns buffer. */
static const char *legend_name(const struct part *part, char buffer[NAME_TEXT]) {
    const char *rest = strchr(part->name, ',');
    size_t after = rest ? strlen(rest) : 0;
    if (strlen(part->name) <= LEGEND_NAME)
        snprintf(buffer, NAME_TEXT, "%s", part->name);
    else if (rest && after + FIRST_KEY <= LEGEND_NAME)
        snprintf(buffer, NAME_TEXT, "%.*s..%s", (int)(LEGEND_NAME - after) - 2, part->name, rest);
    else
        snprintf(buffer, NAME_TEXT, "%.*s..", LEGEND_NAME - 2, part->name);
    return buffer;
}

/* If there are few bars, they stay narrow and centered; many make the picture wider. The legend gets room for
 * its longest name. */
static void choose_columns(struct picture *p) {
    double slots = p->bars[p->all.count - 1].center + 1, longest = 0;
    for (size_t r = 0; r < p->matrix.n_rows; r++) {
        char name[NAME_TEXT];
        if (p->parts[r].merged_into == r)
            longest = fmax(longest, legend_size * pdnn_plot_text_pixels(legend_name(&p->parts[r], name)));
    }
    p->right = fmin(right_most, width_least - legend_pixels - longest);
    p->width = width_least + fmax(0, left + slots * slot_least - p->right);
    p->right += p->width - width_least;
    double margin = (fmax(slots, (p->right - left) / bar_pixels_most * bar_part) - slots) / 2;
    p->xmin = -0.5 - margin;
    p->xmax = slots - 0.5 + margin;
}

static unsigned lighter(unsigned rgb, double part) {
    unsigned mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double value = (rgb >> shift) & 0xff;
        mixed |= (unsigned)(value + (255 - value) * part) << shift;
    }
    return mixed;
}

static bool is_dark(unsigned rgb) {
    return 0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 0xff) + 0.114 * (rgb & 0xff) < 140;
}

static void name_part(struct picture *p, size_t row) {
    struct part *part = &p->parts[row];
    for (size_t k = 0; k < p->by.count; k++) {
        size_t used = strlen(part->name);
        const char *key = p->matrix.row[row].key[p->by.by[k]];
        if (*key)
            snprintf(part->name + used, sizeof part->name - used, "%s%s", used ? ", " : "", key);
    }
}

static bool is_plain(const struct pdnn_share *row) {
    return !row->rgb && !row->is_residual;
}

/* The number of plain rows that take more time than this one, over all bars. */
static size_t count_larger(const struct picture *p, size_t row) {
    size_t larger = 0;
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        larger +=
            is_plain(&p->matrix.row[r]) && p->matrix.row[r].work.time_ns > p->matrix.row[row].work.time_ns;
    return larger;
}

static unsigned group_color(const struct picture *p, size_t row) {
    size_t same = 0;
    for (size_t before = 0; before < row; before++)
        same += p->matrix.row[before].rgb == p->matrix.row[row].rgb;
    return lighter(p->matrix.row[row].rgb, fmin(1 - pow(0.72, (double)same), lightest));
}

/* Groups have their own colors, and parts of one group get lighter shades of it. Otherwise the largest rows
 * get a color each, and the rest become one grey part. */
static void choose_colors(struct picture *p) {
    size_t n_plain = 0, taken = 0, grey = p->matrix.n_rows;
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        n_plain += is_plain(&p->matrix.row[r]);
    size_t own = n_plain <= PDNN_PLOT_COLORS ? n_plain : PDNN_PLOT_COLORS - 1;
    for (size_t r = 0; r < p->matrix.n_rows; r++) {
        const struct pdnn_share *row = &p->matrix.row[r];
        struct part *part = &p->parts[r];
        name_part(p, r);
        part->merged_into = r;
        if (row->is_residual) {
            part->rgb = residual_rgb;
        } else if (row->rgb) {
            part->rgb = group_color(p, r);
        } else if (count_larger(p, r) < own && taken < own) {
            part->rgb = pdnn_plot_distinct_color(taken++);
        } else {
            grey = grey < r ? grey : r;
            part->rgb = pdnn_plot_grey;
            part->merged_into = grey;
            snprintf(p->parts[grey].name, sizeof part->name, "%zu others", n_plain - own);
        }
    }
}

/* The percentage of a row and those merged into it. 100 % is the step, or the sum of the ops if that is
 * longer than the step. */
static double part_pct(const struct picture *p, size_t row, size_t bar) {
    double sum = 0, whole = 100;
    for (size_t r = 0; r < p->matrix.n_rows; r++) {
        const struct pdnn_share *share = pdnn_share_matrix_at(&p->matrix, r, bar);
        double pct = share ? share->work.share_pct : 0;
        if (share && share->is_residual && pct < 0) {
            whole -= pct;
            continue;
        }
        if (p->parts[r].merged_into == row)
            sum += pct;
    }
    return sum / whole * 100;
}

static void put_parts(struct picture *p) {
    pdnn_str_printf(&p->script, "$parts << END\n");
    for (size_t b = 0; b < p->all.count; b++) {
        double low = 0, center = p->bars[b].center;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = part_pct(p, r, b);
            if (!(pct > 0))
                continue;
            pdnn_plot_number(&p->script, center - bar_part / 2, " ");
            pdnn_plot_number(&p->script, center + bar_part / 2, " ");
            pdnn_plot_number(&p->script, low, " ");
            pdnn_plot_number(&p->script, low + pct, " ");
            pdnn_str_printf(&p->script, "%u\n", p->parts[r].rgb);
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
            double pct = part_pct(p, r, b);
            if (pct >= least_pct && is_dark(p->parts[r].rgb) == dark) {
                pdnn_plot_number(&p->script, p->bars[b].center, " ");
                pdnn_plot_number(&p->script, low + pct / 2, " ");
                pdnn_str_printf(&p->script, "\"%.1f\"\n", pct);
            }
            low += fmax(pct, 0);
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

static void put_data(struct picture *p) {
    struct pdnn_csv_writer writer = {&p->data, false};
    static const char *const columns[] = {"id", "set", "step_ns", "part", "share_pct", NULL};
    int results = pdnn_csv_find(&p->selection.results, PDNN_SEVERAL_RESULTS);
    bool several = p->selection.n_directories > 1;
    if (several)
        pdnn_csv_put_text(&writer, PDNN_SEVERAL_RESULTS);
    pdnn_csv_put_header(&writer, columns);
    for (size_t b = 0; b < p->all.count; b++) {
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            double pct = part_pct(p, r, b);
            if (!(pct > 0))
                continue;
            if (several)
                pdnn_csv_put_text(&writer, pdnn_selection_get(&p->selection, p->all.at[b], results));
            pdnn_csv_put_text(&writer, pdnn_selection_get(&p->selection, p->all.at[b], p->selection.id));
            pdnn_csv_put_u64(&writer, p->set_of[b] + 1);
            pdnn_csv_put_number(&writer, pdnn_selection_step_ns(&p->selection, p->all.at[b]),
                                PDNN_DIGITS_TABLE);
            pdnn_csv_put_text(&writer, p->parts[r].name);
            pdnn_csv_put_number(&writer, pct, PDNN_DIGITS_TABLE);
            pdnn_csv_end_row(&writer);
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

/* Moves a text into the arena; NULL if out of memory. */
static const char *keep(struct picture *p, struct pdnn_str *text) {
    const char *kept = text->failed ? NULL : pdnn_arena_strdup(&p->arena, pdnn_str_text(text));
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
    p->script.failed = p->script.failed || caption.failed || usual.failed;
    pdnn_str_finish(&caption);
    pdnn_str_finish(&usual);
    return y + caption_gap;
}

/* Without axes, bars are named by all keys that differ, unless those are too many. */
static void choose_names(struct picture *p) {
    p->named = p->axes;
    for (int column = p->selection.family; column < p->selection.end_key && !p->axes.count; column++) {
        if (!pdnn_selection_varies(&p->selection, column) || pdnn_selection_follows(&p->selection, column))
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
static bool name_bars(struct picture *p) {
    bool good = true;
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
        good = good && p->bars[b].text;
    }
    for (size_t set = 0; set < p->n_sets; set++) {
        struct pdnn_str text = {0};
        if (p->axes.count)
            pdnn_selection_where(&p->selection, p->sets[set].at[0], &p->axes, &text);
        p->set_names[set].pixels = slot * ((double)p->sets[set].count + gap) * 0.96;
        p->set_names[set].text = keep(p, &text);
        good = good && p->set_names[set].text;
    }
    return good;
}

/* Names without their keys, which one line below gives in the same order: for where whole ones would be cut.
 */
static bool name_by_values(struct picture *p, struct pdnn_bar_names *names, const char **keys) {
    struct pdnn_str text = {0};
    bool good = true;
    for (size_t b = 0; b < p->all.count; b++) {
        pdnn_selection_varying_values(&p->selection, p->all.at[b], &text);
        p->bars[b].text = keep(p, &text);
        good = good && p->bars[b].text;
    }
    pdnn_selection_varying_names(&p->selection, &text);
    *keys = keep(p, &text);
    *names = (struct pdnn_bar_names){.bar = p->bars, .n_bars = p->all.count, .upright_most = VALUES_MOST};
    if (good && *keys)
        pdnn_bar_names_arrange(names);
    return good && *keys;
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
    p->script.failed = p->script.failed || unused.failed;
    pdnn_str_finish(&unused);
}

static bool put_names(struct picture *p) {
    struct pdnn_str axis = {0};
    if (!name_bars(p))
        return false;
    if (p->named.count)
        pdnn_selection_names(&p->selection, &p->named, &axis);
    const char *keys = keep(p, &axis);
    if (!keys)
        return false;
    struct pdnn_bar_names names = {.bar = p->bars,
                                   .set = p->set_names,
                                   .set_of = p->set_of,
                                   .n_bars = p->all.count,
                                   .n_sets = p->n_sets};
    pdnn_bar_names_arrange(&names);
    bool by_values = names.cut;
    if (by_values && !name_by_values(p, &names, &keys))
        return false;
    place_names(p, &names, keys, by_values);
    return true;
}

/* Whether the part is in the legend: the residual only where it is seen. */
static bool has_entry(const struct picture *p, size_t row) {
    bool shown = p->parts[row].merged_into == row && !p->matrix.row[row].is_residual;
    for (size_t b = 0; b < p->all.count && p->matrix.row[row].is_residual; b++)
        shown = shown || part_pct(p, row, b) > 0;
    return shown;
}

/* The number of entries that stand for more time than this one, over all bars. */
static size_t count_longer(const struct picture *p, size_t row) {
    size_t longer = 0;
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        longer += has_entry(p, r) && p->matrix.row[r].work.time_ns > p->matrix.row[row].work.time_ns;
    return longer;
}

static void put_entry(struct pdnn_str *entries, size_t number, const char *text, unsigned rgb) {
    char name[32];
    snprintf(name, sizeof name, "PART[%zu]", number);
    pdnn_gnuplot_text(entries, name, text);
    pdnn_str_printf(entries, "PART_COLOR[%zu] = %u\n", number, rgb);
}

/* From the top part down, as the bars show them; a long legend has the largest parts and the number of the
 * others. */
static void put_legend(struct picture *p) {
    size_t count = 0, all = 0;
    struct pdnn_str entries = {0};
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        all += has_entry(p, r);
    for (size_t r = p->matrix.n_rows; r-- > 0;) {
        char text[NAME_TEXT];
        bool fits = all <= LEGEND_MOST || count_longer(p, r) < LEGEND_MOST - 1;
        if (has_entry(p, r) && fits && count < LEGEND_MOST)
            put_entry(&entries, ++count, legend_name(&p->parts[r], text), p->parts[r].rgb);
    }
    if (count < all) {
        char text[NAME_TEXT];
        snprintf(text, sizeof text, "and %zu more", all - count);
        put_entry(&entries, ++count, text, white_rgb);
    }
    pdnn_str_printf(&p->script, "N_PARTS = %zu\narray PART[%zu]\narray PART_COLOR[%zu]\n", count, count,
                    count);
    pdnn_str_append(&p->script, pdnn_str_text(&entries), entries.length);
    p->script.failed = p->script.failed || entries.failed;
    pdnn_str_finish(&entries);
}

static enum pdnn_status write_script(struct picture *p, struct pdnn_err *err) {
    p->parts = pdnn_arena_alloc(&p->arena, p->matrix.n_rows + 1, sizeof *p->parts);
    if (p->parts) {
        choose_colors(p);
        choose_columns(p);
    }
    if (!p->parts || !put_names(p))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
    pdnn_plot_titles(&p->script, "Where the time goes in", &p->selection);
    const struct {
        const char *name;
        double value;
    } variables[] = {{"WIDTH", p->width},   {"HEIGHT", p->height}, {"LEFT", left},
                     {"RIGHT", p->right},   {"TOP", p->top},       {"BOTTOM", p->bottom},
                     {"AXIS_Y", p->axis_y}, {"XMIN", p->xmin},     {"XMAX", p->xmax}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pdnn_plot_variable(&p->script, variables[i].name, variables[i].value);
    put_legend(p);
    put_parts(p);
    put_numbers(p, "light", false);
    put_numbers(p, "dark", true);
    put_times(p);
    put_data(p);
    return PDNN_OK;
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
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
        status = order_bars(&p, err);
    if (status == PDNN_OK)
        status = pdnn_share_matrix(&(struct pdnn_share_source){&p.selection, p.reader, &p.by, &p.arena},
                                   &p.all, &p.matrix, err);
    if (status == PDNN_OK)
        status = write_script(&p, err);
    if (status == PDNN_OK)
        status = pdnn_plot_write(
            request, &(struct pdnn_plot_parts){"breakdown", &p.script, pdnn_plot_script_breakdown, &p.data},
            &drawn, err);
    drawn.drawn = (int)p.all.count;
    drawn.left_out = (int)p.selection.left_out;
    pdnn_str_finish(&p.script);
    pdnn_str_finish(&p.data);
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
