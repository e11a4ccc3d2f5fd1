/* Ops by kind, as points of a picture are colored: by op, category, group, pass, layer or several of them. */
#ifndef RESULTS_PLOTS_OP_KINDS_H
#define RESULTS_PLOTS_OP_KINDS_H

#include "models/instance.h"
#include "results/analysis/shares.h"

enum { PDNN_OP_KINDS_MAX = 512 };

struct pdnn_op_kind {
    const char *name;
    const char *text; /* of the legend; the picture's own */
    double time_ns;   /* of all its ops */
    double sum;       /* what else a picture adds up: of `count` ops */
    size_t count;
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

/* The area of a point is the op's share of its model, in per cent, but for those that would vanish. */
double pdnn_op_point_size(double share_pct);

#endif
