#include "results/figures/chart.h"
#include "results/figures/caption.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Corners of an area of four within a frame, and room for one more a side. */
enum { CLIPPED_MAX = 12 };

/* Distances of what surrounds a frame. */
static const double beside_gap = 8, legend_gap = 26, axis_height = 70, mark_radius = 5.5, legend_width = 324;

struct pdnn_spot pdnn_frame_to_pixels(const struct pdnn_frame *f, struct pdnn_spot data) {
    return (struct pdnn_spot){pdnn_scale_at(&f->x, data.x), pdnn_scale_at(&f->y, data.y)};
}

static double pixels_per_log(const struct pdnn_scale *scale) {
    return (scale->to - scale->from) / log(scale->high / scale->low);
}

double pdnn_frame_angle(const struct pdnn_frame *frame) {
    return atan2(pixels_per_log(&frame->y), pixels_per_log(&frame->x));
}

void pdnn_chart_init(struct pdnn_chart *chart, double width, double height, struct pdnn_arena *arena) {
    *chart =
        (struct pdnn_chart){.arena = arena,
                            .frame = {.width = width,
                                      .height = height,
                                      .x = {.low = INFINITY,
                                            .from = fmin(92, 0.15 * width),
                                            .to = width - (width < PDNN_WIDE_ENOUGH ? 16 : legend_width),
                                            .base = 10},
                                      .y = {.low = INFINITY, .from = 124, .to = height - 90, .base = 10}},
                            .n_panels = 1,
                            .x_range = {NAN, NAN},
                            .y_range = {NAN, NAN},
                            .more = {.arena = arena}};
}

void pdnn_chart_add_point(struct pdnn_chart *chart, struct pdnn_chart_point point) {
    chart->point =
        pdnn_arena_grow(chart->arena, chart->point, &chart->points_room, chart->n_points, sizeof point);
    chart->point[chart->n_points++] = point;
}

void pdnn_chart_fit(struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    for (size_t i = 0; i < chart->n_points; i++) {
        f->x.low = fmin(f->x.low, chart->point[i].spot.x / 1.3);
        f->x.high = fmax(f->x.high, chart->point[i].spot.x * 1.3);
        f->y.low = fmin(f->y.low, chart->point[i].spot.y / 1.15);
        f->y.high = fmax(f->y.high, chart->point[i].spot.y * 1.15);
    }
}

struct pdnn_chart_line *pdnn_chart_add_line(struct pdnn_chart *chart, struct pdnn_spot low,
                                            struct pdnn_spot high) {
    chart->line =
        pdnn_arena_grow(chart->arena, chart->line, &chart->lines_room, chart->n_lines, sizeof *chart->line);
    chart->line[chart->n_lines] = (struct pdnn_chart_line){.low = low, .high = high};
    return &chart->line[chart->n_lines++];
}

void pdnn_chart_line_at_1(struct pdnn_chart *chart) {
    chart->frame.y.low = fmin(chart->frame.y.low, 1 / 1.5);
    chart->frame.y.high = fmax(chart->frame.y.high, 1.5);
    for (size_t panel = 0; panel < chart->n_panels; panel++) {
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){0, 1}, (struct pdnn_spot){INFINITY, 1});
        line->beside = "equally fast";
        line->panel = panel;
    }
}

static struct pdnn_mark mark_of(struct pdnn_look look, double size, bool dotted) {
    return (struct pdnn_mark){look.symbol, mark_radius * size, {look.ink, PDNN_INK_TEXT, 0.6, 0}, dotted};
}

void pdnn_chart_note(struct pdnn_chart *chart, const char *format, ...) {
    va_list arguments;
    struct pdnn_str note = {0};
    va_start(arguments, format);
    pdnn_str_vprintf(&note, format, arguments);
    va_end(arguments);
    pdnn_entries_add(&chart->more, pdnn_arena_strdup(chart->arena, pdnn_str_text(&note)), pdnn_no_mark);
    pdnn_str_finish(&note);
}

void pdnn_chart_size(struct pdnn_chart *chart, const char *text, double size) {
    pdnn_entries_add(&chart->more, text, mark_of(pdnn_plot_unknown, size, false));
}

/* A panel on the canvas. */
struct sheet {
    const struct pdnn_chart *chart;
    const struct pdnn_color_key *key;
    struct pdnn_canvas *canvas;
    size_t panel;
    bool has_dots, has_crosses;
    struct pdnn_frame frame; /* on the whole canvas */
    double base;             /* of the panel */
};

