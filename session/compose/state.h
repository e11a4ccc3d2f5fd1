/* What the stages of a composition share. Private to session/compose. */
#ifndef SESSION_COMPOSE_STATE_H
#define SESSION_COMPOSE_STATE_H

#include "runtime/protocol/standing.h"
#include "session/compose/operators.h"
#include "session/compose/plan.h"
#include "session/compose/compose.h"

/* A measurement of an operator samples for at most this long, or until it has measure.min_samples. */
enum { PDNN_COMPOSE_MEASURE_NS = 150000000 };

/* What becomes of a task. */
enum role { ROLE_NONE, ROLE_COMPOSED, ROLE_VALIDATES, ROLE_CALIBRATES, ROLE_DIRECT };

struct context {
    int64_t backend, threads, isa, library;
    char text[PDNN_LIBRARY_CONTEXT_TEXT];
    char software[PDNN_LIBRARY_NAME_TEXT];
};

/* By task. */
struct model {
    enum role role;
    bool is_closed;  /* before roles were given */
    bool is_sampled; /* to validate or calibrate if it is composed, by the budget's plan */
};

/* By operator. */
struct measured {
    size_t context;
    double floor_ns;
    bool is_tried; /* measured in this run */
    bool is_used;  /* of a composed model */
};

struct compose {
    struct pdnn_sweep_directory *sweep;
    const struct pdnn_session *session;
    const struct pdnn_compose_request *request;
    struct pdnn_compose_result *result;
    struct pdnn_sweep_rules rules;
    struct pdnn_sweep_workers *workers;
    struct pdnn_compose_plan plan;
    struct pdnn_operators operators;
    struct pdnn_choose fates;           /* what is decided on, once it is compiled: operators by number */
    struct pdnn_neighbours *neighbours; /* of the present round */
    struct model *of;                   /* by task */
    struct measured *measured;          /* by operator */
    size_t *order;                      /* operators in the order of measurement */
    struct context *contexts;
    size_t n_contexts;
    double guessed_seconds; /* for the measurements of operators made now */
};

static inline bool is_composed(enum role role) {
    return role != ROLE_NONE && role != ROLE_DIRECT;
}

static inline bool find_times(const struct compose *compose, size_t number,
                              struct pdnn_library_times *times) {
    *times = (struct pdnn_library_times){.reason = ""};
    return pdnn_library_find(compose->request->library,
                             compose->contexts[compose->measured[number].context].text,
                             compose->operators.keys.text[number], times);
}

/* What the model was listed as: its outcome, memory and rows. */
static inline struct pdnn_instance_visits listed(const struct compose *compose, size_t task) {
    return pdnn_visits_of(&compose->operators.listed, compose->session->tasks[task].id);
}

/* The number of the context that the task's operators are measured in. */
enum pdnn_status pdnn_compose_find_context(struct compose *compose, size_t task, size_t *number,
                                           struct pdnn_err *err);

/* The plan; with a budget, without what earlier runs have done. */
enum pdnn_status pdnn_compose_prepare(struct compose *compose, struct pdnn_err *err);

/* What the library has of all rounds costs nothing in the plan. */
void pdnn_compose_note_known(struct compose *compose);

/* Compiles all models, or with a budget some more of them; *guessed: seconds, added up over all calls. */
enum pdnn_status pdnn_compose_list(struct compose *compose, double *guessed, struct pdnn_err *err);

/* Roles for those that were drawn, or without a budget for the first of all, by the roles there are. */
void pdnn_compose_give_samples(struct compose *compose);

/* What is measured, what predicted and what is left, within the time that there is. */
enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err);

/* The operators to measure, those of one model together: first of the models that were drawn as samples, then
 * of the others in the order of the plan, so that whatever ends early has a balanced sample. Returns how
 * many.
 */
size_t pdnn_compose_order(struct compose *compose);

/* Measures the first `count` of that order that lack this round. */
enum pdnn_status pdnn_compose_measure(struct compose *compose, size_t count, size_t round,
                                      struct pdnn_err *err);

/* A visit of this round to each composed model that lacks it. */
enum pdnn_status pdnn_compose_add_up(struct compose *compose, size_t round, struct pdnn_err *err);

/* The last stage: the intervals of the composed rows. Visits with PDNN_FLAG_SETTLED are appended, which
 * repeat the rounds and replace them, unless they would repeat what is there. Their quantiles p10 and p90 are
 * the limits of an interval by the models that calibrate (results/stats/means.h), of the same family, mode
 * and size of memory as far as there are enough; without them, the rounds' own. */
enum pdnn_status pdnn_compose_settle(struct compose *compose, struct pdnn_err *err);

#endif
