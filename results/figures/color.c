#include "results/figures/color.h"
#include "base/memory.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Okabe-Ito palette, which is safe for color-blind readers, and a few more; light colors last. */
static const int word_colors[PDNN_PLOT_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                  0x56b4e9, 0x7b3294, 0x8c510a, 0xf0e442, 0x4d4d4d};

enum { WORDS_MAX = PDNN_PLOT_COLORS };

int pdnn_plot_distinct_color(size_t index) {
    return word_colors[index];
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

/* The distinct values if they are few: a tick at batch size 91 would mean nothing. */
static void list_values(const struct pdnn_point_color *colors, size_t n, struct pdnn_color_key *key) {
    for (size_t i = 0; i < n; i++) {
        size_t at = key->n_values;
        while (at && key->value[at - 1] > colors[i].value)
            at--;
        if (isnan(colors[i].value) || (at && key->value[at - 1] == colors[i].value))
            continue;
        if (key->n_values == PDNN_KEY_VALUES) {
            key->n_values = 0;
            return;
        }
        memmove(key->value + at + 1, key->value + at, (key->n_values++ - at) * sizeof *key->value);
        key->value[at] = colors[i].value;
    }
}

static void color_by_number(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                            struct pdnn_color_key *key) {
    enum { SHADES = 32 }; /* so that points of a shade are one series */
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        colors[i] = (struct pdnn_point_color){NAN, PDNN_INK_OTHERS, PDNN_CIRCLE};
        if (!pdnn_parse_double(cells[i], &colors[i].value))
            continue;
        least = fmin(least, colors[i].value);
        greatest = fmax(greatest, colors[i].value);
    }
    double margin = least == greatest ? (least == 0 ? 1 : fabs(least) / 10) : 0;
    key->scale = (struct pdnn_scale){.low = least - margin,
                                     .high = greatest + margin,
                                     .to = 1,
                                     .base = least > 0 && greatest > 10 * least ? 10 : 0};
    for (size_t i = 0; i < n; i++)
        if (!isnan(colors[i].value))
            colors[i].ink =
                pdnn_palette(round(pdnn_scale_at(&key->scale, colors[i].value) * SHADES) / SHADES);
    list_values(colors, n, key);
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

/* What bounds models looks the same in every picture. */
enum { BOUNDS = 3 };

static size_t bound_of(const char *word) {
    static const char *const bounds[BOUNDS] = {"compute", "memory", "overhead"};
    size_t k = 0;
    while (k < BOUNDS && strcmp(bounds[k], word) != 0)
        k++;
    return k;
}

static void color_by_word(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                          struct pdnn_color_key *key) {
    struct word *words = pdnn_alloc(n + 1, sizeof *words);
    size_t n_words = count_words(cells, n, words);
    size_t shown = n_words <= WORDS_MAX ? n_words : WORDS_MAX - 1;
    bool has_bound = n_words <= BOUNDS + 1 && n_words && bound_of(words[0].text) < BOUNDS;
    key->n_words = shown + (shown < n_words);
    key->n_others = n_words - shown;
    for (size_t i = 0, others = 0; i < key->n_words; i++) {
        struct pdnn_color_word *word = &key->word[i];
        size_t bound = bound_of(words[i].text), look = !has_bound       ? i
                                                       : bound < BOUNDS ? bound
                                                                        : BOUNDS + others++;
        word->look = (struct pdnn_point_color){NAN, i < shown ? word_colors[look] : PDNN_INK_OTHERS,
                                               (enum pdnn_symbol)(look % PDNN_SYMBOL_COUNT)};
        if (i >= shown)
            snprintf(word->text, sizeof word->text, "%zu others", n_words - shown);
        else
            snprintf(word->text, sizeof word->text, "%s", *words[i].text ? words[i].text : "(none)");
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < shown && strcmp(words[at].text, cells[i]) != 0)
            at++;
        colors[i] = key->word[at].look;
    }
    free(words);
}

void pdnn_plot_color(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                     struct pdnn_color_key *key) {
    *key = (struct pdnn_color_key){0};
    if (all_numbers(cells, n))
        color_by_number(cells, n, colors, key);
    else
        color_by_word(cells, n, colors, key);
}
