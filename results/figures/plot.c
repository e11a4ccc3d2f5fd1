#include "results/figures/plot.h"

#include "lists.h"

#include <string.h>

#define DECLARE(name) extern const struct pdnn_plot_def pdnn_plot_##name;
#define ROW(name)     &pdnn_plot_##name,

PDNN_PLOTS(DECLARE)

const struct pdnn_plot_def *const pdnn_plots[] = {PDNN_PLOTS(ROW) NULL};

const char *const pdnn_plot_formats[] = {"svg", "png", "pdf", "tex", "csv", NULL};

const struct pdnn_plot_def *pdnn_plot_find(const char *name) {
    for (const struct pdnn_plot_def *const *plot = pdnn_plots; *plot; plot++) {
        if (strcmp((*plot)->name, name) == 0)
            return *plot;
    }
    return NULL;
}
