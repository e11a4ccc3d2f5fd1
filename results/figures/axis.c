#include "results/figures/axis.h"
#include "results/table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICKS_MAX = 48, TICKS_SHOWN = 12, TICK_TEXT = 32 };

static const double tick_length = 5, tick_gap = 8, label_gap = 10, entry_gap = 12, legend_indent = 24;

const struct pdnn_font pdnn_small = {PDNN_FONT_SMALL, PDNN_INK_TEXT, PDNN_START, 0},
                       pdnn_small_middle = {PDNN_FONT_SMALL, PDNN_INK_TEXT, PDNN_MIDDLE, 0},
                       pdnn_small_end = {PDNN_FONT_SMALL, PDNN_INK_TEXT, PDNN_END, 0},
                       pdnn_plain_middle = {PDNN_FONT, PDNN_INK_TEXT, PDNN_MIDDLE, 0};

struct pdnn_scale pdnn_scale_of(double least, double greatest) {
    const double margin = least == greatest ? (least == 0 ? 1 : fabs(least) / 10) : 0;
    return (struct pdnn_scale){.low = least - margin,
                               .high = greatest + margin,
                               .to = 1,
                               .base = least > 0 && greatest > 10 * least ? 10 : 0};
}

double pdnn_scale_at(const struct pdnn_scale *scale, double value) {
    double part = scale->base ? log(value / scale->low) / log(scale->high / scale->low)
                              : (value - scale->low) / (scale->high - scale->low);
    return scale->from + part * (scale->to - scale->from);
}

struct ticks {
    double value[TICKS_MAX];
    char text[TICKS_MAX][TICK_TEXT];
    size_t count;
};

static void name_tick(const struct pdnn_scale *scale, double value, char text[TICK_TEXT]) {
    static const char *const sizes[] = {" B", " KiB", " MiB", " GiB", " TiB", NULL}, *const prefixes[] = {
                                                                                         "",  "k", "M", "G",
                                                                                         "T", "P", "E", NULL};
    const bool bytes = scale->base == 2,
               has_prefix = bytes || fmax(fabs(scale->low), fabs(scale->high)) >= 1e5;
    const double step = bytes ? 1024 : 1000;
    const char *const *unit = bytes ? sizes : prefixes;
    struct pdnn_str number = {0};
    for (; has_prefix && fabs(value) >= step && unit[1]; value /= step)
        unit++;
    pdnn_number_format(&number, fabs(value) < 1e-12 ? 0 : value, 4);
    snprintf(text, TICK_TEXT, "%.16s%s", pdnn_str_text(&number), *unit);
    pdnn_str_finish(&number);
}

static void add_tick(const struct pdnn_scale *scale, double value, struct ticks *ticks) {
    double slack = scale->base ? 0 : 1e-9 * (scale->high - scale->low);
    if (ticks->count == TICKS_MAX || value < scale->low - slack || value > scale->high + slack)
        return;
    ticks->value[ticks->count] = value;
    name_tick(scale, value, ticks->text[ticks->count++]);
}

/* Those of one step of a logarithmic scale, one, two or more steps apart; the parts of a step end with 0. */
static void add_powers(const struct pdnn_scale *scale, const double *parts, int apart, struct ticks *ticks) {
    int low = (int)floor(log(scale->low) / log(scale->base)),
        high = (int)ceil(log(scale->high) / log(scale->base));
    ticks->count = 0;
    for (int e = low - (low % apart + apart) % apart; e <= high; e += apart)
        for (const double *part = parts; *part > 0; part++)
            add_tick(scale, *part * pow(scale->base, e), ticks);
}

static bool fits(const struct pdnn_scale *scale, const struct ticks *ticks, bool level) {
    for (size_t i = 1; i < ticks->count; i++) {
        double apart =
            fabs(pdnn_scale_at(scale, ticks->value[i]) - pdnn_scale_at(scale, ticks->value[i - 1]));
        const double widths = pdnn_text_width(ticks->text[i], PDNN_FONT_SMALL) +
                              pdnn_text_width(ticks->text[i - 1], PDNN_FONT_SMALL);
        if (apart < (level ? widths / 2 + label_gap : 1.5 * PDNN_FONT_SMALL))
            return false;
    }
    return ticks->count <= TICKS_SHOWN;
}

