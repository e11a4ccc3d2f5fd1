/* Runs gnuplot on a script, without a shell and without files of any name. */
#ifndef RESULTS_FIGURES_GNUPLOT_H
#define RESULTS_FIGURES_GNUPLOT_H

#include "base/err.h"
#include "base/str.h"

/* results/figures/<name>.gp, embedded by the build: the looks of one kind of picture, or of several. */
extern const char pdnn_plot_script_chart[], pdnn_plot_script_breakdown[], pdnn_plot_script_ceilings[],
    pdnn_plot_script_heatmap[], pdnn_plot_script_box[], pdnn_plot_script_weights[],
    pdnn_plot_script_seqpoint[];

/* Appends the text as a gnuplot string. Text reaches gnuplot in no other way; data blocks hold numbers only.
 * Between the single quotes gnuplot expands nothing; a single quote is doubled. Control characters, bytes
 * that are not UTF-8, backquotes and backslashes, which gnuplot reads again in some places, become question
 * marks. */
void pdnn_gnuplot_quote(struct pdnn_str *script, const char *text);

/* Appends `name = 'text'` with the text quoted like this, and a newline. */
void pdnn_gnuplot_text(struct pdnn_str *script, const char *name, const char *text);

/* Runs the script without start-up files. What it draws goes into heap memory, and no path reaches gnuplot;
 * the caller frees *picture. PDNN_UNSUPPORTED if gnuplot is not installed; PDNN_IO with gnuplot's message if
 * it fails. */
enum pdnn_status pdnn_gnuplot_run(const struct pdnn_str *script, char **picture, size_t *length,
                                  struct pdnn_err *err);

#endif
