/* What steps would take on other hardware: every op of a measured step re-timed (doc/projection.md).
 *
 * An op that took T ns, of which a = min(T, calls * overhead) is the cost of calling the library, keeps its
 * efficiency: it would take a * overhead' / overhead + (T - a) * R' / R with its roofs R and R', the larger
 * of compute time and memory time each. Products compute at the rate of the libraries' large ones where both
 * sides have it, everything else at the peak. What is in no op scales with the overhead; where stamps made
 * the ops take longer than the step, the step scales as their sum does. The limit of a kind of op is
 * Amdahl's: the step over the step without it. */
#ifndef RESULTS_WHATIF_PROJECTION_H
#define RESULTS_WHATIF_PROJECTION_H

#include "results/whatif/hardware.h"
#include "results/query/selection.h"
#include "results/query/shares.h"

enum pdnn_hardware_side { PDNN_HARDWARE_MEASURED, PDNN_HARDWARE_PROJECTED, PDNN_HARDWARE_SIDES };

/* The columns of the tables below. Next to what is measured is the same as projected; shares by bound are
 * three of either. */
enum { PDNN_PROJECTED_ID, PDNN_PROJECTED_FAMILY, PDNN_PROJECTED_METHOD, PDNN_PROJECTED_TIME };
enum { PDNN_PROJECTED_SPEEDUP = 5, PDNN_PROJECTED_BOUND_PCT, PDNN_PROJECTED_MOVED_PCT = 12 };
enum { PDNN_PROJECTED_UNKNOWN_PCT = 13 };

enum { PDNN_PROJECTED_OP_ID, PDNN_PROJECTED_OP_INDEX, PDNN_PROJECTED_OP_LAYER, PDNN_PROJECTED_OP_OP };
enum { PDNN_PROJECTED_OP_PASS = 4, PDNN_PROJECTED_OP_SHAPE, PDNN_PROJECTED_OP_KIND };
enum { PDNN_PROJECTED_OP_METHOD = 7, PDNN_PROJECTED_OP_EXECUTIONS, PDNN_PROJECTED_OP_TIME };
enum { PDNN_PROJECTED_OP_SPEEDUP = 11, PDNN_PROJECTED_OP_BOUND, PDNN_PROJECTED_OP_LEVEL = 14 };
enum { PDNN_PROJECTED_OP_MOVES = 16 };

enum { PDNN_PROJECTED_MOVE_OP = 1, PDNN_PROJECTED_MOVE_PASS, PDNN_PROJECTED_MOVE_INSTANCES = 6 };
enum { PDNN_PROJECTED_MOVE_SHARE = 7, PDNN_PROJECTED_MOVE_SPEEDUP };

enum { PDNN_PROJECTED_LIMIT_FAMILY, PDNN_PROJECTED_LIMIT_KIND, PDNN_PROJECTED_LIMIT_INSTANCES = 3 };
enum { PDNN_PROJECTED_LIMIT_SHARE = 4, PDNN_PROJECTED_LIMIT_LIMIT }; /* as projected two columns further */

enum { PDNN_PROJECTED_FAMILY_INSTANCES = 2, PDNN_PROJECTED_FAMILY_SPEEDUP }; /* mean, least, most */
enum { PDNN_PROJECTED_FAMILY_BOUND_PCT = 6 };
extern const struct pdnn_table_def pdnn_projected_def, pdnn_projected_ops_def, pdnn_projected_moves_def,
    pdnn_projected_limits_def, pdnn_projected_families_def;

/* What kind of op one is, as far as the roofs of its time differ. */
struct pdnn_retimed_kind {
    bool is_product; /* of matrices, a convolution or a recurrent layer: what a library reaches is its peak */
    bool is_own;     /* a loop of paradnn's: no library is called */
};

/* What one op takes under the other roofs. Unknown roofs leave the time as it is. */
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

struct pdnn_projection_request {
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *readers; /* by directory of the selection */
    const struct pdnn_roof_rows *roof_rows;
    const struct pdnn_hardware *hardware;
    const struct pdnn_by_list *by; /* of limits; NULL: by group */
};

struct pdnn_hardware_projection {
    struct pdnn_table models; /* one row per instance */
    struct pdnn_table ops;    /* theirs, in the same order */
    struct pdnn_table families, moves, limits;
    size_t without_ops;                /* chosen instances that cannot be projected */
    double ridge[PDNN_HARDWARE_SIDES]; /* FLOP/byte in f32 against the last level, of the first model */
};

/* Empty tables, and the end of them. */
void pdnn_hardware_projection_init(struct pdnn_hardware_projection *projection);
void pdnn_hardware_projection_finish(struct pdnn_hardware_projection *projection);

/* Sums up models and ops that are projected already: families; limits by family and kind of op; and moves,
 * ops of one kind and pass that change from one bound to another. The largest shares come first. */
void pdnn_projection_sums(struct pdnn_hardware_projection *projection);

/* To be finished by the caller in any case. PDNN_INVALID if no instance can be projected. */
enum pdnn_status pdnn_project(const struct pdnn_projection_request *request,
                              struct pdnn_hardware_projection *projection, struct pdnn_err *err);

#endif
