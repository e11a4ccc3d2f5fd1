#define _POSIX_C_SOURCE 200809L
#include "results/plots/plot.h"
#include "results/plots/breakdown.h"
#include "results/plots/roofline.h"

#include <string.h>

static const char *const roofline_options[] = {"color", NULL};
static const char *const breakdown_options[] = {"by", "across", "only", NULL};

const struct pdnn_plot_def pdnn_plots[] = {
    {"roofline", "the measured roofs and one point per instance: operational intensity against FLOP rate",
     roofline_options, "points", "rows without a rate", pdnn_plot_roofline},
    {"breakdown", "one bar per instance, divided by what its time goes to", breakdown_options, "bars",
     "rows that did not end ok", pdnn_plot_breakdown},
    {.name = NULL},
};

const struct pdnn_plot_def *pdnn_plot_find(const char *name) {
    for (const struct pdnn_plot_def *plot = pdnn_plots; plot->name; plot++) {
        if (strcmp(plot->name, name) == 0)
            return plot;
    }
    return NULL;
}
