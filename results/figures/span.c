/* `paradnn plot span`: from the least to the greatest model of each family, with its presets. */
#include "results/figures/box.h"
#include "results/figures/caption.h"
#include "results/figures/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    const char *name = request->value ? request->value : "params";
    char title[PDNN_AXIS_TEXT], y_title[PDNN_AXIS_TEXT];
    struct pdnn_selection selection = {.count = 0};
    struct pdnn_arena arena = {0};
    struct pdnn_box_request box = {.plot = request,
                                   .kind = "span",
                                   .title = title,
                                   .y_title = pdnn_plot_axis(name, y_title),
                                   .caption =
                                       "A bar goes from the least to the greatest model that was measured",
                                   .selection = &selection,
                                   .style = {0, 0, 0.5, 1, 1, false, false},
                                   .line = NAN,
                                   .adds_presets = strcmp(name, "params") == 0};
    int column = -1;
    snprintf(title, sizeof title, "%.120s of", name);
    enum pdnn_status status = pdnn_plot_select(request, &selection, err);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&selection, name, &column, err);
    if (status == PDNN_OK) {
        size_t *at = pdnn_arena_alloc(&arena, selection.count + 1, sizeof *at);
        double *value = pdnn_arena_alloc(&arena, selection.count + 1, sizeof *value);
        box.at = at;
        box.value = value;
        box.left_out = selection.left_out;
        if (selection.results.n_directories > 1)
            box.keys = (struct pdnn_axes){.column = {selection.results.results}, .count = 1};
        for (size_t i = 0; i < selection.count; i++) {
            at[box.n_values] = i;
            value[box.n_values] = pdnn_selection_number(&selection, i, column);
            if (isnan(value[box.n_values]))
                box.left_out++;
            else
                box.n_values++;
        }
        status = pdnn_boxes_draw(&box, result, err);
    }
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
    return status;
}

static const char *const options[] = {"value", "only", NULL};

const struct pdnn_plot_def pdnn_plot_span = {
    .name = "span",
    .help =
        "a bar per family from the least to the greatest --value (default: params, with the family's presets "
        "as points); --only",
    .options = options,
    .drawn = "models",
    .left_out_as = "models without a value",
    .draw = draw,
};
