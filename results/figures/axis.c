#include "results/figures/axis.h"
#include "results/table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICKS_MAX = 48, TICKS_SHOWN = 12, TICK_TEXT = 32 };

static const double tick_length = 5, tick_gap = 8, label_gap = 10, entry_gap = 12, legend_indent = 24,
                    level_least = 100, upright_least = 60;

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

bool pdnn_scale_holds(const struct pdnn_scale *scale, double value) {
    return value >= scale->low && value <= scale->high;
}

double pdnn_scale_within(const struct pdnn_scale *scale, double value) {
    return pdnn_scale_at(scale, fmin(fmax(value, scale->low), scale->high));
}

void pdnn_scale_narrow(struct pdnn_scale *scale, struct pdnn_spot range) {
    const double span = scale->high - scale->low;
    scale->low = isnan(range.x) ? scale->low : range.x;
    scale->high = isnan(range.y) ? scale->high : range.y;
    if (!(scale->low > 0 && scale->high > 0))
        scale->base = 0;
    if (scale->low < scale->high)
        return;
    if (isnan(range.y))
        scale->high = scale->base ? scale->low * 10 : scale->low + span;
    else
        scale->low = scale->base ? scale->high / 10 : scale->high - span;
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

/* The width of the text's widest line. */
static double lines_width(const char *text, double size, double width) {
    double widest = 0;
    for (size_t length; *text; text += length + (text[length] == ' ' || text[length] == '\n')) {
        length = pdnn_text_line(text, size, width);
        widest = fmax(widest, pdnn_text_part_width(text, length, size));
    }
    return widest;
}

void pdnn_draw_axis_title(struct pdnn_canvas *canvas, const struct pdnn_axis_title *title) {
    static const double apart = 16, edge = PDNN_FONT * 0.6, smaller = 0.95;
    struct pdnn_font font = title->is_small ? pdnn_small_middle : pdnn_plain_middle;
    const char *text = title->text;
    const double room = title->high - title->low;
    font.degrees = title->upright ? 90 : 0;
    if (pdnn_text_width(text, font.size) > room)
        font.size = PDNN_FONT_SMALL;
    while (pdnn_draw_lines(NULL, 0, 0, room, font, text) > 2 && font.size > 1) {
        canvas->is_short = true;
        font.size *= smaller;
    }
    const double half = lines_width(text, font.size, room) / 2,
                 at = fmax(fmin(title->middle, title->high - half), title->low + half);
    const bool two = pdnn_draw_lines(NULL, 0, 0, room, font, text) > 1;
    double beside = title->beside + (!two ? 0 : title->upright ? -apart / 2 : apart / 2);
    canvas->is_short = canvas->is_short || (two && beside < edge);
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = pdnn_text_line(text, font.size, room);
        pdnn_draw_text(canvas, title->upright ? beside : at, title->upright ? at : beside, font,
                       pdnn_arena_printf(&canvas->arena, "%.*s", (int)length, text));
        beside += title->upright ? apart : -apart;
    }
}

void pdnn_draw_level(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x, double bottom, double top) {
    canvas->is_short = canvas->is_short || x->scale.to - x->scale.from < level_least;
    draw_ticks(canvas, x, true, bottom, top);
    pdnn_draw_line(canvas, x->scale.from, bottom, x->scale.to, bottom, pdnn_pen_line(PDNN_INK_SOFT, 1));
    if (x->title)
        pdnn_draw_axis_title(canvas, &(struct pdnn_axis_title){.text = x->title,
                                                               .beside = bottom - 46,
                                                               .middle = (x->scale.from + x->scale.to) / 2,
                                                               .low = 6,
                                                               .high = canvas->width - 6});
}

void pdnn_draw_frame(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x,
                     const struct pdnn_frame_axis *y) {
    const double left = x->scale.from;
    canvas->is_short = canvas->is_short || y->scale.to - y->scale.from < upright_least;
    pdnn_draw_level(canvas, x, y->scale.from, y->scale.to);
    const double widest = draw_ticks(canvas, y, false, left, x->scale.to);
    if (y->title)
        pdnn_draw_axis_title(canvas,
                             &(struct pdnn_axis_title){
                                 .text = y->title,
                                 .beside = fmax(PDNN_FONT * 0.6, left - tick_gap - widest - PDNN_FONT * 1.1),
                                 .middle = (y->scale.from + y->scale.to) / 2,
                                 .low = y->title_low + 6,
                                 .high = (y->title_high > 0 ? y->title_high : canvas->height) - 6,
                                 .upright = true});
    pdnn_draw_line(canvas, left, y->scale.from, left, y->scale.to, pdnn_pen_line(PDNN_INK_SOFT, 1));
}

