#include "results/figures/caption.h"
#include "results/store/results.h"
#include "results/table/number.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* The columns that a subtitle names where all rows have the same value. */
static const char *const common[] = {"family", "mode", "optimizer", "dtype", "backend", "fuse", "threads"};

enum { N_COMMON = sizeof common / sizeof *common };

/* Appends ", 2 threads" for the value of a column; nothing for NULL or "". */
static void put_common(const char *name, const char *value, struct pdnn_str *out) {
    if (!value || !*value)
        return;
    pdnn_str_printf(out, ", %s%s", strcmp(name, "fuse") == 0 ? "fuse " : "", value);
    if (strcmp(name, "threads") == 0)
        pdnn_str_printf(out, " thread%s", strcmp(value, "1") == 0 ? "" : "s");
}

/* The column's value if all chosen instances share it, else NULL. Of several directories also those that did
 * not end ok count: one of them may have no others. */
static const char *common_value(const struct pdnn_selection *selection, const char *name) {
    int column = pdnn_results_named(&selection->results, name);
    const char *value = selection->count ? pdnn_selection_get(selection, 0, column) : "";
    const size_t left_out = selection->results.n_directories > 1 ? selection->left_out : 0;
    for (size_t at = 1; at < selection->count + left_out; at++) {
        if (strcmp(pdnn_selection_get(selection, at, column), value) != 0)
            return NULL;
    }
    return value;
}

/* The column's value if both sides of all pairs share it, else NULL. */
static const char *common_of_pairs(const struct pdnn_comparison *comparison, const char *name) {
    const char *value = NULL;
    for (int side = 0; side < PDNN_SIDES; side++) {
        int column = pdnn_results_named(&pdnn_comparison_side(comparison, side)->results, name);
        for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
            const char *here = pdnn_comparison_get(comparison, pair, side, column);
            value = value ? value : here;
            if (strcmp(value, here) != 0)
                return NULL;
        }
    }
    return value;
}

const char *pdnn_plot_directory(struct pdnn_arena *arena, const char *directory) {
    int length;
    const char *name = pdnn_directory_name(directory, &length);
    return pdnn_arena_printf(arena, "%.*s", length, name);
}

const char *pdnn_plot_directories(struct pdnn_arena *arena, const char *const *directory, size_t n) {
    const size_t shown = n > 3 ? 2 : n;
    const char *text = "";
    for (size_t i = 0; i < shown; i++)
        text = pdnn_arena_printf(arena, "%s%s%s", text,
                                 !i           ? ""
                                 : i + 1 == n ? " and "
                                              : ", ",
                                 pdnn_plot_directory(arena, directory[i]));
    return shown < n ? pdnn_arena_printf(arena, "%s and %zu more", text, n - shown) : text;
}

void pdnn_plot_put_cpu(const char *const *directory, size_t n, struct pdnn_str *out) {
    struct pdnn_str first = {0};
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        struct pdnn_str cpu = {0};
        pdnn_environment_get(directory[i], "cpu", i ? &cpu : &first);
        several = several || (i && strcmp(pdnn_str_text(&cpu), pdnn_str_text(&first)) != 0);
        pdnn_str_finish(&cpu);
    }
    pdnn_str_printf(out, "%s",
                    several        ? "several processors"
                    : first.length ? pdnn_str_text(&first)
                                   : "unknown machine");
    pdnn_str_finish(&first);
}

/* Letters that a title has room for, in pictures of 1200 pixels. */
enum { TITLE_MOST = 90 };

