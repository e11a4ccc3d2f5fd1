/* The words around a picture of results.csv: title, subtitle, titles of axes. */
#ifndef RESULTS_FIGURES_CAPTION_H
#define RESULTS_FIGURES_CAPTION_H

#include "base/str.h"
#include "results/compare/compare.h"
#include "results/query/selection.h"

/* Appends TITLE, which is `what` and, where that ends with "in" or "of", the names of the directories; and
 * SUBTITLE: the processor and what all chosen instances have in common. */
void pdnn_plot_titles(struct pdnn_str *script, const char *what, const struct pdnn_selection *selection);

/* The same of a comparison: TITLE is "<what> of B over A" and, where keys differ and there is room, the
 * directories; SUBTITLE has what both sides of all pairs have in common. */
void pdnn_plot_compare_titles(struct pdnn_str *script, const char *what,
                              const struct pdnn_comparison *comparison);

enum { PDNN_SIDE_TEXT = 160 };

/* What a picture calls one side of a comparison: its label, or of a directory the last part of its path where
 * that tells the two apart. Returns buffer. */
const char *pdnn_plot_side(const struct pdnn_comparison *comparison, int side, char buffer[PDNN_SIDE_TEXT]);

/* Appends TITLE and SUBTITLE, cut to the width of a picture; the latter may be NULL for none. */
void pdnn_plot_put_titles(struct pdnn_str *script, const char *title, const char *subtitle);

/* Appends the names of the directories, without the rest of their paths: "a", "a and b", "a, b and 2 more".
 */
void pdnn_plot_directories(const char *const *directory, size_t n, struct pdnn_str *out);

/* The index of any column of results.csv. PDNN_INVALID names the nearest one. */
enum pdnn_status pdnn_plot_column(const struct pdnn_selection *selection, const char *name, int *column,
                                  struct pdnn_err *err);

enum { PDNN_AXIS_TEXT = 160 };

/* "time_ns_median (ns)": a column of results.csv with its unit, if it has one. Returns buffer. */
const char *pdnn_plot_axis(const char *column, char buffer[PDNN_AXIS_TEXT]);

#endif
