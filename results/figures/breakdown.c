/* `paradnn plot breakdown`: one bar per instance, divided into where its time goes. Groups have the order and
 * the colors of results/query/op_groups.h. */
#include "base/units.h"
#include "results/figures/bars.h"
#include "results/figures/picture.h"
#include "results/query/shares.h"

#include <math.h>
#include <string.h>

enum { BARS_MAX = 60, LEGEND_MOST = 22 };

/* Wider where many bars and higher where long names need it. right_most: the frame's right edge if the
 * legend's names are short; narrow: where the legend is below; names_most: the length of an upright name
 * before sets are given up, values_most: before names say only what is unusual; most_pct: the frame's upper
 * end, so that times have room above bars; legend_part: the most of the picture that names of the legend
 * take; lightest: of a group's parts, which get lighter, so that none looks like the background. */
static const double right_most = 940, full_width = 1200, slot_least = 18, narrow_slot = 15, bars_least = 360,
                    narrow_right = 16, upright_time_pixels = 76, names_most = 320, values_most = 540,
                    legend_pixels = 74, number_pixels = 30, time_pixels = 62, most_pct = 106,
                    legend_part = 0.3, lightest = 0.8, legend_gap = 28;

enum { INK_RESIDUAL = 0xe6e6e6 };

/* What bars are divided into, a row of the matrix. */
struct part {
    const char *name;
    int ink;
    size_t merged_into; /* the row whose color it shares, or its own row */
    double *pct;    /* by bar, of it and those merged into it: of the step, or of the sum of the ops if that
                     * is longer */
    bool is_listed; /* has a part in the legend: the residual only where it is seen */
};

struct picture {
    struct pdnn_picture *in;
    struct pdnn_by_list by;
    struct pdnn_axes axes;           /* what orders the bars, if anything does */
    struct pdnn_series *sets, all;   /* by set, and all their members in order */
    struct pdnn_share_matrix matrix; /* columns are bars */
    struct part *part;               /* by row */
    struct pdnn_bars bars;
    const char **name;   /* by row of the results */
    bool by_usual;       /* names say only what is unusual, and the caption the rest */
    bool times_fit;      /* above bars; else they stand upright */
    struct pdnn_scale y; /* per cent */
};

static bool is_plain(const struct pdnn_share *row) {
    return !row->rgb && !row->is_residual;
}

/* The group's color, lighter for each row of it before this one. */
static int group_color(const struct pdnn_share *rows, size_t row) {
    const unsigned rgb = rows[row].rgb;
    double same = 0;
    int mixed = 0;
    for (size_t before = 0; before < row; before++)
        same += rows[before].rgb == rgb;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double value = (rgb >> shift) & 0xff;
        mixed |= (int)(value + (255 - value) * fmin(1 - pow(0.72, same), lightest)) << shift;
    }
    return mixed;
}

/* The number of rows like this one that take more time, over all bars. */
static size_t count_longer(const struct picture *p, size_t row, bool among_listed) {
    size_t longer = 0;
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        longer += (among_listed ? p->part[r].is_listed : is_plain(&p->matrix.row[r])) &&
                  p->matrix.row[r].work.time_ns > p->matrix.row[row].work.time_ns;
    return longer;
}

/* Groups have their own colors, and parts of one group get lighter shades of it. Otherwise the largest rows
 * get a color each, and the rest become one grey part. */
static void choose_parts(struct picture *p) {
    const struct pdnn_share_matrix *matrix = &p->matrix;
    size_t n_plain = 0, taken = 0, grey = matrix->n_rows;
    p->part = pdnn_arena_alloc(&p->in->arena, matrix->n_rows + 1, sizeof *p->part);
    for (size_t r = 0; r < matrix->n_rows; r++)
        n_plain += is_plain(&matrix->row[r]);
    size_t own = n_plain <= PDNN_PLOT_COLORS ? n_plain : PDNN_PLOT_COLORS - 1;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const struct pdnn_share *row = &matrix->row[r];
        struct part *part = &p->part[r];
        struct pdnn_str name = {0};
        for (size_t k = 0; k < p->by.count; k++)
            if (*row->key[p->by.by[k]])
                pdnn_str_printf(&name, "%s%s", name.length ? ", " : "", row->key[p->by.by[k]]);
        *part = (struct part){pdnn_plot_keep(&p->in->arena, &name), INK_RESIDUAL, r,
                              pdnn_arena_alloc(&p->in->arena, matrix->n_columns, sizeof *part->pct), false};
        if (row->rgb) {
            part->ink = group_color(matrix->row, r);
        } else if (is_plain(row) && count_longer(p, r, false) < own && taken < own) {
            part->ink = pdnn_plot_distinct_color[taken++];
        } else if (is_plain(row)) {
            grey = grey < r ? grey : r;
            part->ink = PDNN_INK_OTHERS;
            part->merged_into = grey;
            p->part[grey].name = pdnn_arena_printf(&p->in->arena, "%zu others", n_plain - own);
        }
    }
}

