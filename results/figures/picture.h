/* Pictures from the tables of result directories, and the data behind each as CSV: what is asked for, the
 * kinds there are, and a picture while it is drawn. */
#ifndef RESULTS_FIGURES_PICTURE_H
#define RESULTS_FIGURES_PICTURE_H

#include "base/paths/target.h"
#include "results/figures/caption.h"
#include "results/figures/chart.h"
#include "results/whatif/distribution.h"
#include "results/whatif/hardware.h"

/* The words of --format, NULL-terminated; csv: the data behind the picture. */
extern const char *const pdnn_plot_formats[];

/* An option that is not given is NULL. A picture reads those that its row names, and the row's help says
 * what they mean there. */
struct pdnn_plot_request {
    const char *const *directory; /* with results.csv, and what else the picture reads */
    size_t n_directories;         /* at least 1; the pictures go to the first */
    const char *x, *y, *value;
    const char *color, *by, *across;       /* columns of results.csv, or lists of them */
    struct pdnn_hardware_request hardware; /* of a projection */
    struct pdnn_distribution_request distribution;
    const char *const *only; /* which instances, as in pdnn_selection_open_all */
    size_t n_only;
    /* The file, or NULL: DIR/<kind>. An extension .svg, .png, .pdf, .tex or .csv is the format, unless
     * another one is requested, which replaces it; without a request any other extension is an error. A
     * device, a pipe or an own descriptor takes one picture as it is, SVG unless another format is requested.
     */
    const char *output;
    const char *width, *height;    /* "85mm", "60mm" */
    const char *x_range, *y_range; /* "0.1:100", "1:"; only where the kind's axis takes one */
    double font_size;              /* in points, 4 to 40; 0: the usual one */
    bool no_title, no_caption;     /* what is around the picture is left to the text that has it */
    /* What the directories and `only` stand for, ended ok or not, where it is open; else NULL; borrowed. */
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *ops; /* of the directories, where they are open; else NULL; borrowed */
    const char *format;          /* one of these words; NULL: svg, and png where the build has it */
};

struct pdnn_plot_result {
    char path[2][PDNN_TARGET_TEXT]; /* the files that were written; not a device or pipe */
    int n_paths;
    struct pdnn_str data;   /* csv without an output: the table, which the caller finishes */
    size_t drawn, left_out; /* rows drawn; rows that could not be (not ok, or lacking a plotted value) */
    size_t outside;         /* rows that the ranges leave out */
};

struct pdnn_picture;

/* What the engine opens before a picture is drawn. */
enum pdnn_plot_source {
    PDNN_PLOT_OWN,  /* nothing: the picture chooses */
    PDNN_PLOT_ROWS, /* the chosen rows of all directories */
    PDNN_PLOT_PAIRS /* the same, and the comparisons */
};

/* A column of results.csv that a picture draws: what --x, --value or --color names, or else the usual one. */
struct pdnn_plot_column {
    const char *option, *usual;
};
enum { PDNN_PLOT_COLUMNS_MAX = 5 };

/* A kind of picture is results/figures/<name>.c with its pdnn_plot_<name>, and one word in the root
 * meson.build. */
struct pdnn_plot_def {
    const char *name, *help;
    /* The options of `paradnn plot` that it reads besides those of all, NULL-terminated; the help names each
     * of them. */
    const char *const *options;
    bool takes_one;                  /* directory, not several */
    const char *drawn, *left_out_as; /* what a row becomes: "points"; why rows are left out */
    bool takes_costs;                /* it draws columns that costs alone have too */
    enum pdnn_plot_source of;
    bool reads_ops;
    struct pdnn_plot_column column[PDNN_PLOT_COLUMNS_MAX]; /* of rows; those without a name end them */
    const char *none;        /* of a chart: what is said, behind the directory, where it has no points */
    const char *no_range[2]; /* what keeps the horizontal, the vertical axis from taking one: "has names" */
    /* Reads what the request names, and fills the picture's table and canvas, or its chart. */
    enum pdnn_status (*draw)(struct pdnn_picture *picture, struct pdnn_err *err);
};

/* The kinds that `paradnn plot KIND` takes; NULL-terminated. */
extern const struct pdnn_plot_def *const pdnn_plots[];

const struct pdnn_plot_def *pdnn_plot_find(const char *name);

