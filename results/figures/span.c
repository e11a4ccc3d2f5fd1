/* `paradnn plot span`: from the least to the greatest model of each family, with its presets. */
#include "results/figures/box.h"
#include "results/figures/caption.h"

#include <math.h>
#include <string.h>

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const char *name = picture->request->value ? picture->request->value : "params";
    const struct pdnn_selection *selection = &picture->selection;
    int column = -1;
    if (pdnn_picture_select(picture, err) != PDNN_OK ||
        pdnn_picture_column(picture, name, NULL, &column, err) != PDNN_OK)
        return err->status;
    size_t *at = pdnn_arena_alloc(&picture->arena, selection->count + 1, sizeof *at);
    double *value = pdnn_arena_alloc(&picture->arena, selection->count + 1, sizeof *value);
    struct pdnn_box_request box = {
        .title = pdnn_arena_printf(&picture->arena, "%s of", pdnn_plot_words(name)),
        .y_title = pdnn_plot_axis(&picture->arena, &selection->results, column),
        .caption = "A bar goes from the least to the greatest model that was measured",
        .selection = selection,
        .at = at,
        .value = value,
        .left_out = selection->left_out,
        .style = {{0, 0, 0.5, 1, 1}, false, false},
        .line = NAN,
        .adds_presets = strcmp(name, "params") == 0};
    if (selection->results.n_directories > 1)
        box.keys = (struct pdnn_axes){.column = {selection->results.results}, .count = 1};
    for (size_t i = 0; i < selection->count; i++) {
        at[box.n_values] = i;
        value[box.n_values] = pdnn_picture_number(picture, i, column);
        if (isnan(value[box.n_values]))
            box.left_out++;
        else
            box.n_values++;
    }
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
    .draw = draw,
};
