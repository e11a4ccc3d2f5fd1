/* `paradnn plot ceilings`: ceilings.csv as pictures. A row of two panels per directory, thread count and
 * state: bandwidth against working set, where each level was found to end, and the roofs taken from it; and
 * arithmetic by dtype and kernel as bars. */
#include "base/texts.h"
#include "base/units.h"
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* To the left of the panels. */
static const double margin = 84;

/* A level of one thread count, in order of capacity. */
struct level {
    const char *name;
    double capacity_bytes, reported_bytes; /* INFINITY: DRAM; 0: not reported */
    double gbs;                            /* the best of the patterns */
};

/* The roofs of one directory on one number of threads, in one state of their distance. */
struct machine {
    const char *name; /* of the directory */
    int64_t threads;
    const char *state;
    const struct pdnn_roof_rows *of; /* all of the directory */
    struct level *level;             /* of the panel of bandwidths */
    size_t n_levels;
    const struct pdnn_roof_row **bar; /* of the other panel, from the top: by dtype, then as in the file */
    size_t n_bars;
};

struct picture {
    struct pdnn_picture *in;
    struct machine *machine; /* n_machines of them */
    size_t n_machines, room;
    struct pdnn_texts dtypes, patterns, plain; /* plain: without the kind of store; each has a color */
    struct pdnn_scale x, y;                    /* of all panels of bandwidths, without their places */
};

/* The machine's next row of this kind behind this one, or for NULL its first; NULL if there is none. */
static const struct pdnn_roof_row *next_row(const struct machine *m, const char *kind,
                                            const struct pdnn_roof_row *row) {
    for (row = row ? row + 1 : m->of->row; row < m->of->row + m->of->count; row++)
        if (row->threads == m->threads && strcmp(row->state, m->state) == 0 && strcmp(row->kind, kind) == 0)
            return row;
    return NULL;
}

/* Adds the directory's rows that are drawn, each to its machine. */
static enum pdnn_status add_directory(struct picture *p, const char *directory, struct pdnn_err *err) {
    const char *name = pdnn_plot_directory(&p->in->arena, directory);
    const size_t drawn = p->in->drawn, first = p->n_machines;
    struct pdnn_roof_rows *read = pdnn_arena_alloc(&p->in->arena, 1, sizeof *read);
    if (pdnn_roof_rows_read_in(directory, read, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0, m = first; i < read->count; i++, m = first) {
        const struct pdnn_roof_row *row = &read->row[i];
        const bool is_compute = strcmp(row->kind, "compute") == 0;
        if (row->threads < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s/ceilings.csv: %" PRId64 " is not a number of threads",
                             directory, row->threads);
        if (!is_compute && strcmp(row->kind, "bandwidth") != 0 && strcmp(row->kind, "ladder") != 0)
            continue;
        while (m < p->n_machines &&
               (p->machine[m].threads != row->threads || strcmp(p->machine[m].state, row->state) != 0))
            m++;
        if (m == p->n_machines) {
            p->machine = pdnn_arena_grow(&p->in->arena, p->machine, &p->room, m, sizeof *p->machine);
            p->machine[p->n_machines++] =
                (struct machine){.name = name, .threads = row->threads, .state = row->state, .of = read};
        }
        if (is_compute)
            pdnn_texts_add(&p->dtypes, row->dtype);
        pdnn_roof_rows_add(row, &p->in->data);
        pdnn_table_set_text(&p->in->data, p->in->drawn++, PDNN_ROOF_ROWS_COLUMNS, name);
    }
    p->in->left_out += read->count - (p->in->drawn - drawn);
    return p->in->drawn > drawn
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s/ceilings.csv: no row is compute, bandwidth or ladder",
                           directory);
}

/* The rows that are drawn, as ceilings.csv has them; the column `results` comes first where there are several
 * directories. */
static enum pdnn_status read_roof_rows(struct picture *p, struct pdnn_err *err) {
    const bool several = p->in->request->n_directories > 1;
    pdnn_table_init(&p->in->data, &pdnn_ceilings_def);
    pdnn_table_add_column(&p->in->data, &(struct pdnn_column_def){.name = PDNN_RESULTS_KEY});
    for (size_t d = 0; d < p->in->request->n_directories; d++)
        if (add_directory(p, p->in->request->directory[d], err) != PDNN_OK)
            return err->status;
    size_t *columns = pdnn_arena_alloc(&p->in->arena, PDNN_ROOF_ROWS_COLUMNS + 1, sizeof *columns);
    columns[0] = PDNN_ROOF_ROWS_COLUMNS;
    for (size_t i = 0; i < PDNN_ROOF_ROWS_COLUMNS; i++)
        columns[i + several] = i;
    p->in->columns = columns;
    p->in->n_columns = PDNN_ROOF_ROWS_COLUMNS + several;
    return PDNN_OK;
}

