/* `paradnn plot span`: from the least to the greatest model of each family, with its presets. */
#include "results/figures/boxes.h"

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    return pdnn_boxes_draw(picture, true, err);
}

const struct pdnn_plot_def pdnn_plot_span = {
    .name = "span",
    .help =
        "a bar per family from the least to the greatest --value (default: params, with the family's presets "
        "as points); --only",
    .options = (const char *const[]){"value", "only", NULL},
    .drawn = "models",
    .left_out_as = "models without a value",
    .no_range = {"has names"},
    .takes_costs = true,
    .of = PDNN_PLOT_ROWS,
    .draw = draw,
};