const char *pdnn_plot_keep(struct pdnn_arena *arena, struct pdnn_str *text) {
    const char *kept = pdnn_arena_strdup(arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

const char *pdnn_plot_caption(struct pdnn_arena *arena, struct pdnn_str *caption,
                              const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                              const char *said) {
    struct pdnn_str usual = {0};
    pdnn_selection_where(selection, SIZE_MAX, axes, &usual);
    if (usual.length)
        pdnn_str_printf(caption, "\n%s %s", usual.text, said);
    pdnn_str_finish(&usual);
    return pdnn_plot_keep(arena, caption);
}

const char *pdnn_plot_number(struct pdnn_arena *arena, double value, int digits) {
    struct pdnn_str text = {0};
    pdnn_number_format(&text, value, digits);
    return pdnn_plot_keep(arena, &text);
}

const char *pdnn_plot_ratio(struct pdnn_arena *arena, double value) {
    struct pdnn_str text = {0};
    if (!isnan(value))
        pdnn_factor_append(&text, value);
    return pdnn_plot_keep(arena, &text);
}

const char pdnn_plot_doubt[] = "above its roof, or unusable";
const struct pdnn_mark pdnn_plot_cross = {PDNN_CROSS, 6, {PDNN_INK_TEXT, PDNN_INK_WHITE, 0.5, 0}, false};

/* In the order of their bits. */
static const struct {
    enum pdnn_result_column column;
    const char *word, *said;
} notes[PDNN_NOTES] = {{PDNN_RESULT_METHOD, "composed", "composed"},
                       {PDNN_RESULT_METHOD, "predicted", "predicted"},
                       {PDNN_RESULT_ROW_FLAGS, "above_roof", "above their roof"},
                       {PDNN_RESULT_ROW_FLAGS, "unusable", "unusable"}};

unsigned pdnn_plot_notes(const struct pdnn_selection *selection, size_t at) {
    unsigned found = 0;
    for (size_t i = 0; i < PDNN_NOTES; i++)
        if (strstr(pdnn_selection_word(selection, at, notes[i].column), notes[i].word))
            found |= 1U << i;
    return found;
}

unsigned pdnn_plot_pair_notes(const struct pdnn_comparison *comparison, size_t pair) {
    unsigned found = 0;
    for (int side = 0; side < PDNN_SIDES; side++)
        found |= pdnn_plot_notes(pdnn_comparison_side(comparison, side), comparison->at[pair][side]);
    return found;
}

void pdnn_plot_tally_add(struct pdnn_plot_tally *tally, unsigned found) {
    tally->rows++;
    for (size_t i = 0; i < PDNN_NOTES; i++)
        tally->noted[i] += found >> i & 1;
}

void pdnn_plot_tally_put(const struct pdnn_plot_tally *tally, struct pdnn_str *out) {
    for (size_t i = 0; i < PDNN_NOTES; i++)
        if (tally->noted[i])
            pdnn_str_printf(out, ", %zu of %zu %s", tally->noted[i], tally->rows, notes[i].said);
}

struct pdnn_titles pdnn_plot_titles(struct pdnn_arena *arena, const char *what,
                                    const struct pdnn_selection *selection,
                                    const struct pdnn_plot_tally *tally) {
    const struct pdnn_results *results = &selection->results;
    const char *end = strrchr(what, ' '), *title = what;
    struct pdnn_str subtitle = {0};
    if (end && (strcmp(end, " in") == 0 || strcmp(end, " of") == 0))
        title = pdnn_arena_printf(arena, "%s %s", what,
                                  pdnn_plot_directories(arena, results->directory, results->n_directories));
    pdnn_plot_put_cpu(results->directory, results->n_directories, &subtitle);
    for (size_t i = 0; i < N_COMMON; i++)
        put_common(common[i], common_value(selection, common[i]), &subtitle);
    struct pdnn_plot_tally all = {0};
    for (size_t at = 0; at < selection->count; at++)
        pdnn_plot_tally_add(&all, pdnn_plot_notes(selection, at));
    pdnn_plot_tally_put(tally ? tally : &all, &subtitle);
    return (struct pdnn_titles){title, pdnn_plot_keep(arena, &subtitle)};
}

const char *pdnn_plot_side(struct pdnn_arena *arena, const struct pdnn_comparison *comparison, int side) {
    const char *name = pdnn_plot_directory(arena, comparison->directory[side]),
               *other = pdnn_plot_directory(arena, comparison->directory[!side]);
    const bool is_directory = comparison->label[side] == comparison->directory[side];
    return is_directory && strcmp(name, other) != 0 ? name : comparison->label[side];
}

struct pdnn_titles pdnn_plot_compare_titles(struct pdnn_arena *arena, const char *what,
                                            const struct pdnn_comparison *comparison) {
    const size_t n = comparison->n_directories;
    struct pdnn_str subtitle = {0};
    const char *title = pdnn_arena_printf(arena, "%s of %s over %s", what,
                                          pdnn_plot_side(arena, comparison, PDNN_SIDE_B),
                                          pdnn_plot_side(arena, comparison, PDNN_SIDE_A)),
               *longer = pdnn_arena_printf(arena, "%s in %s", title,
                                           pdnn_plot_directories(arena, comparison->directory, n));
    pdnn_plot_put_cpu(comparison->directory, n, &subtitle);
    for (size_t i = 0; i < N_COMMON; i++)
        put_common(common[i], common_of_pairs(comparison, common[i]), &subtitle);
    struct pdnn_plot_tally all = {0};
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        pdnn_plot_tally_add(&all, pdnn_plot_pair_notes(comparison, pair));
    pdnn_plot_tally_put(&all, &subtitle);
    return (struct pdnn_titles){comparison->n_across && strlen(longer) <= TITLE_MOST ? longer : title,
                                pdnn_plot_keep(arena, &subtitle)};
}

/* What people call the columns that pictures are mostly of. */
static const struct {
    const char *column, *words, *unit;
} words[] = {{"pct_of_peak", "share of the measured peak", "%"},
             {"pct_of_roof", "share of the roof", "%"},
             {"gflops", "performance", "GFLOP/s"},
             {"bw_gbs", "bandwidth", "GB/s"},
             {"intensity_flop_per_byte", "operational intensity", "FLOP/byte"},
             {"time_ns_median", "time of a step", "ns"},
             {"params", "parameters", ""}};

static size_t find_words(const char *column) {
    size_t k = 0;
    while (k < sizeof words / sizeof *words && strcmp(words[k].column, column) != 0)
        k++;
    return k;
}

const char *pdnn_plot_words(const char *column) {
    size_t k = find_words(column);
    return k < sizeof words / sizeof *words ? words[k].words : column;
}

const char *pdnn_plot_axis(struct pdnn_arena *arena, const struct pdnn_results *results, int column) {
    const char *name = pdnn_results_name(results, column);
    const size_t k = find_words(name);
    const char *unit =
        k < sizeof words / sizeof *words ? words[k].unit : results->table.column[column].def.unit;
    return unit && *unit ? pdnn_arena_printf(arena, "%s (%s)", pdnn_plot_words(name), unit)
                         : pdnn_plot_words(name);
}

const char *pdnn_plot_ratio_axis(struct pdnn_arena *arena, const char *what,
                                 const struct pdnn_comparison *comparison) {
    return pdnn_arena_printf(arena, "%s of %s over that of %s", what,
                             pdnn_plot_side(arena, comparison, PDNN_SIDE_A),
                             pdnn_plot_side(arena, comparison, PDNN_SIDE_B));
}
