/* Pictures from the tables of a result directory, drawn by gnuplot (Debian package gnuplot-nox). gnuplot is
 * started without a shell, on a script that the build embeds into this program. */
#ifndef RESULTS_PLOTS_PLOT_H
#define RESULTS_PLOTS_PLOT_H

#include "base/target.h"

#include <stddef.h>

enum pdnn_plot_format { PDNN_PLOT_BOTH, PDNN_PLOT_SVG, PDNN_PLOT_PNG, PDNN_PLOT_FORMAT_COUNT };

struct pdnn_plot_request {
    const char *directory;   /* with results.csv, ceilings.csv and, for the title, environment.yaml */
    const char *color;       /* roofline: a column of results.csv, or NULL: "bound" */
    const char *by;          /* breakdown: what a part of a bar is; NULL: "group" */
    const char *across;      /* breakdown: keys that put bars side by side, or NULL */
    const char *const *only; /* breakdown: which instances, as in pdnn_selection_open */
    size_t n_only;
    /* The file, or NULL: DIR/<kind>; an extension .svg or .png is replaced. A device, a pipe or an own
     * descriptor takes one picture as it is, SVG unless the format is PNG. */
    const char *output;
    enum pdnn_plot_format format;
};

enum { PDNN_PLOT_PATH = PDNN_TARGET_TEXT };

struct pdnn_plot_result {
    char path[2][PDNN_PLOT_PATH]; /* the files that were written; not a device or pipe */
    int n_paths;
    int drawn, left_out; /* rows drawn; rows that could not be (not ok, or lacking a plotted value) */
};

/* A kind of picture is results/plots/<name>.c with its pdnn_plot_<name>, <name>.gp beside it, and one word in
 * the root meson.build. */
struct pdnn_plot_def {
    const char *name, *help;
    /* The options of `paradnn plot` that it reads besides output and format, NULL-terminated. */
    const char *const *options;
    const char *drawn, *left_out_as; /* what a row becomes: "points"; why rows are left out */
    enum pdnn_status (*draw)(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err);
};

/* The kinds that `paradnn plot KIND` takes; NULL-terminated. */
extern const struct pdnn_plot_def *const pdnn_plots[];

const struct pdnn_plot_def *pdnn_plot_find(const char *name);

#endif
