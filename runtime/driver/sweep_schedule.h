/* Which instance is visited next, and which are done. Pure bookkeeping: no processes, no clock. Private to
 * the driver. */
#ifndef RUNTIME_DRIVER_SWEEP_SCHEDULE_H
#define RUNTIME_DRIVER_SWEEP_SCHEDULE_H

#include "runtime/driver/sweep.h"

/* Visits per instance end at this many times `rounds`, however wide the interval. */
enum { PDNN_SCHEDULE_EXTRA = 4 };

/* One task as it goes. */
struct pdnn_schedule_task {
    double *medians; /* heap: of its ok visits */
    size_t visits, room;
    size_t crashes; /* in a row, the last ones */
    uint64_t spent_ns;
    bool closed;
    bool wide;        /* has an interval that asks for more visits than the rounds */
    uint64_t wall_ns; /* whole visits of this run */
    size_t walls;
};

struct pdnn_schedule {
    const struct pdnn_task *tasks; /* borrowed */
    const struct pdnn_sweep_rules *rules;
    size_t n_tasks;
    struct pdnn_schedule_task *state; /* by task */
    uint32_t *order;                  /* of the pass in hand */
    uint32_t *by_cost;                /* all tasks, small to large */
    double *scratch;
    size_t scratch_room;
    size_t pass, next; /* passes count from 1, PDNN_SCHEDULE_EXTRA to a round; next: index into order */
};

/* Takes up earlier visits. PDNN_NO_MEMORY. */
enum pdnn_status pdnn_schedule_init(struct pdnn_schedule *schedule, const struct pdnn_task *tasks,
                                    size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                    struct pdnn_err *err);
void pdnn_schedule_finish(struct pdnn_schedule *schedule);

/* The next visit's task; false when all are done. */
bool pdnn_schedule_next(struct pdnn_schedule *schedule, size_t *task);

/* How much sampling time the next visit of the task may take. */
uint64_t pdnn_schedule_visit_ns(const struct pdnn_schedule *schedule, size_t task);

/* Takes note of a visit, which took wall_ns altogether. */
enum pdnn_status pdnn_schedule_note(struct pdnn_schedule *schedule, size_t task,
                                    const struct pdnn_visit *visit, uint64_t wall_ns, struct pdnn_err *err);

/* How many open tasks have fewer visits than rounds. */
size_t pdnn_schedule_unfinished(const struct pdnn_schedule *schedule);

/* Visits done and still to come as far as one can see now, and how long those will take. */
void pdnn_schedule_progress(const struct pdnn_schedule *schedule, struct pdnn_sweep_progress *progress);

#endif
