#include "results/figures/color.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/figures/gnuplot.h"
#include "results/table/csv.h"

#include <math.h>
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

/* Circle, triangle, square, diamond, downward triangle, pentagon; for any index. */
static int shape_of(size_t index) {
    static const int shapes[PDNN_PLOT_SHAPES] = {7, 9, 5, 13, 11, 15};
    return shapes[index % PDNN_PLOT_SHAPES];
}

static bool all_numbers(const char *const *cells, size_t n) {
    size_t numbers = 0;
    double value;
    for (size_t i = 0; i < n; i++) {
        if (*cells[i] && !pdnn_parse_double(cells[i], &value))
            return false;
        numbers += *cells[i] != 0;
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
    pdnn_gnuplot_text(script, "CBTICS", pdnn_str_text(&ticks));
    pdnn_str_finish(&ticks);
}

static void append_number(struct pdnn_str *script, const char *name, double value) {
    pdnn_str_printf(script, "%s = ", name);
    pdnn_number_format(script, value, PDNN_DIGITS_EXACT);
    pdnn_str_append(script, "\n", 1);
}

static void color_by_number(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                            struct pdnn_str *script) {
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        colors[i] = (struct pdnn_point_color){NAN, pdnn_plot_grey, shape_of(0)};
        if (!pdnn_parse_double(cells[i], &colors[i].value))
            continue;
        least = fmin(least, colors[i].value);
        greatest = fmax(greatest, colors[i].value);
    }
    bool logarithmic = least > 0 && greatest > 10 * least;
    double margin = least == greatest ? (least == 0 ? 1 : fabs(least) / 10) : 0;
    pdnn_str_printf(script, "NUMERIC = 1\nCBLOG = %d\n", logarithmic);
    append_number(script, "CBMIN", least - margin);
    append_number(script, "CBMAX", greatest + margin);
    append_ticks(script, colors, n);
}

struct word {
    const char *text;
    size_t count, first; /* where it first appears: breaks ties in the order of the legend */
};

static int compare_words(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static size_t count_words(const char *const *cells, size_t n, struct word *words) {
    size_t n_words = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < n_words && strcmp(words[at].text, cells[i]) != 0)
            at++;
        if (at == n_words)
            words[n_words++] = (struct word){cells[i], 0, i};
        words[at].count++;
    }
    qsort(words, n_words, sizeof *words, compare_words);
    return n_words;
}

static void color_by_word(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                          struct pdnn_color_key *key) {
    struct word *words = pdnn_alloc(n + 1, sizeof *words);
    size_t n_words = count_words(cells, n, words);
    size_t shown = n_words <= WORDS_MAX ? n_words : WORDS_MAX - 1;
    key->n_words = shown + (shown < n_words);
    key->n_others = n_words - shown;
    for (size_t i = 0; i < key->n_words; i++) {
        struct pdnn_color_word *word = &key->word[i];
        word->rgb = i < shown ? word_colors[i] : pdnn_plot_grey;
        word->shape = shape_of(i);
        if (i >= shown)
            snprintf(word->text, sizeof word->text, "%zu others", n_words - shown);
        else
            snprintf(word->text, sizeof word->text, "%s", *words[i].text ? words[i].text : "(none)");
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < shown && strcmp(words[at].text, cells[i]) != 0)
            at++;
        colors[i] = (struct pdnn_point_color){NAN, key->word[at].rgb, key->word[at].shape};
    }
    free(words);
}

void pdnn_plot_color(const char *name, const char *const *cells, size_t n, struct pdnn_point_color *colors,
                     struct pdnn_color_key *key, struct pdnn_str *script) {
    *key = (struct pdnn_color_key){0};
    pdnn_gnuplot_text(script, "COLOR", name);
    if (all_numbers(cells, n)) {
        color_by_number(cells, n, colors, script);
        return;
    }
    pdnn_str_printf(script, "NUMERIC = 0\n");
    color_by_word(cells, n, colors, key);
}
