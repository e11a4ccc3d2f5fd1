/* The measured roofs as lines of a chart: bandwidths slanted, arithmetic level; a panel for each directory
 * and number of threads that has roofs of its own. roofs.c finds them, roof_panels.c draws them. Shared by
 * the pictures of models and of ops. */
#ifndef RESULTS_FIGURES_ROOFS_H
#define RESULTS_FIGURES_ROOFS_H

#include "results/table/csv.h"
#include "results/rows/roofline.h"
#include "results/query/selection.h"
#include "results/figures/chart.h"

enum { PDNN_ROOF_LINES_MAX = 2 * PDNN_DTYPE_COUNT, PDNN_ROOF_TEXT = 96 };

/* The roofs of one panel. */
struct pdnn_plot_roofs {
    const struct pdnn_ceilings *ceilings;
    size_t source;                    /* its directory */
    const char *threads;              /* the thread count whose roofs these are */
    bool has_dtype[PDNN_DTYPE_COUNT]; /* of the instances with that thread count */
    size_t count;                     /* instances in the panel */
    size_t otherwise;                 /* of them with another thread count, for which there are no roofs */
    struct pdnn_roofs roofs;
    double peak_gflops; /* the highest */
    struct pdnn_compute_roof {
        char text[PDNN_ROOF_TEXT];
        double gflops;
    } compute[PDNN_ROOF_LINES_MAX]; /* highest first */
    size_t n_compute;
};

struct pdnn_picture;

struct pdnn_roof_panels {
    struct pdnn_plot_roofs panel[PDNN_CHART_PANELS_MAX]; /* by directory, then by threads */
    size_t count;
    size_t *panel_of;                /* of each instance, in the order given */
    struct pdnn_ceilings **ceilings; /* by directory */
    const struct pdnn_selection *selection;
};

/* Reads ceilings.csv of each directory and finds the roofs for these chosen instances. Those with a thread
 * count that was not measured stand under the roofs of their directory's most frequent one. PDNN_INVALID if
 * that has none, or if there are more than PDNN_CHART_PANELS_MAX panels. Release with
 * pdnn_roof_panels_finish, also after a failure. */
enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels,
                                       const struct pdnn_selection *selection, const size_t *at, size_t n,
                                       struct pdnn_arena *arena, struct pdnn_err *err);
void pdnn_roof_panels_finish(struct pdnn_roof_panels *panels);

/* Sets the chart's panels and ranges, with room for all points, all ridges, and the texts along the slanted
 * roofs; adds the lines. */
void pdnn_roof_panels_put(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart);

/* Sets the titles of the panels, "Roofline of new.results: 30 models" from the word and the noun; and their
 * subtitles: the processor, what the roofs are for, the day of the first visit, and, in the first, what was
 * left out. */
void pdnn_roof_panels_titles(const struct pdnn_roof_panels *panels, const char *what, const char *noun,
                             const char *left_out, struct pdnn_arena *arena, struct pdnn_chart *chart);

/* Starts the table of what is drawn, with a row for each roof. Its columns begin with kind, name,
 * intensity_flop_per_byte, gflops, bw_gbs (PDNN_ROOFS_COLUMNS of them) and end with the given names, which a
 * roof lacks, and, where there are several panels, results and threads. */
enum { PDNN_ROOFS_COLUMNS = 5 };
void pdnn_roof_panels_data(const struct pdnn_roof_panels *panels, const char *names,
                           struct pdnn_picture *picture);

/* Adds a row to that table, of something in the panel, and returns it; sets its place. */
size_t pdnn_roof_panels_row(const struct pdnn_roof_panels *panels, size_t panel, const char *kind,
                            const char *name, struct pdnn_table *data);
void pdnn_roof_panels_place(struct pdnn_table *data, size_t row, struct pdnn_spot spot);

#endif
