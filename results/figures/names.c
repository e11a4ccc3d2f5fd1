#include "results/figures/names.h"
#include "results/figures/gnuplot.h"
#include "results/figures/file.h"
#include "results/figures/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 5, LINE_TEXT = 160, UPRIGHT_MAX = 44 };

static const double letter_pixels = 8.3, line_pixels = 18;

/* Between the frame and the names, and between names of bars and names of sets. */
static const double gap_pixels = 8, set_gap_pixels = 6;

double pdnn_plot_text_pixels(const char *text) {
    return letter_pixels * (double)strlen(text);
}

bool pdnn_plot_cut(char *text, size_t most) {
    static const char end[] = "..";
    if (strlen(text) <= most)
        return false;
    size_t length = most < strlen(end) ? 0 : most - strlen(end);
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    snprintf(text + length, sizeof end, "%.*s", (int)most, end);
    return true;
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
        if (!line || (double)(used + 2 + length) * letter_pixels > name->pixels) {
            if (lines->count == LINES_MAX) {
                lines->fits = false;
                return;
            }
            line = lines->text[lines->count++];
            used = 0;
        }
        snprintf(line + used, LINE_TEXT - used, "%s%.*s", used ? ", " : "", (int)length, text);
        lines->fits = lines->fits && pdnn_plot_text_pixels(line) <= name->pixels;
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
    return pdnn_plot_cut(text, names->upright_most ? names->upright_most : UPRIGHT_MAX);
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
        longest = fmax(longest, pdnn_plot_text_pixels(text));
    }
    if (names->joined)
        names->set_lines = 0;
    names->bar_height = names->upright ? longest : names->bar_lines * line_pixels;
    names->height = gap_pixels + names->bar_height + names->set_lines * line_pixels +
                    (names->set_lines ? set_gap_pixels : 0);
}

static const char name_look[] = " font 'DejaVu Sans,11' textcolor rgb '#222222' ",
                  caption_look[] = " font 'DejaVu Sans,11' textcolor rgb '#444444' left\n";

/* x is in the given coordinate system: "first" is the axis, "screen" a fraction of the picture. */
static void put_label(struct pdnn_label_sheet *sheet, const char *text, const char *system,
                      struct pdnn_spot spot, const char *look) {
    pdnn_str_printf(sheet->script, "set label %zu ", sheet->next++);
    pdnn_gnuplot_quote(sheet->script, text);
    pdnn_str_printf(sheet->script, " at %s ", system);
    pdnn_plot_number(sheet->script, spot.x, ", screen ");
    pdnn_plot_number(sheet->script, spot.y / sheet->height, look);
}

static void put_lines(const struct pdnn_bar_name *name, double y, struct pdnn_label_sheet *sheet) {
    struct lines lines;
    wrap(name, &lines);
    for (int i = 0; i < lines.count; i++) {
        struct pdnn_spot spot = {name->center, y - (i + 0.5) * line_pixels};
        put_label(sheet, lines.text[i], "first", spot, name_look);
        pdnn_str_printf(sheet->script, "center\n");
    }
}

void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, struct pdnn_label_sheet *sheet) {
    double y = bottom - gap_pixels, set_y = y - names->bar_height - set_gap_pixels;
    for (size_t bar = 0; bar < names->n_bars; bar++) {
        char text[LINE_TEXT];
        if (!names->upright) {
            put_lines(&names->bar[bar], y, sheet);
            continue;
        }
        join(names, bar, text);
        put_label(sheet, text, "first", (struct pdnn_spot){names->bar[bar].center, y}, name_look);
        pdnn_str_printf(sheet->script, "right rotate by 90\n");
    }
    for (size_t set = 0; !names->joined && set < names->n_sets; set++)
        put_lines(&names->set[set], set_y, sheet);
}

double pdnn_plot_caption(const char *text, double x, double y, struct pdnn_label_sheet *sheet) {
    const struct pdnn_bar_name name = {.text = text, .pixels = sheet->width - x};
    struct lines lines;
    wrap(&name, &lines);
    for (int i = 0; i < lines.count; i++) {
        struct pdnn_spot spot = {x / sheet->width, y + (lines.count - i - 0.5) * line_pixels};
        put_label(sheet, lines.text[i], "screen", spot, caption_look);
    }
    return lines.count * line_pixels;
}

void pdnn_plot_y_title(const char *title, double bottom, double top, double height, struct pdnn_str *script) {
    static const double title_letter_pixels = 9, edge = 6;
    char cut[LINE_TEXT];
    double center = (bottom + top) / 2;
    size_t most = (size_t)((height - 2 * edge) / title_letter_pixels);
    snprintf(cut, sizeof cut, "%s", title);
    pdnn_plot_cut(cut, most);
    double half = title_letter_pixels * (double)strlen(cut) / 2;
    center = fmax(fmin(center, height - edge - half), edge + half);
    pdnn_gnuplot_text(script, "Y_TITLE", cut);
    pdnn_plot_variable(script, "Y_TITLE_AT", center);
}