static void add_shares(struct picture *p) {
    for (size_t b = 0; b < p->matrix.n_columns; b++) {
        double whole = 1;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            const struct pdnn_share *share = p->matrix.cell[r * p->matrix.n_columns + b];
            const double pct = share ? share->work.share_pct : 0;
            if (share && share->is_residual && pct < 0)
                whole -= pct / 100;
            else
                p->part[p->part[r].merged_into].pct[b] += pct;
        }
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            struct part *part = &p->part[r];
            part->pct[b] /= whole;
            part->is_listed =
                part->is_listed || (p->matrix.row[r].is_residual ? part->pct[b] > 0 : part->merged_into == r);
        }
    }
}

/* From the top part down, as the bars show them; a long legend has the largest parts and the number of the
 * others. */
static void list_parts(const struct picture *p) {
    size_t all = 0;
    for (size_t r = 0; r < p->matrix.n_rows; r++)
        all += p->part[r].is_listed;
    for (size_t r = p->matrix.n_rows; r-- > 0;) {
        const bool fits = all <= LEGEND_MOST || count_longer(p, r, true) < LEGEND_MOST - 1;
        if (p->part[r].is_listed && fits && p->in->legend.count < LEGEND_MOST)
            pdnn_entries_add(&p->in->legend, p->part[r].name, pdnn_swatch(p->part[r].ink));
    }
    const size_t more = all - p->in->legend.count;
    if (more)
        pdnn_entries_add(&p->in->legend, pdnn_arena_printf(&p->in->arena, "and %zu more", more),
                         pdnn_swatch(PDNN_INK_WHITE));
}

static enum pdnn_status find_sets(struct picture *p, struct pdnn_err *err) {
    const char *across = p->in->request->across;
    const size_t count = p->in->selection.count;
    struct pdnn_arena *arena = &p->in->arena;
    if (across && pdnn_axes_parse(&p->in->selection, across, &p->axes, err) != PDNN_OK)
        return err->status;
    if (!count)
        return pdnn_fail(err, PDNN_INVALID, "results.csv: no instance that ended ok");
    if (count > BARS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%zu bars are more than %d: choose some with --only", count,
                         BARS_MAX);
    p->all = (struct pdnn_series){pdnn_arena_alloc(arena, count, sizeof *p->all.at), count};
    p->bars.n_bars = count;
    p->bars.bar = pdnn_arena_alloc(arena, count, sizeof *p->bars.bar);
    for (size_t b = 0; b < count; b++)
        p->all.at[b] = b;
    if (across)
        pdnn_selection_series(&p->in->selection, &p->axes, arena, &p->sets, &p->bars.n_sets);
    p->bars.set = pdnn_arena_alloc(arena, p->bars.n_sets, sizeof *p->bars.set);
    for (size_t set = 0, b = 0; set < p->bars.n_sets; set++)
        for (size_t i = 0; i < p->sets[set].count; i++, b++) {
            p->bars.bar[b].set = set;
            p->all.at[b] = p->sets[set].at[i];
        }
    return PDNN_OK;
}

/* The parts, with percentages in those that have room for them. A thin white line separates parts of similar
 * color. */