/* What it holds is released when its files are written. */
struct pdnn_picture {
    const struct pdnn_plot_request *request;
    double scale; /* CSS pixels per unit: the fonts have their usual sizes in units */
    double width; /* what was asked for, in CSS pixels */
    struct pdnn_arena arena;
    struct pdnn_selection selection;
    struct pdnn_comparison *comparisons; /* n_comparisons of them, of the selection's rows */
    size_t n_comparisons;
    struct pdnn_ops_reader *ops;       /* of the selection's directories */
    int column[PDNN_PLOT_COLUMNS_MAX]; /* those that the kind of picture names, in its order */
    struct pdnn_canvas canvas;         /* of the size that was asked for, until its contents need another */
    struct pdnn_entries legend;        /* of a picture that is no chart, which draws it */
    bool of_sources;                   /* a panel for each directory, and a column that names it */
    struct pdnn_chart chart; /* drawn on the canvas afterwards, where it has points; also of others, the
                              * ranges asked for, and how many rows these leave out */
    struct pdnn_table data;  /* what is shown */
    const size_t *columns;   /* n_columns of its columns, in their order; NULL: all */
    size_t n_columns;
    size_t n_beyond; /* of the table's last rows: models of their own, too many to be read */
    size_t drawn, left_out;
};

/* The chosen instances of all the request's directories. */
enum pdnn_status pdnn_picture_select(struct pdnn_picture *picture, struct pdnn_err *err);

/* Of the selection, which is open: the comparison of the first directory with each other one, or of both
 * sides in the only one. Without needs_all, those that cannot be made are left out. */
enum pdnn_status pdnn_picture_compare(struct pdnn_picture *picture, bool needs_all, struct pdnn_err *err);

/* The chosen instances of one of the directories; to be closed. */
void pdnn_picture_part(const struct pdnn_picture *picture, size_t source, struct pdnn_selection *part);

/* Gives each directory a panel of the chart, with its title (pdnn_plot_titles), and the table that is started
 * then a first column for the panels' directories, which points fill; or says that there are too many. */
enum pdnn_status pdnn_picture_source_panels(struct pdnn_picture *picture, const char *what,
                                            struct pdnn_err *err);

/* Adds to the legend, or with several panels to this one's subtitle. */
void pdnn_picture_note(struct pdnn_picture *picture, size_t panel, const char *note);

/* Gives each comparison a panel of the chart, with its title; or says that there are too many. */
enum pdnn_status pdnn_picture_compare_panels(struct pdnn_picture *picture, const char *what,
                                             struct pdnn_err *err);

/* The row of the results that a pair has on side B. */
size_t pdnn_picture_pair_row(const struct pdnn_comparison *comparison, size_t pair);

/* Starts the table of what is shown. `names` are those of its columns, with a '#' before one of numbers
 * and a '+' before one of counts: "id #bytes #bus_gbs color". */
void pdnn_picture_table(struct pdnn_picture *picture, const char *names);

/* What that table calls a column of results.csv: its name in files, as one word. */
const char *pdnn_picture_name(struct pdnn_picture *picture, int column);

/* The chart's point of a chosen row, colored by that column. */
struct pdnn_chart_point pdnn_picture_place(const struct pdnn_picture *picture, size_t at,
                                           struct pdnn_spot spot, int color);

/* Adds a row; its first column is the panel's directory where there are several. */
size_t pdnn_picture_row(struct pdnn_picture *picture, size_t panel);

/* Fills the last row's cells from column `first` on, each by its column's kind: a const char *, a double or a
 * size_t. */
void pdnn_picture_fill(struct pdnn_picture *picture, size_t first, ...);

/* Adds a point to the chart, and a row with these cells; its color is the last cell and not named. */
void pdnn_picture_point(struct pdnn_picture *picture, struct pdnn_chart_point point, ...);

/* The chosen instance's id. */
const char *pdnn_picture_id(const struct pdnn_picture *picture, size_t at);

/* Draws a picture, which is {0} before; it is to be finished, also after a failure. */
enum pdnn_status pdnn_picture_draw(struct pdnn_picture *picture, const struct pdnn_plot_def *def,
                                   const struct pdnn_plot_request *request, struct pdnn_err *err);
void pdnn_picture_finish(struct pdnn_picture *picture);

/* Draws a picture and writes its files, or the data if they are requested; files are tried before one is
 * replaced. */
enum pdnn_status pdnn_picture_make(const struct pdnn_plot_def *def, const struct pdnn_plot_request *request,
                                   struct pdnn_plot_result *result, struct pdnn_err *err);

#endif
