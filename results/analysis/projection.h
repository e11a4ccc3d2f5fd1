/* What steps would take on other hardware: every op of a measured step re-timed. A pure function of the rows
 * of ops.csv, the graph's costs and accesses, and two sets of roofs.
 *
 * An op that took T ns, of which a = min(T, calls * overhead) is the cost of calling the library, keeps its
 * efficiency: it would take a * overhead' / overhead + (T - a) * R' / R, where R = max(compute time, memory
 * time) is its roof under the measured roofs, and R' under the others (results/analysis/roofline.h). Products
 * compute at the rate of the libraries' large ones where both sides have it, everything else at the peak; an
 * op that calls no library has no a. The accesses are walked again under the other roofs, so that data which
 * then fits a cache comes from there; of two machines, only the patterns of bandwidth that both have count.
 * What is not in any op scales with the overhead where it is positive; stamping ops costs time too, so where
 * the ops take longer than the step, the step scales as their sum does.
 *
 * An op changes its bound where it lies between the two ridge points (TPU v2 and v3 in Wang, Wei, Brooks,
 * MLSys 2020). The limit of a kind of op is Amdahl's: the step over the step without it. */
#ifndef RESULTS_ANALYSIS_PROJECTION_H
#define RESULTS_ANALYSIS_PROJECTION_H

#include "results/analysis/hardware.h"
#include "results/analysis/selection.h"
#include "results/analysis/share_matrix.h"

enum pdnn_hardware_side { PDNN_HARDWARE_MEASURED, PDNN_HARDWARE_PROJECTED, PDNN_HARDWARE_SIDES };

/* One op under both roofs. Texts are in the arena. */
struct pdnn_projected_op {
    const char *id, *method; /* method: "projected" */
    uint64_t op_index;
    const char *layer, *op, *pass, *shape;
    const char *kind; /* what limits are summed by */
    uint64_t count;
    double time_ns, projected_ns, speedup;
    const char *bound[PDNN_HARDWARE_SIDES], *level[PDNN_HARDWARE_SIDES]; /* "" where roofs are unknown */
    bool moves;                                                          /* to another bound */
};

/* What kind of op one is, as far as the roofs of its time differ. */
struct pdnn_retimed_kind {
    bool is_product; /* of matrices, a convolution or a recurrent layer: what a library reaches is its peak */
    bool is_own;     /* a loop of paradnn's: no library is called */
};

/* What one op takes under the other roofs: input has its work and time under the measured ones, with the
 * traffic of either side. Unknown roofs leave the time as it is. */
struct pdnn_retimed {
    double ns;
    bool known;
    struct pdnn_roof_times times[PDNN_HARDWARE_SIDES];
};
struct pdnn_retimed pdnn_retime(const struct pdnn_roofs *const roofs[PDNN_HARDWARE_SIDES],
                                const struct pdnn_place_input input[PDNN_HARDWARE_SIDES],
                                struct pdnn_retimed_kind kind);

/* The step from its time and the sums over its ops. */
double pdnn_retime_step(double step_ns, const double ops_ns[PDNN_HARDWARE_SIDES], double overhead_ratio);

/* One instance. */
struct pdnn_projected {
    const char *id, *family, *method;
    double time_ns, projected_ns, speedup;
    double bound_pct[PDNN_HARDWARE_SIDES][PDNN_BOUND_COUNT]; /* of the ops' time */
    double moved_pct;   /* of the measured time of the ops: those with another bound */
    double unknown_pct; /* of the measured time of the ops: without roofs, so unchanged */
    struct pdnn_projected_op *op;
    size_t n_ops;
};

/* What a kind of op would give if it took no time: over the instances of a family that have it. */
struct pdnn_projected_limit {
    const char *family, *kind, *method;
    uint64_t instances;
    double share_pct[PDNN_HARDWARE_SIDES]; /* of the steps, mean */
    double limit[PDNN_HARDWARE_SIDES]; /* geometric mean of Amdahl's limits; NaN: such ops are all there is */
};

/* Ops of one kind and pass that change from one bound to another, over all instances. */
struct pdnn_projected_move {
    const char *family, *op, *pass, *bound[PDNN_HARDWARE_SIDES];
    const char *method;
    uint64_t instances;
    double share_pct; /* of those steps, mean */
    double speedup;   /* of these ops, geometric mean over their rows */
};

struct pdnn_projection_request {
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *readers; /* by directory of the selection */
    const struct pdnn_ceilings *ceilings;
    const struct pdnn_hardware *hardware;
    const struct pdnn_by_list *by; /* of limits; NULL: by group */
};

struct pdnn_hardware_projection {
    struct pdnn_projected *model;
    size_t n_models;
    struct pdnn_projected_limit *limit; /* by family, largest share first */
    size_t n_limits;
    struct pdnn_projected_move *move; /* largest share first */
    size_t n_moves;
    size_t without_ops;                /* chosen instances that cannot be projected */
    double ridge[PDNN_HARDWARE_SIDES]; /* FLOP/byte in f32 against the last level, of the first model */
};

extern const struct pdnn_columns pdnn_projected_columns, pdnn_projected_ops_columns,
    pdnn_projected_moves_columns, pdnn_projected_limits_columns;

/* Sums up ops that are projected already: limits and moves. */
void pdnn_projection_sums(struct pdnn_hardware_projection *projection, struct pdnn_arena *arena);

/* In the arena. PDNN_INVALID if no instance can be projected. */
enum pdnn_status pdnn_project(const struct pdnn_projection_request *request, struct pdnn_arena *arena,
                              struct pdnn_hardware_projection *projection, struct pdnn_err *err);

#endif
