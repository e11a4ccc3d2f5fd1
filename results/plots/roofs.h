/* The measured roofs as lines of a chart: bandwidths slanted, arithmetic level. Shared by the pictures of
 * models and of ops. */
#ifndef RESULTS_PLOTS_ROOFS_H
#define RESULTS_PLOTS_ROOFS_H

#include "results/analysis/roofline.h"
#include "results/analysis/selection.h"
#include "results/plots/chart.h"

enum { PDNN_ROOF_LINES_MAX = 2 * PDNN_DTYPE_COUNT, PDNN_ROOF_TEXT = 96 };

struct pdnn_plot_roofs {
    struct pdnn_ceilings *ceilings;
    const char *threads;              /* the thread count of most instances, whose roofs these are */
    bool has_dtype[PDNN_DTYPE_COUNT]; /* of the instances with that thread count */
    size_t otherwise;                 /* instances with another thread count */
    struct pdnn_roofs roofs;
    double peak_gflops; /* the highest */
    struct pdnn_compute_roof {
        char text[PDNN_ROOF_TEXT];
        double gflops;
    } compute[PDNN_ROOF_LINES_MAX]; /* highest first */
    size_t n_compute;
};

/* Reads DIR/ceilings.csv and chooses the roofs for these chosen instances. PDNN_INVALID if it has none for
 * them. Release with pdnn_plot_roofs_finish, also after a failure. */
enum pdnn_status pdnn_plot_roofs_find(struct pdnn_plot_roofs *roofs, const char *directory,
                                      const struct pdnn_selection *selection, const size_t *at, size_t n,
                                      struct pdnn_err *err);
void pdnn_plot_roofs_finish(struct pdnn_plot_roofs *roofs);

/* Sets the chart's ranges, with room for all points, all ridges, and the texts along the slanted roofs; adds
 * the lines. */
void pdnn_plot_roofs_put(const struct pdnn_plot_roofs *roofs, struct pdnn_chart *chart);

/* Appends SUBTITLE: the processor, what the roofs are for, the day of the first visit, and what was left out.
 */
void pdnn_plot_roofs_subtitle(const struct pdnn_plot_roofs *roofs, const char *directory,
                              const struct pdnn_selection *selection, const char *left_out,
                              struct pdnn_str *script);

/* The columns of roofs in a table of data: kind, name, intensity_flop_per_byte, gflops, bw_gbs, and `empty`
 * more. Appends a row for each roof. */
void pdnn_plot_roofs_data(const struct pdnn_plot_roofs *roofs, size_t empty, struct pdnn_str *data);

#endif
