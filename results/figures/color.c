#include "results/figures/color.h"
#include "base/stats.h"
#include "base/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MOST = 9 };

/* The Okabe-Ito palette, which is safe for color-blind readers, and a few more; light colors last. */
const int pdnn_plot_distinct_color[PDNN_PLOT_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                        0x56b4e9, 0x7b3294, 0x8c510a, 0xf0e442, 0x4d4d4d};

const struct pdnn_look pdnn_plot_unknown = {PDNN_INK_OTHERS, PDNN_CIRCLE};

/* The legend has the distinct values if they are few: a tick at batch size 91 would mean nothing. */
static void color_by_number(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                            struct pdnn_look *looks, struct pdnn_color_key *key) {
    enum { SHADES = 32 }; /* so that points of a shade are one series */
    double *value = pdnn_arena_alloc(arena, n, sizeof *value);
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(cells[i].number))
            value[count++] = cells[i].number;
    pdnn_sort(value, count);
    key->is_scale = true;
    key->scale = pdnn_scale_of(value[0], value[count - 1]);
    for (size_t i = 0; i < n; i++) {
        double part = round(pdnn_scale_at(&key->scale, cells[i].number) * SHADES) / SHADES;
        if (!isnan(part))
            looks[i] = (struct pdnn_look){pdnn_palette(pdnn_sequential, part), PDNN_CIRCLE};
    }
    for (size_t i = 0; i < count; i++)
        if (i == 0 || value[i] != value[i - 1])
            value[distinct++] = value[i];
    key->value = value;
    key->n_values = distinct <= VALUES_MOST ? distinct : 0;
}

/* By its number in the order in which words come, which breaks ties in the legend. */
struct word {
    const char *text;
    size_t number, count;
};

static int compare_words(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* What bounds models looks the same in every picture. */
enum { BOUNDS = 7 };

static size_t bound_of(const char *word) {
    static const char *const bounds[BOUNDS] = {"compute",
                                               "memory",
                                               "overhead",
                                               "compute|memory",
                                               "compute|overhead",
                                               "memory|overhead",
                                               "compute|memory|overhead"};
    size_t k = 0;
    while (k < BOUNDS && strcmp(bounds[k], word) != 0)
        k++;
    return k;
}

/* The most frequent of the words; the last entry stands for all others where there are any. */
static void list_words(const struct word *words, size_t count, struct pdnn_arena *arena,
                       struct pdnn_color_key *key) {
    const size_t shown = count <= PDNN_PLOT_COLORS ? count : PDNN_PLOT_COLORS - 1;
    const bool has_bound = count && count <= BOUNDS + 1 && bound_of(words[0].text) < BOUNDS;
    key->n_words = shown + (shown < count);
    key->n_others = count - shown;
    for (size_t i = 0, others = 0; i < shown; i++) {
        const size_t bound = bound_of(words[i].text), look = !has_bound       ? i
                                                             : bound < BOUNDS ? bound
                                                                              : BOUNDS + others++;
        key->word[i] = (struct pdnn_color_word){
            words[i].text, {pdnn_plot_distinct_color[look], (enum pdnn_symbol)(look % PDNN_WORD_SYMBOLS)}};
    }
    if (shown < count)
        key->word[shown] =
            (struct pdnn_color_word){pdnn_arena_printf(arena, "%zu others", key->n_others),
                                     {PDNN_INK_OTHERS, (enum pdnn_symbol)(shown % PDNN_WORD_SYMBOLS)}};
}

static void color_by_word(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                          struct pdnn_look *looks, struct pdnn_color_key *key) {
    struct pdnn_texts texts = {0};
    struct word *words = pdnn_arena_alloc(arena, n, sizeof *words);
    struct pdnn_look *look = pdnn_arena_alloc(arena, n, sizeof *look);
    for (size_t i = 0; i < n; i++)
        if (*cells[i].text) {
            const size_t number = pdnn_texts_add(&texts, cells[i].text);
            words[number] = (struct word){cells[i].text, number, words[number].count + 1};
        }
    qsort(words, texts.count, sizeof *words, compare_words);
    list_words(words, texts.count, arena, key);
    for (size_t k = 0; k < texts.count; k++)
        look[words[k].number] = key->word[k < key->n_words ? k : key->n_words - 1].look;
    for (size_t i = 0; i < n; i++)
        if (*cells[i].text)
            looks[i] = look[pdnn_texts_find(&texts, cells[i].text)];
    pdnn_texts_finish(&texts);
}

void pdnn_plot_color(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                     struct pdnn_look *looks, struct pdnn_color_key *key) {
    bool has_number = false, has_word = false;
    *key = (struct pdnn_color_key){0};
    for (size_t i = 0; i < n; i++) {
        looks[i] = pdnn_plot_unknown;
        if (!*cells[i].text)
            key->has_unknown = true;
        else if (isnan(cells[i].number))
            has_word = true;
        else
            has_number = true;
    }
    if (has_number && !has_word)
        color_by_number(cells, n, arena, looks, key);
    else
        color_by_word(cells, n, arena, looks, key);
}
