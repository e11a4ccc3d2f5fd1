/* What all pictures share: their output files and the text above them. */
#ifndef RESULTS_FIGURES_FILE_H
#define RESULTS_FIGURES_FILE_H

#include "base/str.h"
#include "results/query/selection.h"
#include "results/figures/plot.h"

/* What a picture is made of. */
struct pdnn_plot_parts {
    const char *kind;
    const struct pdnn_str *variables; /* and data blocks: the script's first part */
    const char *embedded;             /* its second part */
    const struct pdnn_table *data;    /* what is shown */
    const size_t *columns;            /* n_columns of its columns, in their order; NULL: all */
    size_t n_columns;
};

/* Runs the script once for each requested format, or writes the data if they are requested. Files are named
 * as plot.h says and tried before anything is drawn; *result gets their names. */
enum pdnn_status pdnn_plot_write(const struct pdnn_plot_request *request, const struct pdnn_plot_parts *parts,
                                 struct pdnn_plot_result *result, struct pdnn_err *err);

/* The chosen instances of all the request's directories. */
enum pdnn_status pdnn_plot_select(const struct pdnn_plot_request *request, struct pdnn_selection *selection,
                                  struct pdnn_err *err);

/* Appends `name = number`. */
void pdnn_plot_variable(struct pdnn_str *script, const char *name, double value);

/* Appends the exact number, or "NaN", followed by `after`. */
void pdnn_plot_number(struct pdnn_str *script, double value, const char *after);

#endif