/* The densest set of round values whose names have room. */
static void choose_ticks(const struct pdnn_scale *scale, bool level, struct ticks *ticks) {
    static const double parts[][8] = {{1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1}};
    double span = scale->high - scale->low;
    bool found = false;
    for (int k = scale->base == 2 ? 2 : 0; k < TICKS_MAX && scale->base && !found; k++) {
        const int set = k < 2 ? k : 2, apart = k < 3 ? 1 : k - 1;
        if (scale->high <= (apart == 1 ? 2.5 : pow(scale->base, 3)) * scale->low)
            break;
        add_powers(scale, parts[set], apart, ticks);
        found = (apart > 1 || ticks->count > 1) && fits(scale, ticks, level);
    }
    double size = pow(10, floor(log10(span / TICKS_SHOWN)));
    for (size_t k = 0; k < 9 && !found; k++) {
        const double step = size * parts[1][k % 3] * pow(10, (double)(k / 3));
        ticks->count = 0;
        for (double n = ceil(scale->low / step - 1e-9);
             n * step <= scale->high + 1e-9 * step && ticks->count < TICKS_MAX; n++)
            add_tick(scale, n * step, ticks);
        found = fits(scale, ticks, level);
    }
}

/* Ticks with their names, at `edge` of a frame that reaches to `end`. Returns the width of the longest name.
 */
static double draw_ticks(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *axis, bool level,
                         double edge, double end) {
    struct ticks ticks = {.count = 0};
    double widest = 0;
    if (!axis->bare)
        choose_ticks(&axis->scale, level, &ticks);
    for (size_t i = 0; i < ticks.count; i++) {
        const double at = pdnn_scale_at(&axis->scale, ticks.value[i]), to[] = {end, edge - tick_length};
        for (int k = !axis->grid; k < 2; k++)
            pdnn_draw_line(canvas, level ? at : edge, level ? edge : at, level ? at : to[k],
                           level ? to[k] : at, pdnn_pen_line(k ? PDNN_INK_SOFT : PDNN_INK_GRID, 1));
        if (level)
            pdnn_draw_text(canvas, at, edge - tick_gap - PDNN_FONT_SMALL / 2.0, pdnn_small_middle,
                           ticks.text[i]);
        else
            pdnn_draw_text(canvas, edge - tick_gap, at, pdnn_small_end, ticks.text[i]);
        widest = fmax(widest, pdnn_text_width(ticks.text[i], PDNN_FONT_SMALL));
    }
    return widest;
}

void pdnn_draw_level(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x, double bottom, double top) {
    draw_ticks(canvas, x, true, bottom, top);
    pdnn_draw_line(canvas, x->scale.from, bottom, x->scale.to, bottom, pdnn_pen_line(PDNN_INK_SOFT, 1));
    double middle = (x->scale.from + x->scale.to) / 2, half = fmin(middle, canvas->width - middle) - 6;
    if (x->title)
        pdnn_draw_cut(canvas, middle, bottom - 46, 2 * half, pdnn_plain_middle, x->title);
}

/* The upright title is beside the frame's middle, moved where it is longer, and cut where the picture is. */
void pdnn_draw_frame(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x,
                     const struct pdnn_frame_axis *y) {
    const double left = x->scale.from, low = y->title_low + 6,
                 high = (y->title_high > 0 ? y->title_high : canvas->height) - 6;
    pdnn_draw_level(canvas, x, y->scale.from, y->scale.to);
    const double widest = draw_ticks(canvas, y, false, left, x->scale.to);
    if (y->title) {
        const double half = fmin(pdnn_text_width(y->title, PDNN_FONT), high - low) / 2;
        struct pdnn_font font = pdnn_plain_middle;
        font.degrees = 90;
        pdnn_draw_cut(canvas, fmax(PDNN_FONT * 0.6, left - tick_gap - widest - PDNN_FONT * 1.1),
                      fmax(fmin((y->scale.from + y->scale.to) / 2, high - half), low + half), high - low,
                      font, y->title);
    }
    pdnn_draw_line(canvas, left, y->scale.from, left, y->scale.to, pdnn_pen_line(PDNN_INK_SOFT, 1));
}

