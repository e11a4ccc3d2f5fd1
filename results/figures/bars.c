#include "results/figures/bars.h"

#include <math.h>
#include <string.h>

enum { LINES_MAX = 5 };

static const double widest_bar = 120, line_pixels = 18, axis_pixels = 34;

/* In slots, between two sets; in pixels, above the caption, between the frame and the names, and between
 * names of bars and names of sets. */
static const double gap = 0.7, caption_gap = 12, gap_pixels = 8, set_gap_pixels = 6;

void pdnn_bars_place(struct pdnn_bars *bars, double right, double least) {
    double slots = 1;
    bars->bar[0].center = 0;
    for (size_t i = 1; i < bars->n_bars; i++) {
        slots += bars->bar[i].set == bars->bar[i - 1].set ? 1 : 1 + gap;
        bars->bar[i].center = slots - 1;
    }
    right = fmax(right, PDNN_BARS_LEFT + slots * least);
    const double margin = (fmax(slots, (right - PDNN_BARS_LEFT) / widest_bar * bars->part) - slots) / 2;
    bars->x = (struct pdnn_scale){
        .low = -0.5 - margin, .high = slots - 0.5 + margin, .from = PDNN_BARS_LEFT, .to = right};
}

double pdnn_bars_slot_pixels(const struct pdnn_bars *bars) {
    return pdnn_scale_at(&bars->x, 1) - pdnn_scale_at(&bars->x, 0);
}

/* A name in lines, which are parts of its text. */
struct lines {
    const char *text[LINES_MAX];
    int length[LINES_MAX], count;
    bool fits; /* the whole name fits its width */
};

static struct lines wrap(const char *text, double pixels) {
    struct lines lines = {.fits = true};
    for (; *text && lines.fits; text += strspn(text, ", ")) {
        const int length = (int)strcspn(text, ", "), last = lines.count - 1,
                  longer = last < 0 ? 0 : (int)(text - lines.text[last]) + length;
        if (last >= 0 && pdnn_text_part_width(lines.text[last], (size_t)longer, PDNN_FONT_SMALL) <= pixels) {
            lines.length[last] = longer;
        } else if (lines.count < LINES_MAX) {
            lines.fits = pdnn_text_part_width(text, (size_t)length, PDNN_FONT_SMALL) <= pixels;
            lines.text[lines.count] = text;
            lines.length[lines.count++] = length;
        } else {
            lines.fits = false;
        }
        text += length;
    }
    return lines;
}

static void put_lines(const struct pdnn_bars *bars, const struct lines *lines, double center, double y) {
    for (int i = 0; i < lines->count; i++)
        pdnn_draw_text(bars->canvas, pdnn_scale_at(&bars->x, center), y - (i + 0.5) * line_pixels,
                       pdnn_small_middle,
                       pdnn_arena_printf(&bars->canvas->arena, "%.*s", lines->length[i], lines->text[i]));
}

static struct lines lines_of_bar(const struct pdnn_bars *bars, size_t bar) {
    const double slot = pdnn_bars_slot_pixels(bars);
    return wrap(bars->bar[bar].text, fmax(slot - 10, 0.8 * slot));
}

/* Moves to the set's middle. */
static struct lines lines_of_set(const struct pdnn_bars *bars, size_t set, double *center) {
    size_t first = 0, count = 0;
    while (bars->bar[first].set != set)
        first++;
    while (first + count < bars->n_bars && bars->bar[first + count].set == set)
        count++;
    *center = (bars->bar[first].center + bars->bar[first + count - 1].center) / 2;
    return wrap(bars->set[set], pdnn_bars_slot_pixels(bars) * ((double)count + gap) * 0.96);
}

/* How the names stand: upright each includes its set's where that has no room in lines. */
struct layout {
    bool upright, joined;
    int set_lines;
    double bar_height, height; /* of the names of bars, and of all below the frame, in pixels */
};

/* A bar's name followed by its set's. */
static const char *upright_name(const struct pdnn_bars *bars, bool joined, size_t bar) {
    const char *set = joined ? bars->set[bars->bar[bar].set] : "";
    return pdnn_arena_printf(&bars->canvas->arena, "%s%s%s", bars->bar[bar].text, *set ? ", " : "", set);
}

static struct layout arrange(const struct pdnn_bars *bars) {
    struct layout l = {.upright = false};
    double center;
    int bar_lines = 0;
    for (size_t bar = 0; bar < bars->n_bars; bar++) {
        const struct lines lines = lines_of_bar(bars, bar);
        l.upright = l.upright || !lines.fits;
        bar_lines = lines.count > bar_lines ? lines.count : bar_lines;
    }
    for (size_t set = 0; set < bars->n_sets; set++) {
        const struct lines lines = lines_of_set(bars, set, &center);
        l.joined = l.joined || !lines.fits;
        l.set_lines = lines.count > l.set_lines ? lines.count : l.set_lines;
    }
    l.upright = l.upright || l.joined;
    l.set_lines = l.joined ? 0 : l.set_lines;
    l.bar_height = l.upright ? 0 : bar_lines * line_pixels;
    for (size_t bar = 0; l.upright && bar < bars->n_bars; bar++)
        l.bar_height =
            fmax(l.bar_height, pdnn_text_width(upright_name(bars, l.joined, bar), PDNN_FONT_SMALL));
    l.height = gap_pixels + l.bar_height + (l.set_lines ? l.set_lines * line_pixels + set_gap_pixels : 0);
    return l;
}

bool pdnn_bars_are_long(const struct pdnn_bars *bars, double most) {
    const struct layout l = arrange(bars);
    return l.upright && l.bar_height > most;
}

double pdnn_bars_put(const struct pdnn_bars *bars, double y, const char *caption, const char *title) {
    struct layout l = arrange(bars);
    struct pdnn_font upright = pdnn_small_end;
    upright.degrees = 90;
    y += pdnn_draw_caption(bars->canvas, PDNN_BARS_LEFT, y, caption) + caption_gap;
    const double middle = (bars->x.from + bars->x.to) / 2,
                 room = 2 * fmin(middle, bars->canvas->width - middle) - 12,
                 more = pdnn_lines_more(room, pdnn_plain_middle, title),
                 frame = y + (*title ? axis_pixels : 0) + more + l.height, top = frame - gap_pixels;
    pdnn_draw_lines(bars->canvas, middle, y + axis_pixels / 2 + more, room, pdnn_plain_middle, title);
    for (size_t bar = 0; bar < bars->n_bars; bar++) {
        const struct lines lines = lines_of_bar(bars, bar);
        if (l.upright)
            pdnn_draw_text(bars->canvas, pdnn_scale_at(&bars->x, bars->bar[bar].center), top, upright,
                           upright_name(bars, l.joined, bar));
        else
            put_lines(bars, &lines, bars->bar[bar].center, top);
    }
    for (size_t set = 0; set < bars->n_sets && !l.joined; set++) {
        double center;
        const struct lines lines = lines_of_set(bars, set, &center);
        put_lines(bars, &lines, center, top - l.bar_height - set_gap_pixels);
    }
    return frame;
}