/* The number of the pattern without its kind of store. */
static size_t plain_of(struct picture *p, const char *pattern) {
    return pdnn_texts_add(&p->plain,
                          pdnn_arena_printf(&p->in->arena, "%.*s", (int)strcspn(pattern, "-"), pattern));
}

static int ink_of(size_t number) {
    return number < PDNN_PLOT_COLORS ? pdnn_plot_distinct_color[number] : PDNN_INK_OTHERS;
}

/* Lines are in the color of the pattern; those with streaming stores are dashed. */
static struct pdnn_pen pen_of(struct picture *p, const char *pattern) {
    struct pdnn_pen pen = pdnn_pen_line(ink_of(plain_of(p, pattern)), 1.8);
    pen.dash = strchr(pattern, '-') ? 4 : 0;
    return pen;
}

/* The level's place, or n_levels. */
static size_t level_of(const struct machine *m, const char *name) {
    size_t at = 0;
    while (at < m->n_levels && strcmp(m->level[at].name, name) != 0)
        at++;
    return at;
}

static void collect(struct picture *p, struct machine *m) {
    m->level = pdnn_arena_alloc(&p->in->arena, m->of->count, sizeof *m->level);
    m->bar = pdnn_arena_alloc(&p->in->arena, m->of->count, sizeof *m->bar);
    for (const struct pdnn_roof_row *row = NULL; (row = next_row(m, "bandwidth", row));) {
        const double capacity = row->capacity_bytes ? (double)row->capacity_bytes : INFINITY,
                     reported = row->reported_bytes == PDNN_ABSENT ? 0 : (double)row->reported_bytes;
        size_t at = level_of(m, row->level);
        if (at == m->n_levels) {
            for (m->n_levels++; at > 0 && m->level[at - 1].capacity_bytes > capacity; at--)
                m->level[at] = m->level[at - 1];
            m->level[at] = (struct level){row->level, capacity, reported, 0};
        }
        m->level[at].gbs = fmax(m->level[at].gbs, row->value);
    }
    for (size_t d = 0; d < p->dtypes.count; d++)
        for (const struct pdnn_roof_row *row = NULL; (row = next_row(m, "compute", row));)
            if (strcmp(row->dtype, p->dtypes.text[d]) == 0)
                m->bar[m->n_bars++] = row;
}

/* The patterns, the roofs' first, so that each has a color of its own; and the ranges of all panels. Without
 * a ladder there is room on both sides of the capacities. */
static void collect_patterns(struct picture *p) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    bool has_ladder = false;
    for (int ladder = 0; ladder < 2; ladder++)
        for (size_t m = 0; m < p->n_machines; m++)
            for (const struct pdnn_roof_row *row = NULL;
                 (row = next_row(&p->machine[m], ladder ? "ladder" : "bandwidth", row));) {
                const double number[] = {(double)row->capacity_bytes, row->value};
                pdnn_texts_add(&p->patterns, row->pattern);
                has_ladder |= ladder;
                for (int k = 0; k < 2; k++) {
                    low[k] = number[k] > 0 ? fmin(low[k], number[k]) : low[k];
                    high[k] = fmax(high[k], number[k]);
                }
            }
    if (!(high[0] > 0))
        low[0] = high[0] = 1 << 20;
    if (!(high[1] > 0))
        low[1] = high[1] = 1;
    p->x = (struct pdnn_scale){
        .low = low[0] / (has_ladder ? 1.2 : 6), .high = high[0] * (has_ladder ? 1.2 : 16), .base = 2};
    p->y = (struct pdnn_scale){.low = low[1] / 1.2, .high = high[1] * 1.2, .base = 10};
}

/* The middle of the level's working sets, on a logarithmic axis. */
static double middle_of(const struct picture *p, const struct machine *m, size_t at) {
    double low = at ? m->level[at - 1].capacity_bytes : p->x.low;
    return sqrt(fmax(low, p->x.low) * fmin(m->level[at].capacity_bytes, p->x.high));
}

