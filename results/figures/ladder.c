#include "results/figures/ladder.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/figures/color.h"
#include "results/store/placement.h"
#include "results/table/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8, NAME_LINES = 3, NAME_TEXT = 64 };

/* A level of one thread count, in order of capacity. */
struct level {
    const char *name;
    double capacity_bytes, reported_bytes; /* INFINITY: DRAM; 0: not reported */
    double gbs;                            /* the best of the patterns */
};

static bool is_ladder(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "ladder") == 0;
}

static bool is_roof(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "bandwidth") == 0;
}

/* Length of the pattern's name without its kind of store. */
static size_t plain_length(const char *pattern) {
    return strcspn(pattern, "-");
}

static bool is_same_pattern(const char *a, const char *b) {
    return plain_length(a) == plain_length(b) && memcmp(a, b, plain_length(a)) == 0;
}

static size_t find_series(const struct pdnn_ladder *ladder, const char *name) {
    size_t at = 0;
    while (at < ladder->n_series && strcmp(ladder->series[at].name, name) != 0)
        at++;
    return at;
}

/* A series for which there is no room is not drawn. */
static void add_series(struct pdnn_ladder *ladder, const char *name) {
    if (find_series(ladder, name) < ladder->n_series || ladder->n_series == PDNN_LADDER_SERIES_MAX)
        return;
    struct pdnn_ladder_series made = {name, pdnn_plot_distinct_color(ladder->n_series),
                                      name[plain_length(name)] != 0};
    for (size_t i = ladder->n_series; i-- > 0;) {
        if (is_same_pattern(ladder->series[i].name, name))
            made.ink = ladder->series[i].ink;
    }
    ladder->series[ladder->n_series++] = made;
}

/* The roofs come first, so that each pattern has a color of its own. */
static void collect_series(struct pdnn_ladder *ladder) {
    for (int roofs = 1; roofs >= 0; roofs--) {
        for (size_t i = 0; i < ladder->ceilings->count; i++) {
            const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
            if (roofs ? is_roof(row) : is_ladder(row))
                add_series(ladder, row->pattern);
        }
    }
}

/* Without a ladder there is room on both sides of the capacities. */
static void set_ranges(struct pdnn_ladder *ladder) {
    bool has_ladder = false;
    double least = INFINITY, most = 0;
    ladder->ymin = INFINITY;
    ladder->ymax = 0;
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        if (!is_ladder(row) && !is_roof(row))
            continue;
        has_ladder = has_ladder || is_ladder(row);
        if (row->value > 0) {
            ladder->ymin = fmin(ladder->ymin, row->value);
            ladder->ymax = fmax(ladder->ymax, row->value);
        }
        if (row->capacity_bytes) {
            least = fmin(least, (double)row->capacity_bytes);
            most = fmax(most, (double)row->capacity_bytes);
        }
    }
    if (!(most > 0))
        least = most = 1 << 20;
    ladder->xmin = has_ladder ? least / 1.2 : least / 6;
    ladder->xmax = has_ladder ? most * 1.2 : most * 16;
    if (!(ladder->ymax > 0))
        ladder->ymin = ladder->ymax = 1;
    ladder->ymin /= 1.2;
    ladder->ymax *= 1.2;
}

static size_t collect_levels(const struct pdnn_ladder *ladder, int64_t threads,
                             struct level levels[LEVELS_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        size_t at = 0;
        if (!is_roof(row) || row->threads != threads)
            continue;
        while (at < count && strcmp(levels[at].name, row->level) != 0)
            at++;
        if (at == count && count < LEVELS_MAX) {
            double capacity = row->capacity_bytes ? (double)row->capacity_bytes : INFINITY;
            for (at = count++; at > 0 && levels[at - 1].capacity_bytes > capacity; at--)
                levels[at] = levels[at - 1];
            levels[at] =
                (struct level){row->level, capacity,
                               row->reported_bytes == PDNN_ABSENT ? 0 : (double)row->reported_bytes, 0};
        }
        if (at < count)
            levels[at].gbs = fmax(levels[at].gbs, row->value);
    }
    return count;
}

/* The middle of the level's working sets, on a logarithmic axis. */
static double middle_of(const struct pdnn_ladder *ladder, const struct level *levels, size_t at) {
    double low = at ? levels[at - 1].capacity_bytes : ladder->xmin;
    return sqrt(fmax(low, ladder->xmin) * fmin(levels[at].capacity_bytes, ladder->xmax));
}