static bool is_wide(const struct sheet *sheet) {
    return sheet->frame.width >= PDNN_WIDE_ENOUGH;
}

/* With the first n_words words of the key, and the number of the others; in a narrow picture also what its
 * lines are, from the top down. */
static struct pdnn_entries list_entries(const struct sheet *sheet, size_t n_words) {
    const struct pdnn_chart *chart = sheet->chart;
    const struct pdnn_color_key *key = sheet->key;
    struct pdnn_entries entries = {.arena = chart->arena};
    if (key->n_words)
        pdnn_entries_add(&entries, chart->color_title, pdnn_no_mark);
    for (size_t i = 0; i < n_words; i++)
        pdnn_entries_add(&entries, key->word[i].text, mark_of(key->word[i].look, 1, false));
    if (n_words < key->n_words)
        pdnn_entries_add(&entries,
                         pdnn_arena_printf(chart->arena, "and %zu more",
                                           key->n_words - n_words + (key->n_others ? key->n_others - 1 : 0)),
                         pdnn_no_mark);
    if (key->has_unknown)
        pdnn_entries_add(&entries, "not known", mark_of(pdnn_plot_unknown, 1, false));
    pdnn_entries_gap(&entries);
    if (sheet->has_dots && chart->no_dot)
        pdnn_entries_add(&entries, chart->no_dot, mark_of(pdnn_plot_unknown, 1, false));
    if (sheet->has_dots)
        pdnn_entries_add(&entries, chart->dot, mark_of(pdnn_plot_unknown, 1, true));
    if (sheet->has_crosses)
        pdnn_entries_add(&entries, pdnn_plot_doubt, pdnn_plot_cross);
    pdnn_entries_gap(&entries);
    for (size_t i = 0; i < chart->more.count; i++)
        pdnn_entries_add(&entries, chart->more.entry[i].text, chart->more.entry[i].mark);
    pdnn_entries_gap(&entries);
    for (size_t i = 0; i < chart->n_lines; i++) {
        const struct pdnn_chart_line *line = &chart->line[i];
        const char *name = line->is_listed ? line->along : is_wide(sheet) ? NULL : line->beside;
        if (name && line->panel == sheet->panel)
            pdnn_entries_add(
                &entries, pdnn_arena_printf(chart->arena, "%s: %s", line->dashed ? "dashed" : "line", name),
                pdnn_no_mark);
    }
    return entries;
}

/* What a legend to the right of x has. */
static double room_beside(const struct sheet *sheet, double x) {
    return sheet->frame.width - x - PDNN_LEGEND_EDGE;
}

/* How high the scale of the colors is with its title, at least. */
static double palette_height(const struct sheet *sheet, double x, double least) {
    return sheet->key->is_scale
               ? least + pdnn_lines_more(room_beside(sheet, x), pdnn_small, sheet->chart->color_title)
               : 0;
}

/* The title of the colors with their scale below, down to `end`; y: the middle of the title's first line. */
static void draw_palette(const struct sheet *sheet, double x, double y, double end) {
    static const double most = 260, least = 50;
    if (!sheet->key->is_scale)
        return;
    struct pdnn_scale scale = sheet->key->scale;
    const char *title = sheet->chart->color_title;
    pdnn_draw_lines(sheet->canvas, x, y, room_beside(sheet, x), pdnn_small, title);
    scale.to = y - pdnn_lines_more(room_beside(sheet, x), pdnn_small, title) - PDNN_LEGEND_LINE + 4;
    scale.from = scale.to - fmin(most, fmax(least, scale.to - end));
    pdnn_draw_palette(sheet->canvas, x + 4, &scale, pdnn_sequential, sheet->key->value, sheet->key->n_values);
}

/* The name of a line beside its end: the middles of its first and its last line. */
struct name {
    const char *text;
    double first, last;
};

/* Names of lines at their right ends, from the top down, pushed apart where they would touch, and up from the
 * end of the axis. Returns how many there are. */