/* Where the roof stands: at the working set that it was taken from, if the file has it. */
static double place_of(struct picture *p, const struct machine *m, const struct pdnn_roof_row *roof) {
    for (const struct pdnn_roof_row *row = NULL; (row = next_row(m, "ladder", row));)
        if (row->value == roof->value && strcmp(row->level, roof->level) == 0 &&
            plain_of(p, row->pattern) == plain_of(p, roof->pattern))
            return (double)row->capacity_bytes;
    return middle_of(p, m, level_of(m, roof->level));
}

static void draw_patterns(struct picture *p, const struct machine *m) {
    struct pdnn_canvas *canvas = &p->in->canvas;
    struct pdnn_spot *spots = pdnn_arena_alloc(&p->in->arena, m->of->count, sizeof *spots);
    for (size_t k = 0; k < p->patterns.count; k++) {
        const struct pdnn_pen pen = pen_of(p, p->patterns.text[k]);
        size_t count = 0;
        for (const struct pdnn_roof_row *row = NULL; (row = next_row(m, "ladder", row));)
            if (strcmp(row->pattern, p->patterns.text[k]) == 0)
                spots[count++] = (struct pdnn_spot){pdnn_scale_at(&p->x, (double)row->capacity_bytes),
                                                    pdnn_scale_at(&p->y, row->value)};
        if (!count)
            continue;
        pdnn_draw_path(canvas, spots, count, false, pen);
        pdnn_draw_points(canvas, spots, NULL, count,
                         (struct pdnn_mark){PDNN_CIRCLE, 2, pdnn_pen_fill(pen.line), false});
    }
    for (const struct pdnn_roof_row *row = NULL; (row = next_row(m, "bandwidth", row));)
        pdnn_draw_point(
            canvas, pdnn_scale_at(&p->x, place_of(p, m, row)), pdnn_scale_at(&p->y, row->value),
            (struct pdnn_mark){PDNN_CIRCLE, 6, pdnn_pen_line(pen_of(p, row->pattern).line, 2), false});
}

/* Where each level ends: as found, and dashed as reported. */
static void draw_ends(struct picture *p, const struct machine *m) {
    for (size_t i = 0; i < m->n_levels; i++) {
        const double size[] = {m->level[i].capacity_bytes, m->level[i].reported_bytes};
        for (int reported = 0; reported < 2 && !isinf(size[0]); reported++) {
            const struct pdnn_pen pen = {PDNN_NO_INK, reported ? 0x777777 : PDNN_INK_TEXT, 1.4,
                                         reported ? 5 : 0};
            const double x = pdnn_scale_at(&p->x, size[reported]);
            if (size[reported] > 0 && x >= p->x.from && x <= p->x.to)
                pdnn_draw_line(&p->in->canvas, x, p->y.from, x, p->y.to, pen);
        }
    }
}

enum { NAME_LINES = 3 };
struct name {
    const char *line[NAME_LINES];
    double x, half; /* the middle, and half of the width */
};

/* The level and its best roof, what it was found to hold, what the host reports; short: its name and the roof
 * alone. */
static struct name name_level(struct pdnn_arena *arena, const struct level *level, bool is_short) {
    char size[PDNN_UNIT_TEXT];
    const double holds = level->capacity_bytes, reported = level->reported_bytes;
    const char *gbs = pdnn_arena_printf(arena, "%s GB/s", pdnn_plot_number(arena, level->gbs, 3));
    struct name name = {.line = {level->name, gbs, ""}};
    if (!is_short) {
        name.line[0] = pdnn_arena_printf(arena, "%s: %s", level->name, gbs);
        name.line[1] =
            isinf(holds) ? "" : pdnn_arena_printf(arena, "holds %s", pdnn_format_bytes(size, holds));
        name.line[2] =
            reported > 0 ? pdnn_arena_printf(arena, "reported %s", pdnn_format_bytes(size, reported)) : "";
    }
    for (size_t k = 0; k < NAME_LINES; k++)
        name.half = fmax(name.half, pdnn_text_width(name.line[k], PDNN_FONT_SMALL) / 2);
    return name;
}

