/* What the instances of a session consist of: the distinct operators of all of them, each with its cache
 * state, and for each instance which of them it runs how often. Listing compiles every model in a worker and
 * runs none, although implementations are chosen by measuring as in a sweep. */
#ifndef SESSION_COMPOSE_OPERATORS_H
#define SESSION_COMPOSE_OPERATORS_H

#include "base/texts.h"
#include "results/store/journal.h"
#include "session/session.h"

/* One operator of all the session's instances. */
struct pdnn_operator_facts {
    uint64_t bytes; /* of its operands */
    uint64_t runs;  /* in one step of each instance, added up */
    size_t models;  /* instances that have it */
    size_t task;    /* the one with the smallest block */
    uint64_t block_bytes;
};

/* How often an instance runs an operator, and the row of ops.csv that counts it. */
struct pdnn_operator_use {
    size_t number; /* of the operator */
    uint32_t op, runs;
};

struct pdnn_task_operators {
    const struct pdnn_operator_use *use;
    size_t count;   /* 0: not listed, or its outcome is not ok */
    bool is_listed; /* its outcome is that of its visit in `listed` */
};

/* {0} is empty. */
struct pdnn_operators {
    struct pdnn_texts keys;            /* the operators by number */
    struct pdnn_operator_facts *facts; /* by number */
    size_t room;
    struct pdnn_task_operators *tasks; /* by the session's tasks */
    struct pdnn_visits listed; /* by id: one visit with the outcome, and the rows of ops.csv without times */
    struct pdnn_arena arena;
};

/* Which tasks to compile. */
struct pdnn_operators_order {
    const size_t *tasks; /* closed ones are passed over; NULL: all in order */
    size_t count;
    uint64_t deadline_ns; /* the others are left; 0: none are */
    double seconds;       /* what it is guessed to take; < 0: not known */
};

/* Collects the operators of the session's open tasks, or adds those of other tasks than before. rules: the
 * session's (pdnn_session_rules), with roofs, from which cache sizes are taken. PDNN_INTERRUPTED if the user
 * asked to end. Release *operators with pdnn_operators_finish, also after a failure. */
enum pdnn_status pdnn_operators_collect(struct pdnn_operators *operators, const struct pdnn_session *session,
                                        struct pdnn_sweep_workers *workers,
                                        const struct pdnn_sweep_rules *rules,
                                        const struct pdnn_operators_order *order, struct pdnn_err *err);
void pdnn_operators_finish(struct pdnn_operators *operators);

/* The request about one task: for its visits, its operators, and the measurement of one. */
struct pdnn_request pdnn_operators_request(const struct pdnn_session *session,
                                           const struct pdnn_sweep_rules *rules, size_t task);

#endif
