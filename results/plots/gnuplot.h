/* Runs gnuplot on a script, without a shell; leaves no files but the picture. */
#ifndef RESULTS_PLOTS_GNUPLOT_H
#define RESULTS_PLOTS_GNUPLOT_H

#include "base/err.h"
#include "base/str.h"
#include "lists.h"

/* results/plots/<kind>.gp, embedded by the build. */
#define PDNN_PLOT_SCRIPT(kind) extern const char pdnn_plot_script_##kind[];
PDNN_PLOTS(PDNN_PLOT_SCRIPT)
#undef PDNN_PLOT_SCRIPT

/* Appends `name = 'text'`, with the text quoted for gnuplot and newlines turned into spaces. */
void pdnn_gnuplot_text(struct pdnn_str *script, const char *name, const char *text);

/* Appends the text quoted for gnuplot. */
void pdnn_gnuplot_quote(struct pdnn_str *script, const char *text);

/* Runs the script. PDNN_UNSUPPORTED if gnuplot is not installed; PDNN_IO with
 * gnuplot's message if it fails. */
enum pdnn_status pdnn_gnuplot_run(const struct pdnn_str *script, struct pdnn_err *err);

#endif