static size_t draw_beside(const struct sheet *sheet, struct name *name) {
    static const double apart = 19, above_bottom = 10;
    const struct pdnn_frame *f = &sheet->frame;
    const struct pdnn_chart *chart = sheet->chart;
    const double x = f->x.to + beside_gap, room = room_beside(sheet, x);
    size_t n = 0;
    for (size_t i = 0; i < chart->n_lines; i++) {
        const struct pdnn_chart_line *line = &chart->line[i];
        if (!line->beside || line->panel != sheet->panel)
            continue;
        const double more = pdnn_lines_more(room, pdnn_small, line->beside),
                     first = fmin(pdnn_scale_at(&f->y, line->high.y) + more / 2,
                                  n ? name[n - 1].last - apart : INFINITY);
        name[n++] = (struct name){line->beside, first, first - more};
    }
    for (size_t k = n; k-- > 0;) {
        const double least = k + 1 < n ? name[k + 1].first + apart : f->y.from + above_bottom,
                     up = fmax(0, least - name[k].last);
        name[k].first += up;
        name[k].last += up;
        pdnn_draw_lines(sheet->canvas, x, name[k].first, room, pdnn_small, name[k].text);
    }
    return n;
}

/* The legend is in the first gap between the names of lines, from the top down, that has room for it; else in
 * the largest, without the words that have no room. The scale gets what is left. */
static void draw_right(const struct sheet *sheet) {
    static const double scale_least = 164, below_name = 30, above_name = 16;
    const struct pdnn_frame *f = &sheet->frame;
    const struct pdnn_color_key *key = sheet->key;
    const double x = f->x.to + legend_gap, width = room_beside(sheet, x),
                 palette = palette_height(sheet, x, scale_least);
    struct name *name = pdnn_arena_alloc(sheet->chart->arena, sheet->chart->n_lines, sizeof *name);
    const size_t n_names = draw_beside(sheet, name);
    struct pdnn_entries entries = list_entries(sheet, key->n_words);
    double needed = pdnn_entries_height(&entries, width) + palette, room = -INFINITY, y = 0;
    for (size_t names = 0; names <= n_names && room < needed; names++) {
        double start = names ? fmin(f->y.to - 8, name[names - 1].last - below_name) : f->y.to - 8;
        double end = names < n_names ? name[names].first + above_name : f->y.from;
        if (start - end <= room)
            continue;
        y = start;
        room = start - end;
    }
    for (size_t n = key->n_words; n > 1 && pdnn_entries_height(&entries, width) + palette > room;)
        entries = list_entries(sheet, --n);
    draw_palette(sheet, x, pdnn_entries_draw(&entries, sheet->canvas, x, y), y - room);
}

static bool is_inside(const struct pdnn_frame *f, struct pdnn_spot spot) {
    return pdnn_scale_holds(&f->x, spot.x) && pdnn_scale_holds(&f->y, spot.y);
}

/* What of a line or an area is within the frame, in pixels (Sutherland and Hodgman, CACM 17, 1974): of a line
 * the first two corners. Ends at 0 and INFINITY are at the frame's edges. Returns how many there are. */
