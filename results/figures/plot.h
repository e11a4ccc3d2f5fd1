/* Pictures from the tables of a result directory, drawn by gnuplot (Debian package gnuplot-nox), and the data
 * behind each as CSV, for which gnuplot is not needed. gnuplot is started without a shell, on a script that
 * the build embeds into this program. */
#ifndef RESULTS_FIGURES_PLOT_H
#define RESULTS_FIGURES_PLOT_H

#include "base/str.h"
#include "base/paths/target.h"
#include "results/whatif/hardware.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_plot_format {
    PDNN_PLOT_BOTH, /* svg and png */
    PDNN_PLOT_SVG,
    PDNN_PLOT_PNG,
    PDNN_PLOT_CSV, /* the data behind the picture */
    PDNN_PLOT_FORMAT_COUNT
};

/* The words of --format, from PDNN_PLOT_SVG on; NULL-terminated. */
extern const char *const pdnn_plot_formats[];

/* An option that is not given is NULL. A picture reads those that its row names, and the row's help says
 * what they mean there. */
struct pdnn_plot_request {
    const char *const *directory; /* with results.csv, and what else the picture reads */
    size_t n_directories;         /* at least 1; the pictures go to the first */
    const char *x, *y, *value;
    const char *color, *by, *across;       /* columns of results.csv, or lists of them */
    struct pdnn_hardware_request hardware; /* of a projection */
    const char *const *only;               /* which instances, as in pdnn_selection_open */
    size_t n_only;
    /* The file, or NULL: DIR/<kind>; an extension .svg, .png or .csv is replaced. A device, a pipe or an own
     * descriptor takes one picture as it is, SVG unless another format is requested. */
    const char *output;
    enum pdnn_plot_format format;
};

enum { PDNN_PLOT_PATH = PDNN_TARGET_TEXT };

struct pdnn_plot_result {
    char path[2][PDNN_PLOT_PATH]; /* the files that were written; not a device or pipe */
    int n_paths;
    struct pdnn_str data; /* PDNN_PLOT_CSV without an output: the table, which the caller finishes */
    int drawn, left_out;  /* rows drawn; rows that could not be (not ok, or lacking a plotted value) */
};

/* A kind of picture is results/figures/<name>.c with its pdnn_plot_<name>, a script that draws it, and one
 * word in the root meson.build, or two if the script is new. */
struct pdnn_plot_def {
    const char *name, *help;
    /* The options of `paradnn plot` that it reads besides output and format, NULL-terminated; the help names
     * each of them. */
    const char *const *options;
    size_t directories_max;          /* 0: any number */
    const char *drawn, *left_out_as; /* what a row becomes: "points"; why rows are left out */
    enum pdnn_status (*draw)(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err);
};

/* The kinds that `paradnn plot KIND` takes; NULL-terminated. */
extern const struct pdnn_plot_def *const pdnn_plots[];

const struct pdnn_plot_def *pdnn_plot_find(const char *name);

#endif
