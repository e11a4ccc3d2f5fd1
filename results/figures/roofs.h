/* The measured roofs as lines of a picture's chart: bandwidths slanted, arithmetic level; a panel for each
 * directory and number of threads that has roofs of its own. Shared by the pictures of models and of ops. */
#ifndef RESULTS_FIGURES_ROOFS_H
#define RESULTS_FIGURES_ROOFS_H

#include "results/figures/picture.h"
#include "results/rows/roofline.h"

enum { PDNN_ROOF_LINES_MAX = 2 * PDNN_DTYPE_COUNT, PDNN_ROOF_SLANTS_MAX = 2 * PDNN_ROOF_LEVELS };

/* A roof as it is drawn, named by its text unless that is NULL, with what it ranges over where measurements
 * were joined, else the same. */
struct pdnn_drawn_roof {
    const char *name, *text;
    double value, low, high; /* GFLOP/s or GB/s */
    bool dashed;
};

/* The roofs of one panel. */
struct pdnn_roof_panel {
    const struct pdnn_roof_rows *roof_rows;
    size_t source;                    /* its directory */
    const char *name, *threads;       /* of the directory; which these are for */
    bool has_dtype[PDNN_DTYPE_COUNT]; /* of the instances with that thread count */
    struct pdnn_plot_tally rows;
    size_t otherwise; /* of them with another thread count, for which there are no roofs */
    struct pdnn_roofs roofs;
    double peak_gflops; /* the highest */
    bool has_train, has_infer;
    /* of each level what reads reach, for models that infer, and the best pattern, for those that train,
     * where these differ: models that only read reach no more than reads do */
    struct pdnn_drawn_roof slanted[PDNN_ROOF_SLANTS_MAX];
    struct pdnn_drawn_roof compute[PDNN_ROOF_LINES_MAX]; /* highest first */
    size_t n_slanted, n_compute;
};

struct pdnn_roof_panels {
    struct pdnn_picture *in;
    struct pdnn_roof_panel panel[PDNN_CHART_PANELS_MAX]; /* by directory, then by threads */
    size_t count;
    size_t *panel_of; /* by chosen row */
};

/* Reads ceilings.csv of each directory, finds the roofs for the chosen rows that are drawn (NULL: all), and
 * starts the table with a row for each roof. Those with a thread count that was not measured stand under the
 * roofs of their directory's most frequent one. PDNN_INVALID if that has none, or if there are more than
 * PDNN_CHART_PANELS_MAX panels.
 *
 * The table's columns are kind, name, intensity_flop_per_byte, gflops and bw_gbs, then those of the given
 * names, which a roof lacks, and, where there are several panels, results and threads. */
enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels, struct pdnn_picture *picture,
                                       const bool *is_drawn, const char *names, struct pdnn_err *err);

/* Describes the chart when it has its points: its panels, titled "Roofline of new.results: 30 models", axes
 * with room for all ridges and for the texts along the slanted roofs, and lines. */
void pdnn_roof_panels_put(const struct pdnn_roof_panels *panels, const char *what);

#endif