/* Names stand above the middle of their levels, apart from each other, and within the frame. */
static void draw_names(struct picture *p, const struct machine *m) {
    static const double apart = 14, line_height = 17, above = 12;
    struct pdnn_arena *arena = &p->in->arena;
    struct name *name = pdnn_arena_alloc(arena, m->n_levels + 1, sizeof *name);
    double edge = p->x.from - apart, all = 0;
    for (size_t i = 0; i < m->n_levels; i++)
        all += 2 * name_level(arena, &m->level[i], false).half + apart;
    for (size_t i = 0; i < m->n_levels; i++) {
        name[i] = name_level(arena, &m->level[i], all > p->x.to - p->x.from);
        name[i].x = fmax(pdnn_scale_at(&p->x, middle_of(p, m, i)), edge + apart + name[i].half);
        edge = name[i].x + name[i].half;
    }
    edge = p->x.to + apart;
    for (size_t i = m->n_levels; i-- > 0; edge = name[i].x - name[i].half) {
        name[i].x = fmin(name[i].x, edge - apart - name[i].half);
        for (size_t k = 0; k < NAME_LINES; k++)
            pdnn_draw_text(&p->in->canvas, name[i].x,
                           p->y.to + above + line_height * (double)(NAME_LINES - 1 - k), pdnn_small_middle,
                           name[i].line[k]);
    }
}

/* "bf16  gemm-onednn" */
static const char *name_bar(struct picture *p, const struct pdnn_roof_row *bar) {
    return pdnn_arena_printf(&p->in->arena, "%s  %s", bar->dtype, bar->pattern);
}

/* A bar goes to the value; the line on it from the least to the greatest repetition. */
static void draw_bars(struct picture *p, const struct machine *m, struct pdnn_scale x, double bottom,
                      double top) {
    static const double part = 0.72;
    struct pdnn_canvas *canvas = &p->in->canvas;
    double most = 0, step = (top - bottom) / fmax((double)m->n_bars, 1);
    for (size_t i = 0; i < m->n_bars; i++)
        most = fmax(most, fmax(m->bar[i]->value, m->bar[i]->high));
    x.high = most > 0 ? most * 1.22 : 1;
    pdnn_draw_level(canvas,
                    &(struct pdnn_frame_axis){.scale = x, .title = "arithmetic (GFLOP/s)", .grid = true},
                    bottom, top);
    pdnn_draw_line(canvas, x.from, bottom, x.from, top, pdnn_pen_line(PDNN_INK_SOFT, 1));
    for (size_t i = 0; i < m->n_bars; i++) {
        const struct pdnn_roof_row *bar = m->bar[i];
        const double y = top - ((double)i + 0.5) * step, half = part * step / 2,
                     end = pdnn_scale_at(&x, bar->value);
        pdnn_draw_box(canvas, x.from, y - half, end, y + half,
                      pdnn_pen_fill(ink_of(pdnn_texts_find(&p->dtypes, bar->dtype))));
        pdnn_draw_interval(canvas, &x, bar->low, bar->high, y, 1);
        pdnn_draw_text(canvas, fmax(pdnn_scale_at(&x, bar->high), end) + 7, y, pdnn_small,
                       pdnn_plot_number(&p->in->arena, bar->value, 3));
        pdnn_draw_text(canvas, x.from - 8, y, pdnn_small_end, name_bar(p, bar));
    }
}

/* What stands above a row of panels. */
static const char *name_machine(struct picture *p, const struct machine *m) {
    char time[PDNN_UNIT_TEXT] = "";
    const struct pdnn_roof_row *overhead = next_row(m, "overhead", NULL);
    const bool several = p->in->request->n_directories > 1, known = overhead && overhead->value > 0;
    return pdnn_arena_printf(&p->in->arena, "%s%s%" PRId64 " thread%s%s%s%s", several ? m->name : "",
                             several ? ", " : "", m->threads, m->threads == 1 ? "" : "s",
                             !*m->state                                 ? ""
                             : strcmp(m->state, PDNN_ROOF_ROW_FAR) == 0 ? " far apart"
                                                                        : " near each other",
                             known ? ": calling an operator takes " : "",
                             known ? pdnn_format_ns(time, overhead->value) : "");
}

