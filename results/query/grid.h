/* Instances over two axes: a cell for each pair of values, with the mean of a column over those that ended
 * ok, and how many did not. A panel per family and value of further keys, and one of ratios beside each that
 * has some. Means are geometric (Fleming and Wallace, CACM 29, 1986) if all values are positive. */
#ifndef RESULTS_QUERY_GRID_H
#define RESULTS_QUERY_GRID_H

#include "results/query/selection.h"

enum { PDNN_GRID_STEPS_MAX = 48, PDNN_GRID_EXACT_MAX = 24, PDNN_GRID_PANELS_MAX = 18 };

/* The column of the key for an axis where none was named: for the first (taken: -1) the minibatch if it
 * varies, else the key with the most values, of those that every family has if there are any, of words at
 * most PDNN_GRID_EXACT_MAX; -1: none has two. */
int pdnn_grid_choose_axis(const struct pdnn_selection *selection, int taken);

struct pdnn_grid_request {
    const struct pdnn_selection *selection;
    int x, y;                     /* columns of two keys */
    int value;                    /* the column that is averaged */
    const double *ratio;          /* by row of the results, of times; NaN: none; NULL: no row has one */
    const struct pdnn_axes *keys; /* of the panels besides the family; may be empty */
    /* A key that goes together with an axis only because instances are open: cells that lack some are left
     * out, since they are of other models than those beside them. NULL: none does. */
    const char *confounder;
    const struct pdnn_axes
        *across; /* what the sides of a ratio differ by besides directories; NULL: nothing */
};

/* Numbers ascending, then words in the order of the file. More than PDNN_GRID_EXACT_MAX numbers are binned: a
 * step holds those from a power of two up to the next. */
struct pdnn_grid_axis {
    const char *name;
    bool binned;
    const char *step[PDNN_GRID_STEPS_MAX]; /* the value, or the least one that its bin may hold, as text */
    double start[PDNN_GRID_STEPS_MAX];     /* the same as a number; NaN for a word */
    size_t count;
};

struct pdnn_grid_cell {
    double mean;           /* NaN without models */
    size_t models, failed; /* instances that ended ok with a value; that were tried and failed */
    size_t predicted;      /* of the models: with predicted times (method) */
    size_t doubtful;       /* of the models: above their roof, or unusable */
    size_t open;           /* where a key confounds the axes: instances without a visit */
};

struct pdnn_grid_panel {
    size_t row; /* one of its rows of results.csv */
    bool is_ratio;
    struct pdnn_grid_cell *cell; /* x + x.count * y */
};

struct pdnn_grid {
    struct pdnn_grid_axis x, y;
    struct pdnn_grid_panel panel[PDNN_GRID_PANELS_MAX];
    size_t n_panels, n_ratios; /* panels, and those of ratios, which come last */
    bool geometric;
    double least[2], greatest[2]; /* means of the value, and of ratios */
    size_t models, failed, predicted;
    size_t left_out;   /* instances that lack an axis or the value, or that were not tried */
    size_t confounded; /* cells that were left out for that, of values and of ratios */
    size_t families;
};

/* In the arena. PDNN_INVALID if no instance has the axes and the value, or all cells are left out, or for too
 * many words or panels. */
enum pdnn_status pdnn_grid(const struct pdnn_grid_request *request, struct pdnn_arena *arena,
                           struct pdnn_grid *grid, struct pdnn_err *err);

#endif
