/* Ops as points of a picture: colored by kind, which is the op, category, group, pass, layer or several of
 * them, and as large as their share of their model. */
#ifndef RESULTS_FIGURES_OP_KINDS_H
#define RESULTS_FIGURES_OP_KINDS_H

#include "base/texts.h"
#include "results/figures/chart.h"
#include "results/query/shares.h"
#include "results/stats/means.h"

/* {0} is empty. */
struct pdnn_op_kinds {
    struct pdnn_by_list by;
    struct pdnn_texts names;
    struct pdnn_mean *mean; /* heap, by name and source: of what the picture says of these ops */
    size_t room, n_sources; /* directories, each with its own; 0: one */
};

void pdnn_op_kinds_finish(struct pdnn_op_kinds *kinds);

/* Adds a number to the mean of the op's kind in a source, and returns which kind that is. The family may be
 * NULL. */
size_t pdnn_op_kinds_add(struct pdnn_op_kinds *kinds, const struct pdnn_family_def *family,
                         const struct pdnn_op_record *op, size_t source, double number);

/* Ops below this share of their model's time are left out. */
#define PDNN_OP_LEAST_SHARE_PCT 1.0

/* A point for an op of the kind, as large as its share. */
struct pdnn_chart_point pdnn_op_point(const struct pdnn_op_kinds *kinds, size_t kind, struct pdnn_spot spot,
                                      double share_pct);

/* Gives the chart a legend of sizes and of the kinds, each with its share of all times of each source, or,
 * where numbers are the logarithms of ratios, their geometric mean. */
void pdnn_op_kinds_legend(const struct pdnn_op_kinds *kinds, bool are_times, struct pdnn_chart *chart);

#endif
