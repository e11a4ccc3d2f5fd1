/* What all pictures share: the files they are written to, and the words above them. */
#ifndef RESULTS_PLOTS_FILE_H
#define RESULTS_PLOTS_FILE_H

#include "base/str.h"
#include "results/plots/plot.h"

/* Runs the picture's script, variables and data first and then its embedded part, once for each format asked
 * for. The files are the request's or DIR/<kind>, with the format's extension in place of an .svg or .png
 * there, and are named in *result. */
enum pdnn_status pdnn_plot_write(const struct pdnn_plot_request *request, const char *kind,
                                 const struct pdnn_str *variables, const char *embedded,
                                 struct pdnn_plot_result *result, struct pdnn_err *err);

/* The result directory's own name, without what leads to it: *length letters. */
const char *pdnn_plot_directory_name(const char *directory, int *length);

/* Appends `name = number`. */
void pdnn_plot_variable(struct pdnn_str *script, const char *name, double value);

/* Appends the number exactly, "NaN" for none, and what comes behind it. */
void pdnn_plot_number(struct pdnn_str *script, double value, const char *after);

#endif