static void draw_bars(struct picture *p) {
    const double half = p->bars.part / 2;
    const bool fits = pdnn_bars_slot_pixels(&p->bars) * p->bars.part >= number_pixels;
    for (size_t b = 0; b < p->bars.n_bars; b++) {
        const double center = p->bars.bar[b].center;
        const size_t at = p->all.at[b];
        double low = 0;
        for (size_t r = 0; r < p->matrix.n_rows; r++) {
            const double pct = p->part[r].pct[b];
            const struct pdnn_pen pen = {p->part[r].ink, PDNN_INK_WHITE, 0.4, 0};
            struct pdnn_font font = pdnn_small_middle;
            if (!(pct > 0))
                continue;
            const double y = pdnn_scale_at(&p->y, low), top = pdnn_scale_at(&p->y, low + pct);
            pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->bars.x, center - half), y,
                          pdnn_scale_at(&p->bars.x, center + half), top, pen);
            font.ink = pdnn_ink_on(pen.fill);
            if (fits && top - y >= PDNN_FONT_SMALL + 3)
                pdnn_draw_text(&p->in->canvas, pdnn_scale_at(&p->bars.x, center), (y + top) / 2, font,
                               pdnn_arena_printf(&p->in->arena, "%.1f", pct));
            low += pct;
            pdnn_table_set_text(&p->in->data, pdnn_table_add_row(&p->in->data), 0,
                                pdnn_selection_get(&p->in->selection, at, p->in->selection.results.results));
            pdnn_picture_fill(p->in, p->in->request->n_directories > 1, pdnn_picture_id(p->in, at),
                              p->bars.bar[b].set + 1, pdnn_selection_step_ns(&p->in->selection, at),
                              p->part[r].name, pct);
        }
    }
}

static void draw_times(struct picture *p) {
    struct pdnn_font font = p->times_fit ? pdnn_small_middle : pdnn_small;
    font.degrees = p->times_fit ? 0 : 90;
    for (size_t b = 0; b < p->bars.n_bars; b++) {
        char time[PDNN_UNIT_TEXT];
        const size_t at = p->all.at[b];
        pdnn_draw_text(
            &p->in->canvas, pdnn_scale_at(&p->bars.x, p->bars.bar[b].center),
            pdnn_scale_at(&p->y, p->times_fit ? 103 : 102), font,
            pdnn_arena_printf(&p->in->arena, "%s%s",
                              pdnn_selection_extrapolated(&p->in->selection, at) ? "~" : "",
                              pdnn_format_ns(time, pdnn_selection_step_ns(&p->in->selection, at))));
    }
}

static const char *caption_of(struct picture *p) {
    bool any = false;
    for (size_t b = 0; b < p->bars.n_bars; b++)
        any = any || pdnn_selection_extrapolated(&p->in->selection, p->all.at[b]);
    struct pdnn_str text = {0};
    pdnn_str_printf(&text,
                    "A bar is one step of a model by the time of its ops; above it is the time of the "
                    "step%s; residual: time in no op",
                    any ? " (~ extrapolated)" : "");
    return p->axes.count || p->by_usual ? pdnn_plot_caption(&p->in->arena, &text, &p->in->selection, &p->axes,
                                                            "unless stated otherwise")
                                        : pdnn_plot_keep(&p->in->arena, &text);
}

/* "the usual values", or the preset that has them. */
static const char *name_usual(const struct picture *p) {
    struct pdnn_str text = {0};
    pdnn_selection_where(&p->in->selection, SIZE_MAX, &p->axes, &text);
    const char *all = pdnn_plot_keep(&p->in->arena, &text),
               *first = pdnn_arena_printf(&p->in->arena, "%.*s", (int)strcspn(all, ","), all);
    return *first && !strchr(first, '=') ? first : "the usual values";
}

/* Bars are named by their values of the axes, and sets by what else differs; or bars by the keys that tell
 * them apart. Returns the title of the axis, which says the keys that names do not. */
