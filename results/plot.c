#define _POSIX_C_SOURCE 200809L
#include "results/plot.h"
#include "results/plot_roofline.h"

#include <string.h>

const struct pdnn_plot_def pdnn_plots[] = {
    {"roofline", "the measured roofs and one point per instance: operational intensity against FLOP rate",
     pdnn_plot_roofline},
    {NULL, NULL, NULL},
};

const struct pdnn_plot_def *pdnn_plot_find(const char *name) {
    for (const struct pdnn_plot_def *plot = pdnn_plots; plot->name; plot++) {
        if (strcmp(plot->name, name) == 0)
            return plot;
    }
    return NULL;
}
