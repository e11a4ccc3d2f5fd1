/* Paired order: the sides of comparisons, which are visited next to each other, and how long. A group are
 * tasks that run the same but for one setting. Knows tasks by their numbers only. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_GROUPS_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_GROUPS_H

#include "base/stats.h"
#include "runtime/protocol/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_paired_rules {
    size_t rounds; /* at least; 1: no more either */
    double precision;
    uint64_t max_time_ns; /* sampling time of a group */
    uint64_t seed;
    size_t shards; /* that the sweep was dealt to, of which this is one */
};

/* A task. */
struct pdnn_paired_side {
    struct pdnn_turn *turns; /* heap: its visits, ok or not */
    size_t n_turns, room;
    size_t visits; /* ok ones */
    uint64_t spent_ns;
    bool closed;    /* has ended for good, and left the comparison */
    uint32_t group; /* index of its group */
};

/* A member that has no other left gets its rounds and no more. */
struct pdnn_paired_group {
    uint32_t member[PDNN_PAIRS_SIDES]; /* tasks; the first that is open is side A */
    size_t n;
    enum pdnn_paired verdict[PDNN_PAIRS_SIDES]; /* of each member and the first */
    bool is_open;                               /* some member needs one more visit */
    bool has_rounds;                            /* all members have as many visits as the rules ask for */
    size_t round; /* turns that members have after the present round, which is whole before another begins */
    bool is_within;                  /* some member has had its turn in it */
    struct pdnn_visit_choices first; /* of the first visit of the round with this many turns before it */
    size_t first_turn;
};

/* {0} has no group. */
struct pdnn_paired_groups {
    struct pdnn_paired_rules rules;
    struct pdnn_paired_side *side; /* by task */
    size_t n_sides;
    struct pdnn_paired_group *group;
    size_t count;
    size_t comparisons; /* of the sweep, which share the one per cent: sides beside the first ones, of all
                           groups and, as far as is known, of all shards */
    uint32_t *order;    /* scratch for a pass */
    double *logs, *scratch;
    size_t logs_room;
};

/* Forms the groups: tasks with the same number above 0, PDNN_PAIRS_SIDES of them at most; others are a group
 * of their own. */
void pdnn_paired_init(struct pdnn_paired_groups *groups, const struct pdnn_paired_rules *rules,
                      const size_t *numbers, size_t n_tasks);
void pdnn_paired_finish(struct pdnn_paired_groups *groups);

/* The task's group, borrowed. */
const struct pdnn_paired_group *pdnn_paired_group_of(const struct pdnn_paired_groups *groups, size_t task);

/* Sets order[] for the pass, which counts from 1: groups shuffled, the order inside turned round each pass,
 * so that no side is always the later one. The first pass keeps the order of first members in `spread`. */
void pdnn_paired_order(struct pdnn_paired_groups *groups, size_t pass, const uint32_t *spread,
                       uint32_t *order);

/* Flags the visit, the task's next turn, if it has the questions of the first visit of its round and other
 * answers. */
void pdnn_paired_mark(struct pdnn_paired_groups *groups, size_t task, struct pdnn_visit *visit);

/* Takes a turn that sampled for so long, or that the task has ended. */
void pdnn_paired_add(struct pdnn_paired_groups *groups, size_t task, struct pdnn_turn turn,
                     uint64_t spent_ns);
void pdnn_paired_end(struct pdnn_paired_groups *groups, size_t task);

/* Decides whether the task's group needs more visits: its round is not whole, its rounds are not done, or
 * some side is undecided after a look at the pairs (base/stats.h) and max_time has room for another round.
 * is_first: also by looks that were due before. */
void pdnn_paired_judge(struct pdnn_paired_groups *groups, size_t task, bool is_first);

#endif
