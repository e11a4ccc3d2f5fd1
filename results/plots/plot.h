/* Pictures from the tables of a result directory, drawn by gnuplot (Debian package gnuplot-nox), which is
 * started without a shell on a script that was embedded into this program when it was built. */
#ifndef RESULTS_PLOTS_PLOT_H
#define RESULTS_PLOTS_PLOT_H

#include "base/err.h"

#include <stddef.h>

enum pdnn_plot_format { PDNN_PLOT_BOTH, PDNN_PLOT_SVG, PDNN_PLOT_PNG, PDNN_PLOT_FORMAT_COUNT };

struct pdnn_plot_request {
    const char *directory;   /* with results.csv, ceilings.csv and, for the title, environment.yaml */
    const char *color;       /* roofline: a column of results.csv, or NULL: "bound" */
    const char *by;          /* breakdown: what a part of a bar is, or NULL: "group" */
    const char *across;      /* breakdown: keys that set bars side by side, or NULL */
    const char *const *only; /* breakdown: which instances, as pdnn_selection_open has it */
    size_t n_only;
    const char *output; /* the file, or NULL: DIR/<kind>; .svg and .png are put in place of its extension */
    enum pdnn_plot_format format;
};

enum { PDNN_PLOT_PATH = 4096 };

struct pdnn_plot_result {
    char path[2][PDNN_PLOT_PATH]; /* the files written */
    int n_paths;
    int drawn, left_out; /* rows drawn; rows that could not be (not ok, or without what is drawn) */
};

/* A kind is results/plots/<name>.c with its pdnn_plot_<name>, <name>.gp beside it, and one word in the root
 * meson.build. */
struct pdnn_plot_def {
    const char *name, *help;
    const char *const
        *options; /* those of `paradnn plot` that it reads beside output and format; NULL ends */
    const char *drawn, *left_out_as; /* what one row becomes: "points"; why rows are left out */
    enum pdnn_status (*draw)(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err);
};

/* What `paradnn plot KIND` knows; ended by NULL. */
extern const struct pdnn_plot_def *const pdnn_plots[];

const struct pdnn_plot_def *pdnn_plot_find(const char *name);

#endif
