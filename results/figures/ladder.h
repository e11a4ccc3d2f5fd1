/* The left panels of `paradnn plot ceilings`: bandwidth against working set, where each level was found to
 * end, and the roofs taken from it. */
#ifndef RESULTS_FIGURES_LADDER_H
#define RESULTS_FIGURES_LADDER_H

#include "base/str.h"
#include "runtime/protocol/ceilings.h"

/* Pixels between the left and right edge of such a panel's frame. */
enum { PDNN_PLOT_LADDER_WIDTH = 640 };

/* Appends the variables and data blocks of the panels, one per thread count, as results/figures/ceilings.gp
 * describes them. A file without a ladder has its roofs only, each in the middle of its level. */
void pdnn_plot_ladder(struct pdnn_str *script, const struct pdnn_ceilings *ceilings, const int64_t *threads,
                      size_t n_threads);

#endif
