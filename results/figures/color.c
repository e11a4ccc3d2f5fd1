#include "results/figures/color.h"
#include "base/memory.h"
#include "base/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The Okabe-Ito palette, which is safe for color-blind readers, and a few more; light colors last. */
const int pdnn_plot_distinct_color[PDNN_PLOT_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                        0x56b4e9, 0x7b3294, 0x8c510a, 0xf0e442, 0x4d4d4d};

const struct pdnn_look pdnn_plot_unknown = {PDNN_INK_OTHERS, PDNN_CIRCLE};

/* Whether every cell that is not empty has one. */
static bool all_numbers(const struct pdnn_color_cell *cells, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (*cells[i].text && isnan(cells[i].number))
            return false;
        any = any || *cells[i].text;
    }
    return any;
}

/* The distinct values if they are few: a tick at batch size 91 would mean nothing. */
static void list_values(const struct pdnn_color_cell *cells, size_t n, struct pdnn_color_key *key) {
    for (size_t i = 0; i < n; i++) {
        size_t at = key->n_values;
        while (at && key->value[at - 1] > cells[i].number)
            at--;
        if (isnan(cells[i].number) || (at && key->value[at - 1] == cells[i].number))
            continue;
        if (key->n_values == PDNN_KEY_VALUES) {
            key->n_values = 0;
            return;
        }
        memmove(key->value + at + 1, key->value + at, (key->n_values++ - at) * sizeof *key->value);
        key->value[at] = cells[i].number;
    }
}

static void color_by_number(const struct pdnn_color_cell *cells, size_t n, struct pdnn_look *looks,
                            struct pdnn_color_key *key) {
    enum { SHADES = 32 }; /* so that points of a shade are one series */
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, cells[i].number);
        greatest = fmax(greatest, cells[i].number);
    }
    key->is_scale = true;
    key->scale = pdnn_scale_of(least, greatest);
    for (size_t i = 0; i < n; i++) {
        double part = round(pdnn_scale_at(&key->scale, cells[i].number) * SHADES) / SHADES;
        if (!isnan(part))
            looks[i] = (struct pdnn_look){pdnn_palette(pdnn_sequential, part), PDNN_CIRCLE};
    }
    list_values(cells, n, key);
}

/* By its number in the order in which words come, which breaks ties in the legend. */
struct word {
    size_t number, count;
};

static int compare_words(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
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

/* The most frequent words; the last entry stands for all others where there are any. */
static void list_words(const struct pdnn_texts *texts, const struct word *words, struct pdnn_arena *arena,
                       struct pdnn_color_key *key) {
    size_t shown = texts->count <= PDNN_PLOT_COLORS ? texts->count : PDNN_PLOT_COLORS - 1;
    bool has_bound =
        texts->count <= BOUNDS + 1 && texts->count && bound_of(texts->text[words[0].number]) < BOUNDS;
    key->n_words = shown + (shown < texts->count);
    key->n_others = texts->count - shown;
    for (size_t i = 0, others = 0; i < key->n_words; i++) {
        const char *text = texts->text[words[i].number];
        size_t bound = bound_of(text), look = !has_bound ? i : bound < BOUNDS ? bound : BOUNDS + others++;
        key->word[i].look = (struct pdnn_look){i < shown ? pdnn_plot_distinct_color[look] : PDNN_INK_OTHERS,
                                               (enum pdnn_symbol)(look % PDNN_WORD_SYMBOLS)};
        key->word[i].text = i >= shown ? pdnn_arena_printf(arena, "%zu others", key->n_others)
                                       : pdnn_arena_strdup(arena, text);
    }
}

static void color_by_word(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                          struct pdnn_look *looks, struct pdnn_color_key *key) {
    struct pdnn_texts texts = {0};
    size_t *of = pdnn_alloc(n + 1, sizeof *of), *rank = pdnn_alloc(n + 1, sizeof *rank);
    struct word *words = pdnn_alloc(n + 1, sizeof *words);
    for (size_t i = 0; i < n; i++) {
        if (!*cells[i].text)
            continue;
        of[i] = pdnn_texts_add(&texts, cells[i].text);
        words[of[i]].number = of[i];
        words[of[i]].count++;
    }
    qsort(words, texts.count, sizeof *words, compare_words);
    list_words(&texts, words, arena, key);
    for (size_t k = 0; k < texts.count; k++)
        rank[words[k].number] = k < key->n_words ? k : key->n_words - 1;
    for (size_t i = 0; i < n; i++)
        if (*cells[i].text)
            looks[i] = key->word[rank[of[i]]].look;
    pdnn_texts_finish(&texts);
    free(words);
    free(rank);
    free(of);
}

void pdnn_plot_color(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                     struct pdnn_look *looks, struct pdnn_color_key *key) {
    *key = (struct pdnn_color_key){0};
    for (size_t i = 0; i < n; i++) {
        looks[i] = pdnn_plot_unknown;
        key->has_unknown = key->has_unknown || !*cells[i].text;
    }
    if (all_numbers(cells, n))
        color_by_number(cells, n, looks, key);
    else
        color_by_word(cells, n, arena, looks, key);
}
