/* Visits in memory, by instance. There are many ops with mostly equal texts, so each text is stored once:
 * memory grows with the visits and the distinct ops, not with their product. */
#ifndef RESULTS_STORE_VISITS_H
#define RESULTS_STORE_VISITS_H

#include "base/texts.h"
#include "runtime/protocol/visit.h"

/* A struct pdnn_visit_op whose texts belong to the store; equal texts are one pointer. */
struct pdnn_measured_op {
    const char *key, *layer, *implementation;
    uint64_t bytes;
    double time_ns;
    uint32_t count;
};

/* The ops of one visit. */
struct pdnn_measured_ops {
    const struct pdnn_measured_op *op;
    size_t count;
};

/* One instance's visits, in order. */
struct pdnn_instance_visits {
    struct pdnn_visit *visit; /* n_ops 0, ops NULL */
    struct pdnn_measured_ops *ops;
    size_t count, room;
};

/* {0} is empty. */
struct pdnn_visits {
    struct pdnn_texts ids;   /* by instance, in order of first visit */
    struct pdnn_texts texts; /* of the ops */
    struct pdnn_arena arena; /* the ops */
    struct pdnn_instance_visits *of;
    size_t room;
};

/* Keeps a copy of the visit (borrowed) and of its ops. */
void pdnn_visits_add(struct pdnn_visits *visits, const char *id, const struct pdnn_visit *visit);

/* The instance's visits, borrowed until the next change; all zero if there are none. */
struct pdnn_instance_visits pdnn_visits_of(const struct pdnn_visits *visits, const char *id);

/* How many visits the instance with the most of them has; 1 if there are none. */
size_t pdnn_visits_most(const struct pdnn_visits *visits);

void pdnn_visits_finish(struct pdnn_visits *visits);

#endif