static size_t clip(const struct pdnn_frame *f, const struct pdnn_spot *spots, size_t count,
                   struct pdnn_spot clipped[CLIPPED_MAX]) {
    static const double slack = 1e-6;
    struct pdnn_spot before[CLIPPED_MAX];
    for (size_t i = 0; i < count; i++) {
        const double x = spots[i].x > 0 ? spots[i].x : f->x.low, y = spots[i].y > 0 ? spots[i].y : f->y.low;
        clipped[i] =
            pdnn_frame_to_pixels(f, (struct pdnn_spot){isinf(x) ? f->x.high : x, isinf(y) ? f->y.high : y});
    }
    for (int side = 0; side < 4; side++) {
        const struct pdnn_scale *scale = side < 2 ? &f->x : &f->y;
        const double edge = side % 2 ? scale->to : scale->from, sign = side % 2 ? -1 : 1;
        const size_t n = count;
        memcpy(before, clipped, sizeof before);
        count = 0;
        for (size_t i = 0; i < n; i++) {
            const struct pdnn_spot a = before[i], b = before[(i + 1) % n];
            const double in_a = sign * ((side < 2 ? a.x : a.y) - edge) + slack,
                         in_b = sign * ((side < 2 ? b.x : b.y) - edge) + slack, t = in_a / (in_a - in_b);
            if (in_a >= 0)
                clipped[count++] = a;
            if ((in_a >= 0) != (in_b >= 0))
                clipped[count++] = (struct pdnn_spot){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        }
    }
    return count;
}

/* Coordinates along and across the lines; in these, all labels are upright rectangles. */
static struct pdnn_spot turn(struct pdnn_spot spot, double angle) {
    return (struct pdnn_spot){spot.x * cos(angle) + spot.y * sin(angle),
                              spot.y * cos(angle) - spot.x * sin(angle)};
}

/* More than all points together. */
static const double label_cost = 1e6;

static double cover_cost(const struct pdnn_label *label, double angle, const struct pdnn_spot *points,
                         size_t n_points, const struct pdnn_label *before, size_t n_before) {
    static const double point_radius = 8, label_distance = 10;
    struct pdnn_spot center = turn(label->center, angle);
    double cost = 0;
    for (size_t i = 0; i < n_points; i++) {
        struct pdnn_spot point = turn(points[i], angle);
        cost += fabs(point.x - center.x) < label->width / 2 + point_radius &&
                fabs(point.y - center.y) < label->height / 2 + point_radius;
    }
    for (size_t i = 0; i < n_before; i++) {
        struct pdnn_spot other = turn(before[i].center, angle);
        bool apart = fabs(other.x - center.x) > (label->width + before[i].width) / 2 + label_distance ||
                     fabs(other.y - center.y) > (label->height + before[i].height) / 2;
        cost += apart ? 0 : label_cost;
    }
    return cost;
}

bool pdnn_frame_place(const struct pdnn_frame *frame, struct pdnn_spot low, struct pdnn_spot high,
                      const struct pdnn_spot *points, size_t n_points, struct pdnn_label *labels, size_t at) {
    enum { CANDIDATES = 80 };
    static const double favorite = 0.6, end_distance = 14;
    double angle = pdnn_frame_angle(frame), length = hypot(high.x - low.x, high.y - low.y),
           best_cost = INFINITY;
    const double margin = length > 0 ? fmin((labels[at].width / 2 + end_distance) / length, 0.5) : 0.5;
    struct pdnn_spot best = low;
    for (int i = 0; i <= CANDIDATES; i++) {
        double t = margin + (1 - 2 * margin) * i / CANDIDATES;
        labels[at].center = (struct pdnn_spot){low.x + t * (high.x - low.x), low.y + t * (high.y - low.y)};
        double cost = cover_cost(&labels[at], angle, points, n_points, labels, at) + fabs(t - favorite) / 2;
        if (cost < best_cost) {
            best_cost = cost;
            best = labels[at].center;
        }
    }
    labels[at].center = best;
    return best_cost < label_cost && length >= labels[at].width;
}

/* The label's four corners in pixels. */
static void find_corners(const struct pdnn_frame *frame, const struct pdnn_label *label,
                         struct pdnn_spot corners[4]) {
    static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double angle = pdnn_frame_angle(frame);
    for (int i = 0; i < 4; i++) {
        struct pdnn_spot offset = {side[i][0] * label->width / 2, side[i][1] * label->height / 2};
        struct pdnn_spot turned = turn(offset, -angle);
        corners[i] = (struct pdnn_spot){label->center.x + turned.x, label->center.y + turned.y};
    }
}

static void draw_band(const struct sheet *sheet, const struct pdnn_chart_line *line) {
    struct pdnn_spot corners[CLIPPED_MAX];
    const size_t count = line->band[0].x > 0 ? clip(&sheet->frame, line->band, 4, corners) : 0;
    if (count)
        pdnn_draw_path(sheet->canvas, corners, count, true, pdnn_pen_fill(PDNN_INK_BAND));
}

/* Texts along a line interrupt it, where they cover the fewest points. True if some that have no room are now
 * to be listed. */
static bool draw_lines(const struct sheet *sheet) {
    static const double height = 15;
    const struct pdnn_chart *chart = sheet->chart;
    const struct pdnn_frame *f = &sheet->frame;
    struct pdnn_label *labels = pdnn_arena_alloc(chart->arena, chart->n_lines + 1, sizeof *labels);
    struct pdnn_spot *points = pdnn_arena_alloc(chart->arena, chart->n_points + 1, sizeof *points);
    size_t n_points = 0, n_labels = 0;
    bool listed = false;
    struct pdnn_font font = pdnn_small_middle;
    font.degrees = pdnn_frame_angle(f) * 45 / atan(1);
    for (size_t i = 0; i < chart->n_points; i++)
        if (chart->point[i].panel == sheet->panel && is_inside(f, chart->point[i].spot))
            points[n_points++] = pdnn_frame_to_pixels(f, chart->point[i].spot);
    enum { BANDS, LINES, TEXTS, LAYERS };
    for (int layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < chart->n_lines; i++) {
            const struct pdnn_chart_line *line = &chart->line[i];
            const struct pdnn_spot ends[] = {line->low, line->high};
            struct pdnn_spot seen[CLIPPED_MAX];
            if (line->panel != sheet->panel || !clip(f, ends, 2, seen))
                continue;
            const struct pdnn_spot low = seen[0], high = seen[1];
            if (layer == BANDS) {
                draw_band(sheet, line);
            } else if (layer == LINES) {
                pdnn_draw_line(
                    sheet->canvas, low.x, low.y, high.x, high.y,
                    (struct pdnn_pen){PDNN_NO_INK, PDNN_INK_LINE, line->thin ? 1 : 2, line->dashed ? 7 : 0});
            } else if (line->along && !line->is_listed) {
                struct pdnn_label *label = &labels[n_labels];
                struct pdnn_spot corners[4];
                label->width = pdnn_text_width(line->along, font.size) + 10;
                label->height = height;
                if (!pdnn_frame_place(f, low, high, points, n_points, labels, n_labels)) {
                    chart->line[i].is_listed = listed = true;
                    continue;
                }
                n_labels++;
                find_corners(f, label, corners);
                pdnn_draw_path(sheet->canvas, corners, 4, true, pdnn_pen_fill(PDNN_INK_WHITE));
                pdnn_draw_text(sheet->canvas, label->center.x, label->center.y, font, line->along);
            }
        }
    return listed;
}

/* Sizes are rounded, so that points of a size are one series. */
static struct pdnn_mark mark_of_point(const struct sheet *sheet, const struct pdnn_chart_point *point,
                                      const struct pdnn_look *look) {
    const size_t n = sheet->chart->n_points;
    double usual = n > 1000 ? 0.6 : n > 200 ? 0.8 : 1, size = (point->size > 0 ? point->size : 1) * usual;
    struct pdnn_mark mark =
        mark_of(*look, round(size * mark_radius * 2) / (2 * mark_radius), point->dotted && sheet->has_dots);
    mark.pen.width = n > 1000 ? 0.3 : 0.6;
    return mark;
}

/* A point with its look. */
struct placed {
    struct pdnn_mark mark;
    size_t point;
};

/* Large ones first, which lie below small ones, and crosses last; then those that look the same together. */
static int compare_placed(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    const double differences[] = {(double)(x->mark.symbol == PDNN_CROSS) - (y->mark.symbol == PDNN_CROSS),
                                  y->mark.radius - x->mark.radius,
                                  y->mark.pen.fill - x->mark.pen.fill,
                                  (double)x->mark.symbol - y->mark.symbol,
                                  (double)x->mark.dotted - y->mark.dotted,
                                  (double)x->point - (double)y->point};
    size_t k = 0;
    while (k < 5 && differences[k] == 0)
        k++;
    return (differences[k] > 0) - (differences[k] < 0);
}

static void draw_points(const struct sheet *sheet, const struct pdnn_look *looks, size_t first_row) {
    const struct pdnn_chart *chart = sheet->chart;
    struct placed *placed = pdnn_arena_alloc(chart->arena, 2 * chart->n_points, sizeof *placed);
    struct pdnn_spot *spots = pdnn_arena_alloc(chart->arena, chart->n_points, sizeof *spots);
    size_t *rows = pdnn_arena_alloc(chart->arena, chart->n_points, sizeof *rows), count = 0;
    for (size_t i = 0; i < chart->n_points; i++) {
        if (chart->point[i].panel != sheet->panel || !is_inside(&sheet->frame, chart->point[i].spot))
            continue;
        placed[count++] = (struct placed){mark_of_point(sheet, &chart->point[i], &looks[i]), i};
        if (chart->point[i].doubtful)
            placed[count++] = (struct placed){pdnn_plot_cross, i};
    }
    qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0, n = 0; i < count; i++) {
        spots[n] = pdnn_frame_to_pixels(&sheet->frame, chart->point[placed[i].point].spot);
        rows[n++] = first_row + placed[i].point;
        if (i + 1 == count || !pdnn_mark_is_same(&placed[i].mark, &placed[i + 1].mark)) {
            pdnn_draw_points(sheet->canvas, spots, rows, n, placed[i].mark);
            n = 0;
        }
    }
}

