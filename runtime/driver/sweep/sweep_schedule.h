/* The instances of a sweep and its rules; which instance is visited next, and which are done. Pure
 * bookkeeping: no processes, no clock. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_SCHEDULE_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_SCHEDULE_H

#include "base/stats.h"
#include "runtime/driver/sweep/sweep_groups.h"
#include "runtime/driver/worker/library_dir.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/protocol/request.h"
#include "runtime/protocol/standing.h"
#include "runtime/protocol/visit.h"

#include <stdbool.h>

/* One instance to visit. */
struct pdnn_task {
    struct pdnn_instance instance;
    const char *id;        /* borrowed */
    const char *label;     /* for progress, borrowed; NULL: the id */
    uint64_t memory_bytes; /* predicted */
    uint64_t flop_count;   /* of one step: for the order and the first ETA */
    uint64_t visit_ns;     /* wall time of one visit as predicted; 0: not known */
    uint64_t extra_ns;     /* of the visits beyond its rounds that it is likely to get, as predicted */
    size_t visits_done;    /* ok visits from an earlier run, loaded by the caller */
    const double *medians; /* medians of those visits, visits_done of them; or NULL */
    uint64_t spent_ns;     /* sampling time of those visits: sum of samples * steps_per_sample * mean_ns */
    const struct pdnn_example_lengths *lengths; /* of its examples, in a set; borrowed; NULL: drawn */
    uint64_t min_samples;                       /* of each visit; 0: as the rules say */
    /* In `paired` order, those with the same number above 0 are the sides of one comparison, PDNN_PAIRS_SIDES
     * at most, and are visited next to each other. */
    size_t group;
    const struct pdnn_turn *turns; /* its direct visits from an earlier run, ok or not; borrowed */
    size_t n_turns;
    size_t crashes; /* crashes in a row at the end of its visits: runtime/protocol/standing.h */
    /* already has its final status (filtered, unsupported, oom_predicted, ...) and is never visited */
    bool closed;
};

/* With a deadline, an instance is begun only if there seems to be time for all its rounds. Which ones are:
 * a balanced sample (runtime/driver/sweep/sweep_spread.h); or the shortest. Those not begun keep their place
 * in that order, and a rerun goes on with them. */
enum pdnn_reach { PDNN_REACH_SPREAD, PDNN_REACH_SMALLEST, PDNN_REACH_COUNT };

/* Round r visits every open instance that has fewer than r visits, in an order that depends on the round, the
 * first of which is balanced, so
 * a resumed sweep continues where it stopped, in the order it would have had. Instances whose interval is
 * wider than the precision get extra visits, spread over the whole sweep: as many as max_time allows, up to
 * four times `rounds` in total.
 *
 * In `paired` order, each pass visits whole groups (struct pdnn_task), next to each other, by workers that
 * start with the pass. A group gets its rounds, and then more until each side is slower, faster or alike
 * (base/stats.h; precision is alike's), up to the last look or max_time for all of its members together. */
struct pdnn_sweep_rules {
    /* the same for every visit, except id, max_visit_ns, cold and cache_bytes */
    struct pdnn_request request;
    struct pdnn_library_dirs libraries;     /* that instances may name */
    const struct pdnn_roof_rows *roof_rows; /* for the measured cache sizes; NULL: not measured */
    int64_t rounds;
    uint64_t max_time_ns;   /* for all visits to one instance; paired: to one group */
    bool cost_order;        /* small to large instead of shuffled */
    bool paired;            /* groups side by side instead */
    size_t shards;          /* of the sweep, of which these tasks are one; 0: they are all of it */
    uint64_t time_limit_ns; /* for one visit, preparation included; 0: none */
    /* When all visits must have ended, on the visitor's clock, which is base/clock; 0: never. No visit starts
     * that is expected to end later, and the one that is running then is dropped. */
    uint64_t deadline_ns;
    enum pdnn_reach reach; /* which instances come first if there is no time for all of them */
    /* nonzero once the sweep is to end, set by a signal handler; NULL: never */
    const volatile int *stop;
    uint64_t grace_ns; /* what the current visit may still take then; 0: one second */
};

struct pdnn_sweep_progress {
    size_t visits_done, visits_planned; /* planned grows when intervals stay wide */
    double eta_seconds;                 /* until the last one or the deadline; < 0: not known yet */
    const char *label;                  /* of the current task */
};

/* In paired order, what a visit samples at most, and how many of an instance's visits stamp its ops. */
#define PDNN_SCHEDULE_PAIRED_NS UINT64_C(50000000)
enum { PDNN_SCHEDULE_STAMPED = 3 };

/* Upper limit on the visits per instance, as a multiple of `rounds`, however wide the interval. */
enum { PDNN_SCHEDULE_EXTRA = 4 };

