#include "results/figures/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 5, LINE_TEXT = 160 };

static const double upright_most = 320, line_pixels = 18;

/* Between the frame and the names, and between names of bars and names of sets. */
static const double gap_pixels = 8, set_gap_pixels = 6;

static double width_of(const char *text) {
    return pdnn_text_width(text, PDNN_FONT_SMALL);
}

double pdnn_bar_name_room(double slot_pixels) {
    return fmax(slot_pixels - 10, 0.8 * slot_pixels);
}

struct lines {
    char text[LINES_MAX][LINE_TEXT];
    int count;
    bool fits; /* the whole name fits its width */
};

static void wrap(const struct pdnn_bar_name *name, struct lines *lines) {
    const char *text = name->text;
    *lines = (struct lines){.fits = true};
    while (*text) {
        size_t length = strcspn(text, ",");
        char *line = lines->count ? lines->text[lines->count - 1] : NULL;
        size_t used = line ? strlen(line) : 0;
        char longer[LINE_TEXT];
        snprintf(longer, sizeof longer, "%s, %.*s", line ? line : "", (int)length, text);
        if (!line || width_of(longer) > name->pixels) {
            if (lines->count == LINES_MAX) {
                lines->fits = false;
                return;
            }
            line = lines->text[lines->count++];
            used = 0;
        }
        snprintf(line + used, LINE_TEXT - used, "%s%.*s", used ? ", " : "", (int)length, text);
        lines->fits = lines->fits && width_of(line) <= name->pixels;
        text += length;
        text += strspn(text, ", ");
    }
}

static void measure(const struct pdnn_bar_name *names, size_t count, int *most_lines, bool *fit) {
    struct lines lines;
    for (size_t i = 0; i < count; i++) {
        wrap(&names[i], &lines);
        *most_lines = lines.count > *most_lines ? lines.count : *most_lines;
        *fit = *fit && lines.fits;
    }
}

/* A bar's name followed by its set's; true if it is cut, being too long for the picture. */
static bool join(const struct pdnn_bar_names *names, size_t bar, char text[LINE_TEXT]) {
    const char *set = names->joined ? names->set[names->set_of[bar]].text : "";
    snprintf(text, LINE_TEXT, "%s%s%s", names->bar[bar].text, *set ? ", " : "", set);
    return pdnn_text_cut(text, names->upright_most > 0 ? names->upright_most : upright_most, PDNN_FONT_SMALL);
}

void pdnn_bar_names_arrange(struct pdnn_bar_names *names) {
    bool bars_fit = true, sets_fit = true;
    double longest = 0;
    names->bar_lines = names->set_lines = 0;
    measure(names->bar, names->n_bars, &names->bar_lines, &bars_fit);
    measure(names->set, names->n_sets, &names->set_lines, &sets_fit);
    names->upright = !bars_fit || !sets_fit;
    names->joined = !sets_fit;
    names->cut = false;
    for (size_t bar = 0; names->upright && bar < names->n_bars; bar++) {
        char text[LINE_TEXT];
        names->cut = join(names, bar, text) || names->cut;
        longest = fmax(longest, width_of(text));
    }
    if (names->joined)
        names->set_lines = 0;
    names->bar_height = names->upright ? longest : names->bar_lines * line_pixels;
    names->height = gap_pixels + names->bar_height + names->set_lines * line_pixels +
                    (names->set_lines ? set_gap_pixels : 0);
}

static void put_lines(const struct pdnn_bar_name *name, double y, const struct pdnn_scale *x,
                      struct pdnn_canvas *canvas) {
    struct lines lines;
    wrap(name, &lines);
    for (int i = 0; i < lines.count; i++)
        pdnn_draw_text(canvas, pdnn_scale_at(x, name->center), y - (i + 0.5) * line_pixels, pdnn_small_middle,
                       lines.text[i]);
}

void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, const struct pdnn_scale *x,
                        struct pdnn_canvas *canvas) {
    double y = bottom - gap_pixels, set_y = y - names->bar_height - set_gap_pixels;
    struct pdnn_font upright = pdnn_small_end;
    upright.degrees = 90;
    for (size_t bar = 0; bar < names->n_bars; bar++) {
        char text[LINE_TEXT];
        if (!names->upright) {
            put_lines(&names->bar[bar], y, x, canvas);
            continue;
        }
        join(names, bar, text);
        pdnn_draw_text(canvas, pdnn_scale_at(x, names->bar[bar].center), y, upright, text);
    }
    for (size_t set = 0; !names->joined && set < names->n_sets; set++)
        put_lines(&names->set[set], set_y, x, canvas);
}
