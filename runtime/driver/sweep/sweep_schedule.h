/* Which instance is visited next, and which are done. Pure bookkeeping: no processes, no clock.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_SCHEDULE_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_SCHEDULE_H

#include "runtime/driver/sweep/sweep.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"

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
    uint32_t *reach;                  /* the order in which tasks are begun; NULL: there is time for all */
    size_t n_waiting;
    uint64_t most_visit_ns;        /* sampling time of a visit while some wait */
    struct pdnn_scatter *scatters; /* one per task, for pooling them */
    struct pdnn_scatter pool;      /* of all tasks, as of the end of the last pass */
    double *scratch;
    size_t scratch_room;
    uint64_t wall_ns, predicted_ns; /* of this run's visits that have a prediction */
    size_t pass, next; /* passes count from 1, PDNN_SCHEDULE_EXTRA per round; next: index into order */
};

/* Starts from the earlier visits in tasks. */
void pdnn_schedule_init(struct pdnn_schedule *schedule, const struct pdnn_task *tasks, size_t n_tasks,
                        const struct pdnn_sweep_rules *rules);
void pdnn_schedule_finish(struct pdnn_schedule *schedule);

/* Sets *task to the next one to visit; false when all are done. */
bool pdnn_schedule_next(struct pdnn_schedule *schedule, size_t *task);

/* Sampling time limit for the task's next visit. */
uint64_t pdnn_schedule_visit_ns(const struct pdnn_schedule *schedule, size_t task);

/* Records a visit that took wall_ns in all. */
void pdnn_schedule_note(struct pdnn_schedule *schedule, size_t task, const struct pdnn_visit *visit,
                        uint64_t wall_ns);

/* Wall time that the task's next visit is likely to take: the mean of its visits in this run, or its
 * prediction, scaled by what this run's predictions were off by; at most limits.time. 0: not known. */
uint64_t pdnn_schedule_wall_ns(const struct pdnn_schedule *schedule, size_t task);

/* There is no time for the task's next visit: it gets no more in this run. */
void pdnn_schedule_pass_over(struct pdnn_schedule *schedule, size_t task);

/* Sets the order in which tasks are begun if there is a deadline. Called by init. */
void pdnn_schedule_reach(struct pdnn_schedule *schedule);

/* Decides which of the tasks without a visit may be begun if left_ns are left: those for whose rounds there
 * seems to be time, beside the rounds of what was begun already; or if that is none, one visit to one task.
 * As long as others wait, nothing gets more visits than its rounds, and no visit samples for more than a
 * small part of the time. Call it now and then: it starts from what visits took so far. */
void pdnn_schedule_plan(struct pdnn_schedule *schedule, uint64_t left_ns);

/* Whether the last plan has left out tasks. */
bool pdnn_schedule_is_waiting(const struct pdnn_schedule *schedule);

/* Number of open tasks with fewer visits than rounds. */
size_t pdnn_schedule_unfinished(const struct pdnn_schedule *schedule);

/* Visits done, visits still to come as far as known now, and the time those will take, left_ns at most. Tasks
 * that wait do not count, but if some do, all the time will be used. */
void pdnn_schedule_progress(const struct pdnn_schedule *schedule, uint64_t left_ns,
                            struct pdnn_sweep_progress *progress);

#endif
