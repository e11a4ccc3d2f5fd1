/* `paradnn plot boxes`: how a column, or the ratio of two platforms, spreads over the models of each family
 * and platform. */
#include "models/instance.h"
#include "results/compare/compare.h"
#include "results/figures/box.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_box_request box;
};

/* The first is the baseline of a title and of the vertical axis. */
static void name_ratios(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    const struct pdnn_comparison *c = &p->in->comparison;
    const bool many = p->in->request->n_directories > 2;
    const char *a = many ? p->in->selection.results.name[0] : pdnn_plot_side(arena, c, PDNN_SIDE_A),
               *b = pdnn_plot_side(arena, c, PDNN_SIDE_B);
    p->box.title = many
                       ? pdnn_arena_printf(arena, "Speed-up over %s", a)
                       : pdnn_arena_printf(arena, "Speed-up of %s over %s%s", b, a, c->n_across ? " in" : "");
    p->box.y_title = many ? pdnn_arena_printf(arena, "step time of %s over that of the other", a)
                          : pdnn_plot_ratio_axis(arena, "step time", c);
}

/* Every directory against the first, or both sides in one; a ratio belongs to the row of side B. */
static enum pdnn_status take_ratios(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    const struct pdnn_comparison *c = &p->in->comparison;
    if (request->value)
        return pdnn_fail(err, PDNN_INVALID, "the boxes of --across show ratios of times, not --value");
    p->box.line = 1;
    for (size_t other = request->n_directories > 1; other < request->n_directories; other++) {
        if (pdnn_picture_compare(p->in, other, err) != PDNN_OK)
            return err->status;
        for (size_t pair = 0; pair < c->pairs.n_rows; pair++) {
            const size_t row = pdnn_picture_pair_row(p->in, other, pair);
            p->box.value[row] = pdnn_pair_ratio(c, pair);
            p->box.notes[row] = pdnn_plot_pair_notes(c, pair);
        }
        p->box.left_out += c->unpaired.n_rows;
    }
    name_ratios(p);
    return PDNN_OK;
}

/* Whether instances with a value differ in the column, and all have a cell there unless some may lack it. */
static bool varies(const struct picture *p, int column, bool may_lack) {
    const struct pdnn_selection *selection = &p->in->selection;
    const char *first = NULL;
    bool several = false, empty = false;
    for (size_t at = 0; at < selection->count && column >= 0; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (isnan(p->box.value[selection->row[at]]))
            continue;
        first = first ? first : value;
        several = several || strcmp(value, first) != 0;
        empty = empty || !*value;
    }
    return several && (may_lack || !empty);
}

/* The run settings that differ among the values' instances, and the directories. */
static void choose_keys(struct picture *p) {
    const struct pdnn_selection *selection = &p->in->selection;
    for (size_t s = 0; s < PDNN_SETTING_COUNT; s++) {
        int column = pdnn_results_named(&selection->results, pdnn_settings[s].name);
        /* A setting that some lack follows another one, as the optimizer does the mode. */
        if (varies(p, column, false) && !pdnn_selection_key(selection, column)->follows &&
            p->box.keys.count + (selection->results.n_directories > 1) < PDNN_SELECTION_AXES_MAX)
            p->box.keys.column[p->box.keys.count++] = column;
    }
    if (varies(p, selection->results.results, true))
        p->box.keys.column[p->box.keys.count++] = selection->results.results;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    struct picture p = {.in = picture,
                        .box = {.style = {{0.02, 0.09, 0.5, 0.91, 0.98}, true, true},
                                .line = NAN,
                                .caption =
                                    "Box: percentiles 9 to 91; bar: median; whiskers: percentiles 2 and 98; "
                                    "circles: beyond; n: models."}};
    const bool is_ratio = request->across || (request->n_directories > 1 && !request->value);
    pdnn_boxes_init(&p.box, picture);
    enum pdnn_status status =
        is_ratio ? take_ratios(&p, err)
                 : pdnn_boxes_take(&p.box, picture,
                                   request->value ? request->value
                                                  : pdnn_selection_utilization(&picture->selection),
                                   "in", err);
    if (status == PDNN_OK && request->by)
        status = pdnn_axes_parse(&picture->selection, request->by, &p.box.keys, err);
    else if (status == PDNN_OK)
        choose_keys(&p);
    return status == PDNN_OK ? pdnn_boxes_draw(&p.box, picture, err) : status;
}

const struct pdnn_plot_def pdnn_plot_boxes = {
    .name = "boxes",
    .help =
        "the percentiles 2, 9, 50, 91 and 98 of --value (default: pct_of_peak, or gflops where no model has "
        "it), or, with --across or for several RESULTS without --value, of the speed-up over the first as in "
        "speedup: a box per family and value of --by (default: the run settings that vary, and results), "
        "presets as points; --only",
    .options = (const char *const[]){"value", "across", "by", "only", NULL},
    .drawn = "models",
    .left_out_as = "models without a value",
    .of = PDNN_PLOT_ROWS,
    .draw = draw,
};