void pdnn_draw_interval(struct pdnn_canvas *canvas, const struct pdnn_scale *scale, double low, double high,
                        double y, double width) {
    static const double cap = 3;
    const double end[] = {pdnn_scale_at(scale, low), pdnn_scale_at(scale, high)};
    const struct pdnn_pen line = pdnn_pen_line(PDNN_INK_TEXT, width);
    pdnn_draw_line(canvas, end[0], y, end[1], y, line);
    for (size_t k = 0; k < 2; k++)
        pdnn_draw_line(canvas, end[k], y - cap, end[k], y + cap, line);
}

const int pdnn_sequential[PDNN_PALETTE] = {0x440154, 0x46327e, 0x365c8d, 0x277f8e,
                                           0x1fa187, 0x4ac16d, 0xa0da39, 0xe8d21b},
          pdnn_diverging[PDNN_PALETTE] = {0xb35806, 0xe08214, 0xfdb863, 0xfee0b6,
                                          0xd8daeb, 0xb2abd2, 0x8073ac, 0x542788};

int pdnn_palette(const int inks[PDNN_PALETTE], double part) {
    enum { LAST = PDNN_PALETTE - 1 };
    double at = fmin(fmax(part, 0), 1) * LAST;
    int low = (int)fmin(floor(at), LAST - 1), mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int from = inks[low] >> shift & 0xff, to = inks[low + 1] >> shift & 0xff;
        mixed |= (int)lround(from + (at - low) * (to - from)) << shift;
    }
    return mixed;
}

void pdnn_draw_palette(struct pdnn_canvas *canvas, double left, const struct pdnn_scale *scale,
                       const int inks[PDNN_PALETTE], const double *values, size_t n_values) {
    enum { BANDS = 64 };
    static const double width = 18;
    struct ticks ticks = {.count = 0};
    for (int i = 0; i < BANDS; i++) {
        double low = scale->from + (scale->to - scale->from) * i / BANDS;
        pdnn_draw_box(canvas, left, low, left + width,
                      fmin(low + (scale->to - scale->from) / BANDS + 0.5, scale->to),
                      pdnn_pen_fill(pdnn_palette(inks, (i + 0.5) / BANDS)));
    }
    for (size_t i = 0; i < n_values; i++)
        add_tick(scale, values[i], &ticks);
    if (!n_values || !fits(scale, &ticks, false))
        choose_ticks(scale, false, &ticks);
    for (size_t i = 0; i < ticks.count; i++) {
        double at = pdnn_scale_at(scale, ticks.value[i]);
        pdnn_draw_line(canvas, left + width, at, left + width + tick_length, at,
                       pdnn_pen_line(PDNN_INK_SOFT, 1));
        pdnn_draw_text(canvas, left + width + tick_gap, at, pdnn_small, ticks.text[i]);
    }
}

void pdnn_draw_titles(struct pdnn_canvas *canvas, double left, double top, struct pdnn_titles titles) {
    double room = canvas->width - left - 8;
    canvas->title = canvas->title ? canvas->title : titles.title;
    pdnn_draw_cut(canvas, left, top - 28, room,
                  (struct pdnn_font){PDNN_FONT_TITLE, PDNN_INK_TEXT, PDNN_START, 0}, titles.title);
    if (titles.subtitle)
        pdnn_draw_cut(canvas, left, top - 56, room,
                      (struct pdnn_font){PDNN_FONT, PDNN_INK_SOFT, PDNN_START, 0}, titles.subtitle);
}

const struct pdnn_mark pdnn_no_mark = {.radius = 0};