/* The caption, and the patterns above it. Returns their height. */
static double draw_foot(struct picture *p, double x) {
    static const double y = 8;
    for (size_t i = 0; i < p->patterns.count; i++) {
        const char *pattern = p->patterns.text[i];
        const struct pdnn_pen pen = pen_of(p, pattern);
        pdnn_entries_add(&p->in->legend,
                         pen.dash > 0 ? pdnn_arena_printf(&p->in->arena, "%s (dashed)", pattern) : pattern,
                         pdnn_swatch(pen.line));
    }
    const double top =
        y +
        pdnn_draw_caption(
            &p->in->canvas, x, y,
            "Rings are the roofs. Solid lines: where a level was found to end; dashed: its reported size. "
            "Lines on bars go from the least to the greatest repetition, or measurement.");
    return top + pdnn_entries_draw_below(&p->in->legend, top, &p->in->canvas);
}

/* Two panels for each machine, side by side or below each other; the names of bars stand to the left of the
 * second. */
static void describe(struct picture *p) {
    static const double side_by_side = 1000, panel_least = 280, bar_height = 24, head = 88, foot = 72,
                        title = 66, bars_part = 0.28, edge = 30, frame_least = 240, bars_least = 100;
    struct pdnn_canvas *canvas = &p->in->canvas;
    const struct pdnn_plot_request *request = p->in->request;
    struct pdnn_str cpu = {0};
    double longest = 0, panel = panel_least;
    for (size_t k = 0; k < p->n_machines; k++) {
        struct machine *m = &p->machine[k];
        collect(p, m);
        panel = fmax(panel, bar_height * (double)m->n_bars);
        for (size_t i = 0; i < m->n_bars; i++)
            longest = fmax(longest, pdnn_text_width(name_bar(p, m->bar[i]), PDNN_FONT_SMALL));
    }
    collect_patterns(p);
    const double beside = (1 - bars_part) * canvas->width - edge, end = beside - longest - 40;
    const bool wide = canvas->width >= side_by_side && end - margin >= frame_least;
    if (!wide)
        canvas->width = fmax(canvas->width, longest + 20 + bars_least + edge);
    const double pair = head + panel + foot, right = canvas->width - edge,
                 row = wide ? pair : pair + panel + foot;
    const struct pdnn_scale bars = {.from = wide ? beside : longest + 20, .to = right};
    p->x.from = margin;
    p->x.to = wide ? end : right;
    canvas->height = title + (double)p->n_machines * row + draw_foot(p, wide ? margin : 16);
    if (request->n_directories == 1)
        pdnn_environment_get(request->directory[0], "cpu", &cpu);
    const char *text =
        pdnn_arena_printf(&p->in->arena, "Roofs of %s%s%s",
                          pdnn_plot_directories(&p->in->arena, request->directory, request->n_directories),
                          cpu.length ? ": " : "", pdnn_str_text(&cpu));
    const double below_title = canvas->height - title;
    pdnn_put_titles(canvas, margin, (struct pdnn_titles){text, NULL});
    pdnn_str_finish(&cpu);
    for (size_t k = 0; k < p->n_machines; k++) {
        const struct machine *m = &p->machine[k];
        const double top = below_title - (double)k * row, bars_top = wide ? top - head : top - pair;
        pdnn_draw_text(canvas, margin, top - 8, (struct pdnn_font){PDNN_FONT, PDNN_INK_SOFT, PDNN_START, 0},
                       name_machine(p, m));
        p->y.to = top - head;
        p->y.from = p->y.to - panel;
        pdnn_draw_frame(canvas,
                        &(struct pdnn_frame_axis){
                            .scale = p->x, .title = "working set of all threads together", .grid = true},
                        &(struct pdnn_frame_axis){.scale = p->y, .title = "bandwidth (GB/s)", .grid = true});
        draw_ends(p, m);
        draw_patterns(p, m);
        draw_names(p, m);
        draw_bars(p, m, bars, bars_top - panel, bars_top);
    }
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const enum pdnn_status status = read_roof_rows(&p, err);
    if (status == PDNN_OK)
        describe(&p);
    pdnn_texts_finish(&p.dtypes);
    pdnn_texts_finish(&p.patterns);
    pdnn_texts_finish(&p.plain);
    return status;
}

const struct pdnn_plot_def pdnn_plot_ceilings = {
    .name = "ceilings",
    .help =
        "the measured roofs of each of RESULTS for each thread count: bandwidth by working set with the levels found, "
        "arithmetic by dtype",
    .options = (const char *const[]){NULL},
    .drawn = "roofs",
    .left_out_as = "rows of other kinds",
    .no_range = {"is one of working sets and one of arithmetic", "is one of bandwidths and one of names"},
    .draw = draw,
};