void pdnn_draw_interval(struct pdnn_canvas *canvas, const struct pdnn_scale *scale, double low, double high,
                        double y, double width) {
    static const double cap = 3;
    const double value[] = {low, high},
                 end[] = {pdnn_scale_within(scale, low), pdnn_scale_within(scale, high)};
    const struct pdnn_pen line = pdnn_pen_line(PDNN_INK_TEXT, width);
    if (low > scale->high || high < scale->low)
        return;
    pdnn_draw_line(canvas, end[0], y, end[1], y, line);
    for (size_t k = 0; k < 2; k++)
        if (pdnn_scale_holds(scale, value[k]))
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

static double line_of(struct pdnn_font font) {
    return round(1.4 * font.size);
}

size_t pdnn_draw_lines(struct pdnn_canvas *canvas, double x, double y, double width, struct pdnn_font font,
                       const char *text) {
    size_t count = 0;
    for (size_t length; text && *text;
         text += length + (text[length] == ' ' || text[length] == '\n'), count++) {
        length = pdnn_text_line(text, font.size, width);
        if (canvas)
            pdnn_draw_text(canvas, x, y - (double)count * line_of(font), font,
                           pdnn_arena_printf(&canvas->arena, "%.*s", (int)length, text));
    }
    return count;
}

static const struct pdnn_font title_font = {PDNN_FONT_TITLE, PDNN_INK_TEXT, PDNN_START, 0},
                              subtitle_font = {PDNN_FONT, PDNN_INK_SOFT, PDNN_START, 0};

static double title_room(const struct pdnn_canvas *canvas, double left) {
    return canvas->width - left - 8;
}

double pdnn_lines_more(double width, struct pdnn_font font, const char *text) {
    const size_t count = pdnn_draw_lines(NULL, 0, 0, width, font, text);
    return count > 1 ? (double)(count - 1) * line_of(font) : 0;
}

double pdnn_titles_more(const struct pdnn_canvas *canvas, double left, struct pdnn_titles titles) {
    static const double without = -46;
    const double room = title_room(canvas, left);
    return canvas->no_title ? without
                            : pdnn_lines_more(room, title_font, titles.title) +
                                  pdnn_lines_more(room, subtitle_font, titles.subtitle);
}

void pdnn_draw_titles(struct pdnn_canvas *canvas, double left, double top, struct pdnn_titles titles) {
    const double room = title_room(canvas, left);
    canvas->title = canvas->title ? canvas->title : titles.title;
    if (canvas->no_title)
        return;
    pdnn_draw_lines(canvas, left, top - 28, room, title_font, titles.title);
    pdnn_draw_lines(canvas, left, top - 56 - pdnn_lines_more(room, title_font, titles.title), room,
                    subtitle_font, titles.subtitle);
}

void pdnn_put_titles(struct pdnn_canvas *canvas, double left, struct pdnn_titles titles) {
    canvas->height += pdnn_titles_more(canvas, left, titles);
    pdnn_draw_titles(canvas, left, canvas->height, titles);
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

/* In lines as wide as what is left of the width beside the mark. */
static double entry_height(const struct pdnn_entry *entry, double width) {
    const double indent = entry->mark.radius > 0 ? legend_indent : 0;
    return entry->text ? PDNN_LEGEND_LINE + pdnn_lines_more(width - indent, pdnn_small, entry->text)
                       : entry_gap;
}

double pdnn_entries_height(const struct pdnn_entries *entries, double width) {
    double height = 2 * entry_gap;
    for (size_t i = 0; i < entries->count; i++)
        height += entry_height(&entries->entry[i], width);
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
    pdnn_draw_lines(canvas, x + indent, y, width - indent, pdnn_small, entry->text);
}

double pdnn_entries_draw(const struct pdnn_entries *entries, struct pdnn_canvas *canvas, double x, double y) {
    const double width = canvas->width - x - PDNN_LEGEND_EDGE;
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->entry[i].text)
            draw_entry(&entries->entry[i], canvas, x, y, width);
        y -= entry_height(&entries->entry[i], width);
    }
    return y;
}

double pdnn_entries_draw_below(const struct pdnn_entries *entries, double y, struct pdnn_canvas *canvas) {
    static const double margin = 16;
    const double room = canvas->width - 2 * margin,
                 column = fmin(pdnn_entries_width(entries) + legend_indent + 12, room);
    size_t shown = 0, at = 0;
    double height = 0, down = 0; /* of the highest column; from the top of this one */
    for (size_t i = 0; i < entries->count; i++)
        shown += entries->entry[i].text != NULL;
    const size_t columns = (size_t)fmax(1, floor(room / column)), rows = (shown + columns - 1) / columns;
    for (int is_drawn = 0; is_drawn < 2; is_drawn++, at = 0)
        for (size_t i = 0; i < entries->count; i++) {
            const struct pdnn_entry *entry = &entries->entry[i];
            if (!entry->text)
                continue;
            down = at % rows ? down : 0;
            if (is_drawn)
                draw_entry(entry, canvas, margin + column * (double)(at / rows),
                           y + height - down - PDNN_LEGEND_LINE / 2.0, column - 8);
            down += entry_height(entry, column - 8);
            height = is_drawn ? height : fmax(height, down);
            at++;
        }
    return height;
}

double pdnn_draw_caption(struct pdnn_canvas *canvas, double x, double y, const char *text) {
    const struct pdnn_font font = {PDNN_FONT_SMALL, PDNN_INK_SOFT, PDNN_START, 0};
    const double line = line_of(font), room = canvas->width - x - 8;
    const double height =
        canvas->no_caption ? 0 : line * (double)pdnn_draw_lines(NULL, 0, 0, room, font, text);
    if (height > 0)
        pdnn_draw_lines(canvas, x, y + height - line / 2, room, font, text);
    return height;
}