/* Where the roof stands: at the working set that it was taken from, if the file has it. */
static double place_of(const struct pdnn_ladder *ladder, const struct pdnn_ceiling *roof,
                       const struct level *levels, size_t n_levels) {
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        if (is_ladder(row) && row->threads == roof->threads && row->value == roof->value &&
            strcmp(row->level, roof->level) == 0 && is_same_pattern(row->pattern, roof->pattern))
            return (double)row->capacity_bytes;
    }
    for (size_t at = 0; at < n_levels; at++) {
        if (strcmp(levels[at].name, roof->level) == 0)
            return middle_of(ladder, levels, at);
    }
    return NAN;
}

/* A panel's place. */
struct panel {
    const struct pdnn_ladder *ladder;
    struct pdnn_canvas *canvas;
    int64_t threads;
    struct pdnn_scale x, y;
    struct level levels[LEVELS_MAX];
    size_t n_levels;
};

static void draw_lines(const struct panel *p) {
    const struct pdnn_ceilings *ceilings = p->ladder->ceilings;
    struct pdnn_spot *spots = pdnn_alloc(ceilings->count, sizeof *spots);
    for (size_t s = 0; s < p->ladder->n_series; s++) {
        const struct pdnn_ladder_series *series = &p->ladder->series[s];
        struct pdnn_pen pen = pdnn_pen_line(series->ink, 1.8);
        size_t count = 0;
        for (size_t i = 0; i < ceilings->count; i++) {
            const struct pdnn_ceiling *row = &ceilings->row[i];
            if (is_ladder(row) && row->threads == p->threads && strcmp(row->pattern, series->name) == 0)
                spots[count++] = (struct pdnn_spot){pdnn_scale_at(&p->x, (double)row->capacity_bytes),
                                                    pdnn_scale_at(&p->y, row->value)};
        }
        pen.dash = series->is_streaming ? 4 : 0;
        if (count)
            pdnn_draw_path(p->canvas, spots, count, false, pen);
        if (count)
            pdnn_draw_points(p->canvas, spots, NULL, count,
                             (struct pdnn_mark){PDNN_CIRCLE, 2, pdnn_pen_fill(series->ink), false});
    }
    free(spots);
}

/* A ring for each roof. */
static void draw_roofs(const struct panel *p) {
    const struct pdnn_ladder *ladder = p->ladder;
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        size_t series = find_series(ladder, row->pattern);
        double x = is_roof(row) ? place_of(ladder, row, p->levels, p->n_levels) : NAN;
        if (row->threads == p->threads && series < ladder->n_series && !isnan(x))
            pdnn_draw_point(
                p->canvas, pdnn_scale_at(&p->x, x), pdnn_scale_at(&p->y, row->value),
                (struct pdnn_mark){PDNN_CIRCLE, 6, pdnn_pen_line(ladder->series[series].ink, 2), false});
    }
}

/* Where each level ends: as found, and dashed as reported. */
static void draw_ends(const struct panel *p) {
    for (size_t i = 0; i < p->n_levels; i++) {
        const double size[] = {p->levels[i].capacity_bytes, p->levels[i].reported_bytes};
        for (int reported = 0; reported < 2 && !isinf(size[0]); reported++) {
            struct pdnn_pen pen = pdnn_pen_line(reported ? 0x777777 : PDNN_INK_TEXT, 1.4);
            double x = size[reported] > 0 ? pdnn_scale_at(&p->x, size[reported]) : NAN;
            pen.dash = reported ? 5 : 0;
            if (x >= p->x.from && x <= p->x.to)
                pdnn_draw_line(p->canvas, x, p->y.from, x, p->y.to, pen);
        }
    }
}

/* The level and its best roof, what it was found to hold, what the host reports; short: its name and the roof
 * alone. Returns its width. */
