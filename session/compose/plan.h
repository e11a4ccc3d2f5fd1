/* What a composition needs, known before anything is compiled: the distinct operators of all graphs, the
 * floor of each by the roofs, and a guess of what compiling and measuring cost. Layouts, implementations and
 * the states of caches are not known here, so that a planned operator is one or more measured ones.
 *
 * Guessed seconds: a step takes twice its floor, and at least 2 us; one measurement 10 ms, half a second per
 * GB of its operands, and the longer of 50 ms and min_samples + 5 steps; choosing the implementation of a
 * product or a recurrent layer 40 steps of at most 50 ms and half a second, once; compiling a model 4 ms,
 * 10 us a node and 0.6 ms for each group of them. */
#ifndef SESSION_COMPOSE_PLAN_H
#define SESSION_COMPOSE_PLAN_H

#include "base/texts.h"
#include "results/fit/interpolate.h"
#include "results/table/table.h"
#include "session/compose/choose.h"
#include "session/session.h"

struct pdnn_planned_operator {
    double flop_ns;         /* at the peak of its dtype */
    double measure_seconds; /* of one round */
    double choice_seconds;
    uint64_t bytes; /* of its operands */
    bool is_chosen; /* no choice is left: a model that has it was compiled */
    bool is_known;  /* measured in all rounds */
};

struct pdnn_planned_model {
    struct pdnn_choose_model as; /* its seconds: to compile it; usually to run it, if it is small */
    bool is_open;                /* else it cannot run, or has been dealt with */
    bool is_small;               /* it runs */
};

struct pdnn_compose_plan {
    const struct pdnn_session *session;
    struct pdnn_texts keys; /* "onednn threads=2 isa=default dense/forward/64x8:8x8:64x8 [planned]" */
    struct pdnn_planned_operator *operators; /* by number */
    size_t room;
    struct pdnn_planned_model *models; /* by the session's tasks */
    uint32_t
        *order; /* of the tasks: every prefix is a balanced sample (runtime/driver/sweep/sweep_spread.h) */
    double budget_seconds;               /* INFINITY: none */
    double compile_scale, measure_scale; /* what compiling and measuring took over what was guessed; 1 */
    struct pdnn_arena arena;
};

/* Plans the session's open tasks; its roofs are those that are there, or nominal rates. */
enum pdnn_status pdnn_compose_plan(struct pdnn_compose_plan *plan, const struct pdnn_session *session,
                                   double budget_seconds, struct pdnn_err *err);
void pdnn_compose_plan_finish(struct pdnn_compose_plan *plan);

/* The model has been compiled, or need not be: it is no longer open. Returns what that was guessed to take,
 * unscaled. */
double pdnn_compose_plan_compiled(struct pdnn_compose_plan *plan, size_t task);

/* A compiled operator that has been measured in all rounds. */
void pdnn_compose_plan_known(struct pdnn_compose_plan *plan, const char *key);

/* What is chosen from, with room for that many operators: its models are the session's tasks, which are left
 * as long as nothing is set. */
void pdnn_compose_choice_begin(struct pdnn_choose *choose, const struct pdnn_compose_plan *plan,
                               size_t n_operators);

/* What this much of the plan's budget buys of it. An operator that takes longer than `limits.time` or more
 * memory than there is cannot be. */
void pdnn_compose_plan_choose(const struct pdnn_compose_plan *plan, double budget_seconds,
                              struct pdnn_choose *choose);

/* What becomes of the operators, a row for each op and pass; to be finished by the caller. */
enum { PDNN_PLANNED_OP, PDNN_PLANNED_OPERATORS, PDNN_PLANNED_MEASURED, PDNN_PLANNED_PREDICTED };
enum { PDNN_PLANNED_LEFT = 4, PDNN_PLANNED_TOO_LARGE, PDNN_PLANNED_SECONDS, PDNN_PLANNED_ALL_SECONDS };
extern const struct pdnn_table_def pdnn_compose_plan_def;
void pdnn_compose_plan_table(const struct pdnn_choose *choose, struct pdnn_table *made);

/* The floor of a compiled operator (runtime/protocol/operator.h) with these operands; one that is in no
 * graph, such as a reorder, moves its bytes. */
double pdnn_compose_plan_floor(const struct pdnn_compose_plan *plan, const char *key, uint64_t bytes,
                               int64_t threads);

/* What is left of work that was guessed to take `seconds`, of which as much as `done_seconds` is done in
 * `passed`: guesses count as if they had been right for ten seconds before. */
double pdnn_compose_plan_left(double seconds, double done_seconds, double passed);

/* What of a choice's seconds is for compiling models and choosing implementations. */
double pdnn_compose_plan_compiling(const struct pdnn_compose_plan *plan, const struct pdnn_choose *choose);

/* One measurement of an operator of this floor. */
double pdnn_compose_plan_seconds(const struct pdnn_session *session, double floor_ns, uint64_t bytes);

#endif