/* Captions, and below them the legend if there is no room beside the frame, with the scale lowest; returns
 * the frame's lower edge. */
static double draw_below(const struct sheet *sheet) {
    const double palette = palette_height(sheet, 16, 150);
    double y = sheet->base + 8;
    if (!is_wide(sheet)) {
        const struct pdnn_entries entries = list_entries(sheet, sheet->key->n_words);
        draw_palette(sheet, 16, y + palette - 8, y + 8);
        y += palette;
        y += pdnn_entries_draw_below(&entries, y, sheet->canvas);
    }
    if (sheet->chart->caption)
        y += pdnn_draw_caption(sheet->canvas, is_wide(sheet) ? sheet->frame.x.from : 16, y,
                               sheet->chart->caption);
    return y + axis_height - 8;
}

static double titles_left(const struct sheet *sheet) {
    return is_wide(sheet) ? sheet->frame.x.from : 16;
}

/* A narrow panel is as high as what is below its frame needs. */
static void make_room(struct pdnn_chart *chart, struct sheet sheet, const struct pdnn_canvas *canvas) {
    static const double above = 90, least_part = 0.65;
    struct pdnn_canvas trial = {.width = chart->frame.width, .no_caption = canvas->no_caption};
    double needed = 0;
    sheet.canvas = &trial;
    for (sheet.panel = 0; sheet.panel < chart->n_panels; sheet.panel++)
        needed = fmax(needed, draw_below(&sheet) + least_part * chart->frame.width + above);
    chart->frame.height = is_wide(&sheet) ? chart->frame.height : fmax(chart->frame.height, needed);
    chart->frame.y.to = chart->frame.height - above;
    pdnn_arena_finish(&trial.arena);
    double more = -INFINITY;
    for (size_t i = 0; i < chart->n_panels; i++)
        more = fmax(more, pdnn_titles_more(canvas, titles_left(&sheet), chart->titles[i]));
    chart->frame.height += more;
}

