/* Boxes of a value, one per family and per value of some keys, side by side: what `plot boxes` and `plot
 * span` draw. */
#ifndef RESULTS_FIGURES_BOXES_H
#define RESULTS_FIGURES_BOXES_H

#include "results/figures/picture.h"

/* Boxes of percentiles; of a span, from the least value to the greatest. PDNN_INVALID without values, or with
 * too many boxes. */
enum pdnn_status pdnn_boxes_draw(struct pdnn_picture *picture, bool is_span, struct pdnn_err *err);

#endif
