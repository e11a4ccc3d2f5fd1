/* What the parts of a composition share. Private to session/compose. */
#ifndef SESSION_COMPOSE_COMPOSE_STATE_H
#define SESSION_COMPOSE_COMPOSE_STATE_H

#include "runtime/facts/standing.h"
#include "session/compose/compose.h"
#include "session/compose/outcome.h"

/* What becomes of a task. */
enum role { ROLE_NONE, ROLE_COMPOSED, ROLE_VALIDATES, ROLE_FITS, ROLE_CALIBRATES, ROLE_DIRECT };

struct context {
    int64_t backend, threads, isa;
    char text[PDNN_LIBRARY_CONTEXT_TEXT];
    char software[PDNN_LIBRARY_NAME_TEXT];
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
    struct pdnn_compose_fates fates;
    enum role *role;            /* by task */
    bool *closed;               /* by task: before roles were given */
    bool *is_sampled;           /* by task: to validate or correct if it is composed, by the budget's plan */
    bool *is_tried;             /* by operator: measured in this run */
    bool *is_used;              /* by operator: of a composed model */
    size_t *context_of, *order; /* by operator; operators in the order of measurement */
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
    return pdnn_library_find(compose->request->library, compose->contexts[compose->context_of[number]].text,
                             compose->operators.keys.text[number], times);
}

/* The number of the context that the task's operators are measured in. */
enum pdnn_status pdnn_compose_find_context(struct compose *compose, size_t task, size_t *number,
                                           struct pdnn_err *err);

/* Roles for the models listed since the last call, what becomes of their operators, and all rounds.
 * is_first: samples are drawn. */
enum pdnn_status pdnn_compose_rounds(struct compose *compose, bool is_first, struct pdnn_err *err);

/* Random samples of the composed models: those that validate and those that correct, every second of which
 * calibrates. A model's place is a hash of the seed and its id, so that the models of one run or pass are
 * those of the next. With a budget they are drawn from what it may buy, before anything is compiled. */
void pdnn_compose_draw_samples(struct compose *compose, double budget_seconds);
/* Roles for those that were drawn, or without a budget for the first of all, by the roles there are. */
void pdnn_compose_give_samples(struct compose *compose);

/* One measurement of the operator, as guessed before anything was measured. */
double pdnn_compose_guess(const struct compose *compose, size_t number);

/* What is measured, what predicted and what is left, within the time that there is. */
enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err);

/* The plan, then rounds: once without a budget; with one, as long as it buys more, since the first guesses
 * are rough. */
enum pdnn_status pdnn_compose_run_all(struct compose *compose, struct pdnn_err *err);

#endif