struct pdnn_mark pdnn_swatch(int ink) {
    return (struct pdnn_mark){PDNN_SQUARE, 7, {ink, PDNN_NO_INK, 0, 0}, false};
}

void pdnn_entries_add(struct pdnn_entries *entries, const char *text, struct pdnn_mark mark) {
    entries->entry = pdnn_arena_grow(entries->arena, entries->entry, &entries->room, entries->count,
                                     sizeof *entries->entry);
    entries->entry[entries->count++] = (struct pdnn_entry){text, mark};
}

void pdnn_entries_gap(struct pdnn_entries *entries) {
    if (entries->count && entries->entry[entries->count - 1].text)
        pdnn_entries_add(entries, NULL, pdnn_no_mark);
}

double pdnn_entries_height(const struct pdnn_entries *entries) {
    double height = 2 * entry_gap;
    for (size_t i = 0; i < entries->count; i++)
        height += entries->entry[i].text ? PDNN_LEGEND_LINE : entry_gap;
    return height;
}

double pdnn_entries_width(const struct pdnn_entries *entries) {
    double widest = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entry[i].text)
            widest = fmax(widest, pdnn_text_width(entries->entry[i].text, PDNN_FONT_SMALL));
    return widest;
}

static void draw_entry(const struct pdnn_entry *entry, struct pdnn_canvas *canvas, double x, double y,
                       double width) {
    static const double mark_at = 8;
    const double indent = entry->mark.radius > 0 ? legend_indent : 0;
    if (indent > 0)
        pdnn_draw_point(canvas, x + mark_at, y, entry->mark);
    pdnn_draw_cut(canvas, x + indent, y, width - indent, pdnn_small, entry->text);
}

double pdnn_entries_draw(const struct pdnn_entries *entries, struct pdnn_canvas *canvas, double x, double y) {
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->entry[i].text)
            draw_entry(&entries->entry[i], canvas, x, y, canvas->width - x - 4);
        y -= entries->entry[i].text ? PDNN_LEGEND_LINE : entry_gap;
    }
    return y;
}

double pdnn_entries_draw_below(const struct pdnn_entries *entries, double y, struct pdnn_canvas *canvas) {
    static const double margin = 16;
    const double room = canvas->width - 2 * margin,
                 column = fmin(pdnn_entries_width(entries) + legend_indent + 12, room);
    size_t shown = 0, at = 0;
    for (size_t i = 0; i < entries->count; i++)
        shown += entries->entry[i].text != NULL;
    size_t columns = (size_t)fmax(1, floor(room / column)), rows = (shown + columns - 1) / columns;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entry[i].text) {
            draw_entry(&entries->entry[i], canvas, margin + column * (double)(at / rows),
                       y + PDNN_LEGEND_LINE * ((double)(rows - at % rows) - 0.5), column - 8);
            at++;
        }
    return (double)rows * PDNN_LEGEND_LINE;
}

/* How many letters of the text are a line: the words that fit, at least one. */
static size_t line_length(const char *text, double room) {
    size_t length = strcspn(text, " \n");
    for (size_t next; text[length] == ' '; length = next) {
        next = length + 1 + strcspn(text + length + 1, " \n");
        if (pdnn_text_part_width(text, next, PDNN_FONT_SMALL) > room)
            break;
    }
    return length;
}

double pdnn_draw_caption(struct pdnn_canvas *canvas, double x, double y, const char *text) {
    static const double line_height = 18;
    const struct pdnn_font font = {PDNN_FONT_SMALL, PDNN_INK_SOFT, PDNN_START, 0};
    const double room = canvas->width - x - 8;
    size_t count = 0, length;
    for (const char *at = text; *at; at += length + (at[length] != 0), count++)
        length = line_length(at, room);
    for (size_t below = count; below-- > 0; text += length + (text[length] != 0)) {
        length = line_length(text, room);
        pdnn_draw_cut(canvas, x, y + line_height * ((double)below + 0.5), room, font,
                      pdnn_arena_printf(&canvas->arena, "%.*s", (int)length, text));
    }
    return line_height * (double)count;
}