static const char *name_bars(struct picture *p) {
    const struct pdnn_selection *selection = &p->in->selection;
    const bool several = selection->results.n_directories > 1;
    const char *title = "";
    for (size_t b = 0; b <= p->bars.n_bars; b++) {
        const size_t at = b < p->bars.n_bars ? p->all.at[b] : SIZE_MAX;
        struct pdnn_str text = {0};
        if (p->axes.count)
            pdnn_selection_values(selection, at, &p->axes, &text);
        else if (at != SIZE_MAX && p->by_usual)
            pdnn_selection_where(selection, at, &p->axes, &text);
        else if (at != SIZE_MAX)
            pdnn_str_printf(&text, "%s%s%s", p->name[selection->row[at]], several ? "," : "",
                            several ? selection->results.name[pdnn_selection_source(selection, at)] : "");
        if (p->by_usual && at != SIZE_MAX && !text.length)
            pdnn_str_printf(&text, "%s", name_usual(p));
        *(b < p->bars.n_bars ? &p->bars.bar[b].text : &title) = pdnn_plot_keep(&p->in->arena, &text);
    }
    for (size_t set = 0; set < p->bars.n_sets; set++) {
        struct pdnn_str text = {0};
        pdnn_selection_where(selection, p->sets[set].at[0], &p->axes, &text);
        p->bars.set[set] = pdnn_plot_keep(&p->in->arena, &text);
    }
    return title;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const char *by = picture->request->by;
    struct picture p = {.in = picture};
    struct pdnn_canvas *canvas = &picture->canvas;
    if (pdnn_by_parse(by ? by : "group", &p.by, err) != PDNN_OK || find_sets(&p, err) != PDNN_OK)
        return err->status;
    p.name = pdnn_selection_names(&picture->selection, &picture->arena);
    p.matrix = pdnn_share_matrix(&picture->selection, picture->ops, &p.by, &p.all, &picture->arena);
    choose_parts(&p);
    add_shares(&p);
    list_parts(&p);
    const double width = canvas->width,
                 names = fmin(pdnn_entries_width(&picture->legend), legend_part * width),
                 beside_it = fmin(right_most - full_width + width, width - legend_pixels - names),
                 taken = PDNN_BARS_LEFT + slot_least * (double)(p.bars.n_bars + p.bars.n_sets);
    const bool beside = width >= PDNN_WIDE_ENOUGH && (!picture->request->width || taken <= beside_it);
    const double right = beside ? beside_it : width - narrow_right,
                 foot = 8 + (beside ? 0 : pdnn_entries_draw_below(&picture->legend, 8, canvas));
    p.bars.canvas = canvas;
    p.bars.part = 0.7;
    pdnn_bars_place(&p.bars, right, beside ? slot_least : narrow_slot);
    canvas->width = width + p.bars.x.to - right;
    const char *title = name_bars(&p);
    if (pdnn_bars_are_long(&p.bars, names_most)) {
        p.axes.count = p.bars.n_sets = 0;
        title = name_bars(&p);
    }
    p.by_usual = pdnn_bars_are_long(&p.bars, values_most);
    if (p.by_usual)
        title = name_bars(&p);
    p.times_fit = pdnn_bars_slot_pixels(&p.bars) >= time_pixels;
    const double bottom = pdnn_bars_put(&p.bars, foot, caption_of(&p), title),
                 above = PDNN_BARS_ABOVE + (p.times_fit ? 0 : upright_time_pixels);
    canvas->height = fmax(canvas->height, bottom + bars_least + above);
    if (beside)
        canvas->height = fmax(
            canvas->height, above + pdnn_entries_height(&picture->legend, canvas->width - p.bars.x.to -
                                                                              legend_gap - PDNN_LEGEND_EDGE));
    p.y = (struct pdnn_scale){.high = most_pct, .from = bottom, .to = canvas->height - above};
    const struct pdnn_scale whole = {.high = 100, .from = bottom, .to = pdnn_scale_at(&p.y, 100)};
    pdnn_put_titles(canvas, PDNN_BARS_LEFT,
                    pdnn_plot_titles(&picture->arena, "Where the time goes in", &picture->selection, NULL));
    pdnn_draw_frame(
        canvas, &(struct pdnn_frame_axis){.scale = p.bars.x, .bare = true},
        &(struct pdnn_frame_axis){
            .scale = whole, .title = "share of a step's time (%)", .grid = true, .title_low = foot - 8});
    if (beside)
        pdnn_entries_draw(&picture->legend, canvas, p.bars.x.to + legend_gap, p.y.to - 6);
    pdnn_picture_table(picture, picture->request->n_directories > 1 ? PDNN_RESULTS_KEY
                                    " id +set #step_ns part #share_pct"
                                                                    : "id +set #step_ns part #share_pct");
    draw_bars(&p);
    draw_times(&p);
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
    .no_range = {"has names", "is a whole step"},
    .of = PDNN_PLOT_ROWS,
    .reads_ops = true,
    .draw = draw,
};
