/* `paradnn plot span`: from the least to the greatest model of each family, with its presets. */
#include "results/figures/box.h"

#include <math.h>
#include <string.h>

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const char *name = picture->request->value ? picture->request->value : "params";
    struct pdnn_box_request box = {.caption =
                                       "A bar goes from the least to the greatest model that was measured",
                                   .style = {{0, 0, 0.5, 1, 1}, false, false},
                                   .line = NAN,
                                   .adds_presets = strcmp(name, "params") == 0};
    pdnn_boxes_init(&box, picture);
    if (pdnn_boxes_take(&box, picture, name, "of", err) != PDNN_OK)
        return err->status;
    if (picture->selection.results.n_directories > 1)
        box.keys = (struct pdnn_axes){.column = {picture->selection.results.results}, .count = 1};
    return pdnn_boxes_draw(&box, picture, err);
}

const struct pdnn_plot_def pdnn_plot_span = {
    .name = "span",
    .help =
        "a bar per family from the least to the greatest --value (default: params, with the family's presets "
        "as points); --only",
    .options = (const char *const[]){"value", "only", NULL},
    .drawn = "models",
    .left_out_as = "models without a value",
    .of = PDNN_PLOT_ROWS,
    .draw = draw,
};
