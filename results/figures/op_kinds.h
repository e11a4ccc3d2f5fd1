/* Ops as points of a picture: colored by kind, which is the op, category, group, pass, layer or several of
 * them, and as large as their share of their model. */
#ifndef RESULTS_FIGURES_OP_KINDS_H
#define RESULTS_FIGURES_OP_KINDS_H

#include "models/instance.h"
#include "results/stats/means.h"
#include "results/query/shares.h"
#include "results/figures/chart.h"

enum { PDNN_OP_KINDS_MAX = 512 };

struct pdnn_op_kind {
    const char *name;
    const char *text;      /* of the legend; the picture's own */
    double time_ns;        /* of all its ops */
    struct pdnn_mean mean; /* of what a picture says of these ops */
};

/* {.by}: the rest is empty. */
struct pdnn_op_kinds {
    struct pdnn_by_list by;
    struct pdnn_op_kind kind[PDNN_OP_KINDS_MAX];
    size_t count;
};

/* The number of the op's kind, new or known; its name is in the arena. The family may be NULL. PDNN_INVALID
 * with too many kinds. */
enum pdnn_status pdnn_op_kinds_find(struct pdnn_op_kinds *kinds, const struct pdnn_family_def *family,
                                    const struct pdnn_op_record *op, struct pdnn_arena *arena, size_t *kind,
                                    struct pdnn_err *err);

/* Ops below this share of their model's time are left out. */
#define PDNN_OP_LEAST_SHARE_PCT 1.0

/* A point for an op of the kind, as large as its share. */
struct pdnn_chart_point pdnn_op_point(const struct pdnn_op_kinds *kinds, size_t kind, struct pdnn_spot spot,
                                      double share_pct);

/* Gives the points the texts of their kinds as colors, and the chart a legend of sizes. */
void pdnn_op_kinds_legend(const struct pdnn_op_kinds *kinds, struct pdnn_chart *chart);

#endif
