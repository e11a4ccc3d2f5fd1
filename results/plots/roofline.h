/* The roofline picture: see results/plots/roofline.gp for how it looks and plot_frame.h for where labels go.
 */
#ifndef RESULTS_PLOTS_ROOFLINE_H
#define RESULTS_PLOTS_ROOFLINE_H

#include "results/plots/plot.h"

enum pdnn_status pdnn_plot_roofline(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                                    struct pdnn_err *err);

#endif