/* True if texts of lines that have no room are now to be listed, so that all is to be drawn again. */
static bool draw_panel(struct sheet *sheet) {
    struct pdnn_frame *f = &sheet->frame;
    f->y.to += sheet->base;
    f->y.from = draw_below(sheet);
    struct pdnn_frame_axis x_axis = {.scale = f->x, .title = sheet->chart->x_title, .grid = true},
                           y_axis = {.scale = f->y,
                                     .title = sheet->chart->y_title,
                                     .grid = true,
                                     .title_low = is_wide(sheet) ? sheet->base : f->y.from - 40,
                                     .title_high = is_wide(sheet) ? sheet->base + f->height : f->y.to + 20};
    pdnn_draw_titles(sheet->canvas, titles_left(sheet), sheet->base + f->height,
                     sheet->chart->titles[sheet->panel]);
    pdnn_draw_frame(sheet->canvas, &x_axis, &y_axis);
    return draw_lines(sheet);
}

void pdnn_chart_draw(struct pdnn_chart *chart, size_t first_row, struct pdnn_canvas *canvas) {
    size_t n = chart->n_points, n_dotted = 0, n_doubtful = 0;
    struct pdnn_color_cell *cells = pdnn_arena_alloc(chart->arena, n + 1, sizeof *cells);
    struct pdnn_look *looks = pdnn_arena_alloc(chart->arena, n + 1, sizeof *looks);
    struct pdnn_color_key key;
    for (size_t i = 0; i < n; i++) {
        cells[i] = chart->point[i].color;
        n_dotted += chart->point[i].dotted;
        n_doubtful += chart->point[i].doubtful;
    }
    pdnn_plot_color(cells, n, chart->arena, looks, &key);
    pdnn_chart_fit(chart);
    pdnn_scale_narrow(&chart->frame.x, chart->x_range);
    pdnn_scale_narrow(&chart->frame.y, chart->y_range);
    for (size_t i = 0; i < n; i++)
        chart->n_outside += !is_inside(&chart->frame, chart->point[i].spot);
    struct sheet sheet = {.chart = chart,
                          .key = &key,
                          .has_dots = chart->dot && n_dotted && (n_dotted < n || !chart->no_dot),
                          .has_crosses = n_doubtful > 0,
                          .frame = chart->frame};
    const struct pdnn_frame frame = chart->frame;
    sheet.canvas = canvas;
    for (bool listed = true; listed;) {
        listed = false;
        canvas->n_items = 0;
        canvas->is_short = false;
        chart->frame = frame;
        make_room(chart, sheet, canvas);
        canvas->height = chart->frame.height * (double)chart->n_panels;
        for (sheet.panel = 0; sheet.panel < chart->n_panels; sheet.panel++) {
            sheet.frame = chart->frame;
            sheet.base = chart->frame.height * (double)(chart->n_panels - 1 - sheet.panel);
            listed = draw_panel(&sheet) || listed;
            draw_points(&sheet, looks, first_row);
            if (is_wide(&sheet))
                draw_right(&sheet);
        }
    }
}
