/* The words around a picture of results.csv: title, subtitle, titles of axes. */
#ifndef RESULTS_FIGURES_CAPTION_H
#define RESULTS_FIGURES_CAPTION_H

#include "results/compare/compare.h"
#include "results/figures/axis.h"

/* Why a row is not to be read like the others, as bits. */
enum {
    PDNN_NOTE_COMPOSED = 1 << 0,
    PDNN_NOTE_PREDICTED = 1 << 1,
    PDNN_NOTE_ABOVE_ROOF = 1 << 2,
    PDNN_NOTE_UNUSABLE = 1 << 3,
    PDNN_NOTES = 4,
    PDNN_NOTES_DOUBT = PDNN_NOTE_ABOVE_ROOF | PDNN_NOTE_UNUSABLE /* its number is not to be trusted */
};
extern const char pdnn_plot_doubt[]; /* what a legend says of those, and what is drawn over them */
extern const struct pdnn_mark pdnn_plot_cross;

/* The notes of a chosen row; of a pair, those of both sides. */
unsigned pdnn_plot_notes(const struct pdnn_selection *selection, size_t at);
unsigned pdnn_plot_pair_notes(const struct pdnn_comparison *comparison, size_t pair);

/* How many rows have which notes; {0} is empty. Put: ", 34 of 90 composed, 1 of 90 above their roof". */
struct pdnn_plot_tally {
    size_t rows, noted[PDNN_NOTES];
};
void pdnn_plot_tally_add(struct pdnn_plot_tally *tally, unsigned notes);
void pdnn_plot_tally_put(const struct pdnn_plot_tally *tally, struct pdnn_str *out);

/* The title is `what` and, where that ends with "in" or "of", the names of the directories; the subtitle the
 * processor, what all chosen instances have in common, and a tally, or with NULL that of all of them. Texts
 * are in the arena. */
struct pdnn_titles pdnn_plot_titles(struct pdnn_arena *arena, const char *what,
                                    const struct pdnn_selection *selection,
                                    const struct pdnn_plot_tally *tally);

/* The same of a comparison: the title is "<what> of B over A" and, where keys differ and there is room, the
 * directories; the subtitle has what both sides of all pairs have in common, and the pairs' tally. */
struct pdnn_titles pdnn_plot_compare_titles(struct pdnn_arena *arena, const char *what,
                                            const struct pdnn_comparison *comparison);

/* What a picture calls one side of a comparison: its label, or of a directory the last part of its path where
 * that tells the two apart. Borrowed. */
const char *pdnn_plot_side(const struct pdnn_comparison *comparison, int side);

/* The same of the side that n comparisons have in common: of several its directory's name. */
const char *pdnn_plot_base(const struct pdnn_comparison *of, size_t n);

/* The processor of the directories, if it is one. This and all texts below are in the arena. */
const char *pdnn_plot_cpu(struct pdnn_arena *arena, const char *const *directory, size_t n);

/* The directory's name without the rest of its path; those of several: "a and b", "a, b and 2 more". */
const char *pdnn_plot_directory(struct pdnn_arena *arena, const char *directory);
const char *pdnn_plot_directories(struct pdnn_arena *arena, const char *const *directory, size_t n);

/* The caption, and below it the values that most chosen instances have in keys other than the axes, with what
 * is said of them: "layers=4 unless stated otherwise". */
const char *pdnn_plot_caption(struct pdnn_arena *arena, struct pdnn_str *caption,
                              const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                              const char *said);

/* A number with so many significant digits; a ratio with three, "0.380"; "" for NaN. */
const char *pdnn_plot_number(struct pdnn_arena *arena, double value, int digits);
const char *pdnn_plot_ratio(struct pdnn_arena *arena, double value);

/* Moves a text into the arena. */
const char *pdnn_plot_keep(struct pdnn_arena *arena, struct pdnn_str *text);

/* What people call a column of results.csv, "performance", of a key its name; with its unit, if it has one,
 * "performance (GFLOP/s)"; the same of another table's column; and of the ratios of n comparisons with one
 * base, "step time of A over that of B", or "of the other". */
const char *pdnn_plot_words(struct pdnn_arena *arena, const struct pdnn_results *results, int column);
const char *pdnn_plot_axis(struct pdnn_arena *arena, const struct pdnn_results *results, int column);
const char *pdnn_plot_column_axis(struct pdnn_arena *arena, const struct pdnn_column_def *column);
const char *pdnn_plot_ratio_axis(struct pdnn_arena *arena, const char *what, const struct pdnn_comparison *of,
                                 size_t n);

#endif