/* State of one task. */
struct pdnn_schedule_task {
    double *medians; /* heap: medians of its ok visits */
    size_t visits, room;
    struct pdnn_scatter scatter;   /* of those visits */
    struct pdnn_standing standing; /* of the visits in this run, and the crashes before it */
    uint64_t spent_ns;
    bool closed;
    bool passed_over; /* there was no time for its next visit */
    bool waits;       /* not begun: there may be no time for all its rounds */
    bool wide;        /* the interval is so wide that it needs more visits than the rounds give */
    uint64_t wall_ns; /* wall time of its visits in this run */
    size_t walls;
};

struct pdnn_schedule {
    const struct pdnn_task *tasks; /* borrowed */
    const struct pdnn_sweep_rules *rules;
    size_t n_tasks;
    struct pdnn_schedule_task *state; /* one per task */
    uint32_t *order;                  /* order of the current pass */
    uint32_t *by_cost;                /* all tasks, smallest first */
    uint32_t *spread; /* all tasks, every prefix a balanced sample: the order of the first pass */
    uint32_t *reach;  /* the order in which a deadline lets tasks begin; NULL: there is none */
    size_t n_waiting;
    double most_rounds_ns;         /* what rounds of a task take that is begun before longer ones */
    uint64_t most_visit_ns;        /* sampling time of a visit while some wait */
    struct pdnn_scatter *scatters; /* one per task, for pooling them */
    struct pdnn_scatter pool;      /* of all tasks, as of the end of the last pass */
    double *scratch;
    size_t scratch_room;
    uint64_t wall_ns, predicted_ns; /* of this run's visits that have a prediction */
    /* Passes count from 1, PDNN_SCHEDULE_EXTRA per round, in paired order one; next: index into order. */
    size_t pass, next;
    struct pdnn_paired_groups groups; /* in paired order */
};

/* Starts from the earlier visits in tasks. */
void pdnn_schedule_init(struct pdnn_schedule *schedule, const struct pdnn_task *tasks, size_t n_tasks,
                        const struct pdnn_sweep_rules *rules);
void pdnn_schedule_finish(struct pdnn_schedule *schedule);

/* Sets *task to the next one to visit; false when all are done. */
bool pdnn_schedule_next(struct pdnn_schedule *schedule, size_t *task);

/* Sampling time limit for the task's next visit. */
uint64_t pdnn_schedule_visit_ns(const struct pdnn_schedule *schedule, size_t task);

/* Whether the task's next visit is the first of its group in this round, with which a probe comes. */
bool pdnn_schedule_is_first(const struct pdnn_schedule *schedule, size_t task);

/* Takes the task, and in paired order its group, out of this run: there is no time for its next visits. */
void pdnn_schedule_pass_over(struct pdnn_schedule *schedule, size_t task);

/* Records a visit that took wall_ns in all. */
void pdnn_schedule_note(struct pdnn_schedule *schedule, size_t task, const struct pdnn_visit *visit,
                        uint64_t wall_ns);

/* Wall time that the task's next visit is likely to take: the mean of its visits in this run, or its
 * prediction, scaled by what this run's predictions were off by; at most limits.time. 0: not known. */
uint64_t pdnn_schedule_wall_ns(const struct pdnn_schedule *schedule, size_t task);

/* The same of all visits that the task's group still gets in this pass; outside of paired order, of one. */
uint64_t pdnn_schedule_turn_ns(const struct pdnn_schedule *schedule, size_t task);

/* Decides which of the tasks without a visit may be begun if left_ns are left: those for whose rounds there
 * seems to be time, beside the rounds of what was begun already; or if that is none, one visit to one task.
 * As long as others wait, nothing gets more visits than its rounds, and no visit samples for more than a
 * small part of the time. Call it now and then: it starts from what visits took so far. */
void pdnn_schedule_plan(struct pdnn_schedule *schedule, uint64_t left_ns);

/* Sets order[0..n_tasks) to the order in which a deadline lets tasks begin: rules->reach. rules->deadline_ns
 * is not 0. */
void pdnn_sweep_begin_order(const struct pdnn_task *tasks, size_t n_tasks,
                            const struct pdnn_sweep_rules *rules, uint32_t *order);

/* How many of the tasks would be begun if left_ns were left, as predicted. rules->deadline_ns is not 0. */
size_t pdnn_sweep_reach(const struct pdnn_task *tasks, size_t n_tasks, const struct pdnn_sweep_rules *rules,
                        uint64_t left_ns);

/* Number of open tasks with fewer visits than rounds. */
size_t pdnn_schedule_unfinished(const struct pdnn_schedule *schedule);

/* Visits done, visits still to come as far as known now, and the time those will take, left_ns at most. Tasks
 * that wait do not count, but if some do, all the time will be used. */
void pdnn_schedule_progress(const struct pdnn_schedule *schedule, uint64_t left_ns,
                            struct pdnn_sweep_progress *progress);

#endif
