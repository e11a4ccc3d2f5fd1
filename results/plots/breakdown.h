/* The breakdown picture: one bar per instance, divided by what its time goes to, in the order and the colors
 * of results/analysis/op_groups.h where parts are groups. See results/plots/breakdown.gp for how it looks. */
#ifndef RESULTS_PLOTS_BREAKDOWN_H
#define RESULTS_PLOTS_BREAKDOWN_H

#include "results/plots/plot.h"

enum pdnn_status pdnn_plot_breakdown(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                                     struct pdnn_err *err);

#endif
