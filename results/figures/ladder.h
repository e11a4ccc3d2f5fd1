/* The left panels of `paradnn plot ceilings`: bandwidth against working set, where each level was found to
 * end, and the roofs taken from it. */
#ifndef RESULTS_FIGURES_LADDER_H
#define RESULTS_FIGURES_LADDER_H

#include "results/figures/axis.h"
#include "runtime/protocol/ceilings.h"

enum { PDNN_LADDER_SERIES_MAX = 8 };

/* Lines are in the color of the pattern; those with streaming stores are dashed. */
struct pdnn_ladder_series {
    const char *name;
    int ink;
    bool is_streaming;
};

/* What all panels of a picture have in common. */
struct pdnn_ladder {
    const struct pdnn_ceilings *ceilings;
    struct pdnn_ladder_series series[PDNN_LADDER_SERIES_MAX];
    size_t n_series;
    double xmin, xmax, ymin, ymax; /* of all panels */
};

void pdnn_ladder_init(struct pdnn_ladder *ladder, const struct pdnn_ceilings *ceilings);

/* Lines from x on, the first with its middle at y, broken where they would leave the width. Returns what the
 * others take; draws nothing on NULL. */
double pdnn_ladder_draw_legend(const struct pdnn_ladder *ladder, double x, double y,
                               struct pdnn_canvas *canvas, double width);

/* The panel of a number of threads, with the names of levels in three lines above it. A file without a ladder
 * has its roofs only, each in the middle of its level. */
void pdnn_ladder_draw(const struct pdnn_ladder *ladder, int64_t threads, double left, double bottom,
                      double right, double top, struct pdnn_canvas *canvas);

#endif
