#include "results/plot_names.h"
#include "results/gnuplot.h"
#include "results/plot_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 5, LINE_TEXT = 160, UPRIGHT_MAX = 44, FIRST_LABEL = 10 };

static const double letter_pixels = 8.3, line_pixels = 18;

/* Between the frame and names, and between names of bars and of sets. */
static const double gap_pixels = 8, set_gap_pixels = 6;

double pdnn_plot_text_pixels(const char *text) {
    return letter_pixels * (double)strlen(text);
}

struct lines {
    char text[LINES_MAX][LINE_TEXT];
    int count;
    bool fits; /* all of it, in its width */
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

/* A bar's name with its set's, cut where it is too long for the picture. */
static void join(const struct pdnn_bar_names *names, size_t bar, char text[LINE_TEXT]) {
    const char *set = names->n_sets ? names->set[names->set_of[bar]].text : "";
    snprintf(text, LINE_TEXT, "%s%s%s%s%s", names->axis, *names->axis ? "=" : "", names->bar[bar].text,
             *set ? ", " : "", set);
    if (strlen(text) > UPRIGHT_MAX)
        memcpy(text + UPRIGHT_MAX - 2, "..", sizeof "..");
}

void pdnn_bar_names_arrange(struct pdnn_bar_names *names) {
    bool fit = true;
    double longest = 0;
    names->bar_lines = names->set_lines = 0;
    measure(names->bar, names->n_bars, &names->bar_lines, &fit);
    measure(names->set, names->n_sets, &names->set_lines, &fit);
    names->upright = !fit;
    for (size_t bar = 0; names->upright && bar < names->n_bars; bar++) {
        char text[LINE_TEXT];
        join(names, bar, text);
        longest = fmax(longest, pdnn_plot_text_pixels(text));
    }
    int lines = names->bar_lines + names->set_lines;
    double below = names->set_lines ? set_gap_pixels : 0;
    names->height = gap_pixels + (names->upright ? longest : lines * line_pixels + below);
}

static void put_label(struct pdnn_str *script, size_t label, const char *text, double x, double y) {
    pdnn_str_printf(script, "set label %zu ", label);
    pdnn_gnuplot_quote(script, text);
    pdnn_str_printf(script, " at first ");
    pdnn_plot_number(script, x, ", screen ");
    pdnn_plot_number(script, y, " font 'DejaVu Sans,11' textcolor rgb '#222222' ");
}

static void put_lines(const struct pdnn_bar_name *name, double y, double picture_height, size_t *label,
                      struct pdnn_str *script) {
    struct lines lines;
    wrap(name, &lines);
    for (int i = 0; i < lines.count; i++) {
        double line_y = y - (i + 0.5) * line_pixels;
        put_label(script, (*label)++, lines.text[i], name->center, line_y / picture_height);
        pdnn_str_printf(script, "center\n");
    }
}

void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, double picture_height,
                        struct pdnn_str *script) {
    size_t label = FIRST_LABEL;
    double y = bottom - gap_pixels, set_y = y - names->bar_lines * line_pixels - set_gap_pixels;
    for (size_t bar = 0; bar < names->n_bars; bar++) {
        char text[LINE_TEXT];
        if (!names->upright) {
            put_lines(&names->bar[bar], y, picture_height, &label, script);
            continue;
        }
        join(names, bar, text);
        put_label(script, label++, text, names->bar[bar].center, y / picture_height);
        pdnn_str_printf(script, "right rotate by 90\n");
    }
    for (size_t set = 0; !names->upright && set < names->n_sets; set++)
        put_lines(&names->set[set], set_y, picture_height, &label, script);
}