static double name_level(const struct level *level, bool is_short, char lines[NAME_LINES][NAME_TEXT]) {
    char size[PDNN_UNIT_TEXT];
    struct pdnn_str number = {0};
    double width = 0;
    pdnn_number_format(&number, level->gbs, 3);
    snprintf(lines[0], NAME_TEXT, is_short ? "%.30s" : "%.30s: %s GB/s", level->name, pdnn_str_text(&number));
    lines[1][0] = lines[2][0] = 0;
    if (is_short)
        snprintf(lines[1], NAME_TEXT, "%s GB/s", pdnn_str_text(&number));
    else if (!isinf(level->capacity_bytes))
        snprintf(lines[1], NAME_TEXT, "holds %s", pdnn_format_bytes(size, level->capacity_bytes));
    if (!is_short && level->reported_bytes > 0)
        snprintf(lines[2], NAME_TEXT, "reported %s", pdnn_format_bytes(size, level->reported_bytes));
    pdnn_str_finish(&number);
    for (size_t k = 0; k < NAME_LINES; k++)
        width = fmax(width, pdnn_text_width(lines[k], PDNN_FONT_SMALL));
    return width;
}

/* Names stand above the middle of their levels, apart from each other, and within the frame. */
static void draw_names(const struct panel *p) {
    static const double apart = 14, line_height = 17, above = 12;
    char lines[LEVELS_MAX][NAME_LINES][NAME_TEXT];
    double x[LEVELS_MAX], half[LEVELS_MAX], edge = p->x.from - apart, all = 0;
    for (size_t i = 0; i < p->n_levels; i++)
        all += name_level(&p->levels[i], false, lines[i]) + apart;
    for (size_t i = 0; i < p->n_levels; i++) {
        half[i] = name_level(&p->levels[i], all > p->x.to - p->x.from, lines[i]) / 2;
        x[i] = fmax(pdnn_scale_at(&p->x, middle_of(p->ladder, p->levels, i)), edge + apart + half[i]);
        edge = x[i] + half[i];
    }
    edge = p->x.to + apart;
    for (size_t i = p->n_levels; i-- > 0; edge = x[i] - half[i]) {
        x[i] = fmin(x[i], edge - apart - half[i]);
        for (size_t k = 0; k < NAME_LINES; k++)
            pdnn_draw_text(p->canvas, x[i], p->y.to + above + line_height * (double)(NAME_LINES - 1 - k),
                           pdnn_small_middle, lines[i][k]);
    }
}

void pdnn_ladder_init(struct pdnn_ladder *ladder, const struct pdnn_ceilings *ceilings) {
    *ladder = (struct pdnn_ladder){.ceilings = ceilings};
    collect_series(ladder);
    set_ranges(ladder);
}

double pdnn_ladder_draw_legend(const struct pdnn_ladder *ladder, double x, double y,
                               struct pdnn_canvas *canvas, double width) {
    static const double sample = 32, gap = 18;
    const double left = x, first = y;
    for (size_t i = 0; i < ladder->n_series; i++) {
        const struct pdnn_ladder_series *series = &ladder->series[i];
        struct pdnn_pen pen = pdnn_pen_line(series->ink, 1.8);
        double end = x + sample + 6 + pdnn_text_width(series->name, PDNN_FONT_SMALL);
        pen.dash = series->is_streaming ? 4 : 0;
        if (end > width - 8 && x > left) {
            end += left - x;
            x = left;
            y -= PDNN_LEGEND_LINE;
        }
        if (canvas) {
            pdnn_draw_line(canvas, x, y, x + sample, y, pen);
            pdnn_draw_text(canvas, x + sample + 6, y, pdnn_small, series->name);
        }
        x = end + gap;
    }
    return first - y;
}

void pdnn_ladder_draw(const struct pdnn_ladder *ladder, int64_t threads, double left, double bottom,
                      double right, double top, struct pdnn_canvas *canvas) {
    struct panel p = {.ladder = ladder,
                      .canvas = canvas,
                      .threads = threads,
                      .x = {ladder->xmin, ladder->xmax, left, right, 2, true},
                      .y = {ladder->ymin, ladder->ymax, bottom, top, 10, false}};
    const struct pdnn_frame_axis x = {.scale = p.x,
                                      .title = "working set of all threads together",
                                      .grid = true},
                                 y = {.scale = p.y, .title = "bandwidth (GB/s)", .grid = true};
    p.n_levels = collect_levels(ladder, threads, p.levels);
    pdnn_draw_frame(canvas, &x, &y);
    draw_ends(&p);
    draw_lines(&p);
    draw_roofs(&p);
    draw_names(&p);
}
