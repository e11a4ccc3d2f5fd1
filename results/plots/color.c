#include "results/plots/color.h"
#include "base/units.h"
#include "results/plots/gnuplot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Okabe-Ito palette, which is safe for color-blind readers, and a few more; light colors last. */
static const unsigned word_colors[PDNN_PLOT_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                       0x56b4e9, 0x7b3294, 0x8c510a, 0xf0e442, 0x4d4d4d};

enum { WORDS_MAX = PDNN_PLOT_COLORS, TICKS_MAX = 9 };

const unsigned pdnn_plot_grey = 0xbdbdbd;

unsigned pdnn_plot_distinct_color(size_t index) {
    return word_colors[index];
}

static bool all_numbers(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows) {
    size_t numbers = 0;
    double value;
    for (size_t i = 0; i < n_rows; i++) {
        const char *cell = pdnn_csv_get(csv, rows[i], column);
        if (*cell && !pdnn_parse_double(cell, &value))
            return false;
        numbers += *cell != 0;
    }
    return numbers > 0;
}

/* Ticks at the values themselves if there are few of them: a tick at batch size 91 would mean nothing. */
static void append_ticks(struct pdnn_str *script, const struct pdnn_point_color *colors, size_t n) {
    double distinct[TICKS_MAX];
    size_t count = 0;
    struct pdnn_str ticks = {0};
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < count && distinct[at] != colors[i].value)
            at++;
        if (at < count || isnan(colors[i].value))
            continue;
        if (count == TICKS_MAX) {
            count = 0;
            break;
        }
        distinct[count++] = colors[i].value;
    }
    for (size_t i = 0; i < count; i++) {
        pdnn_str_append(&ticks, ", ", i ? 2 : 0);
        pdnn_number_format(&ticks, distinct[i], PDNN_DIGITS_TABLE);
    }
    script->failed = script->failed || ticks.failed;
    pdnn_gnuplot_text(script, "CBTICS", pdnn_str_text(&ticks));
    pdnn_str_finish(&ticks);
}

static void append_number(struct pdnn_str *script, const char *name, double value) {
    pdnn_str_printf(script, "%s = ", name);
    pdnn_number_format(script, value, PDNN_DIGITS_EXACT);
    pdnn_str_append(script, "\n", 1);
}

static void color_by_number(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows,
                            struct pdnn_point_color *colors, struct pdnn_str *script) {
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < n_rows; i++) {
        colors[i] = (struct pdnn_point_color){NAN, pdnn_plot_grey};
        if (!pdnn_parse_double(pdnn_csv_get(csv, rows[i], column), &colors[i].value))
            continue;
        least = fmin(least, colors[i].value);
        greatest = fmax(greatest, colors[i].value);
    }
    bool logarithmic = least > 0 && greatest > 10 * least;
    double margin = least == greatest ? (least == 0 ? 1 : fabs(least) / 10) : 0;
    pdnn_str_printf(script, "NUMERIC = 1\nN_WORDS = 0\narray WORD[1]\narray WORD_COLOR[1]\nCBLOG = %d\n",
                    logarithmic);
    append_number(script, "CBMIN", least - margin);
    append_number(script, "CBMAX", greatest + margin);
    append_ticks(script, colors, n_rows);
}

struct word {
    const char *text;
    size_t count, first; /* row of its first appearance: breaks ties in the order of the legend */
};

static int compare_words(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static size_t count_words(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows,
                          struct word *words) {
    size_t n_words = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const char *cell = pdnn_csv_get(csv, rows[i], column);
        size_t at = 0;
        while (at < n_words && strcmp(words[at].text, cell) != 0)
            at++;
        if (at == n_words)
            words[n_words++] = (struct word){cell, 0, i};
        words[at].count++;
    }
    qsort(words, n_words, sizeof *words, compare_words);
    return n_words;
}

static enum pdnn_status color_by_word(const struct pdnn_csv *csv, int column, const size_t *rows,
                                      size_t n_rows, struct pdnn_point_color *colors, struct pdnn_str *script,
                                      struct pdnn_err *err) {
    struct word *words = calloc(n_rows + 1, sizeof *words);
    if (!words)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
    size_t n_words = count_words(csv, column, rows, n_rows, words);
    size_t shown = n_words <= WORDS_MAX ? n_words : WORDS_MAX - 1;
    size_t entries = shown + (shown < n_words);
    for (size_t i = 0; i < n_rows; i++) {
        size_t at = 0;
        while (at < shown && strcmp(words[at].text, pdnn_csv_get(csv, rows[i], column)) != 0)
            at++;
        colors[i] = (struct pdnn_point_color){NAN, at < shown ? word_colors[at] : pdnn_plot_grey};
    }
    pdnn_str_printf(script, "NUMERIC = 0\nN_WORDS = %zu\narray WORD[%zu]\narray WORD_COLOR[%zu]\n", entries,
                    entries + 1, entries + 1);
    for (size_t i = 0; i < entries; i++) {
        char name[32], other[64];
        snprintf(name, sizeof name, "WORD[%zu]", i + 1);
        snprintf(other, sizeof other, "%zu others", n_words - shown);
        const char *text = i >= shown ? other : *words[i].text ? words[i].text : "(none)";
        pdnn_gnuplot_text(script, name, text);
        pdnn_str_printf(script, "WORD_COLOR[%zu] = %u\n", i + 1, i < shown ? word_colors[i] : pdnn_plot_grey);
    }
    free(words);
    return PDNN_OK;
}

enum pdnn_status pdnn_plot_color(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows,
                                 struct pdnn_point_color *colors, struct pdnn_str *script,
                                 struct pdnn_err *err) {
    pdnn_gnuplot_text(script, "COLOR", csv->header[column]);
    if (!all_numbers(csv, column, rows, n_rows))
        return color_by_word(csv, column, rows, n_rows, colors, script, err);
    color_by_number(csv, column, rows, n_rows, colors, script);
    return PDNN_OK;
}
