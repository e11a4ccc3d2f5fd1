/* Times the calls of a window: warm-up, then runs until they agree or the time is spent. */
#ifndef RUNTIME_MEASURE_WINDOW_TIMES_H
#define RUNTIME_MEASURE_WINDOW_TIMES_H

#include "runtime/backend/threads.h"
#include "runtime/plan/call_window.h"
#include "runtime/protocol/request.h"

struct pdnn_call_window_target {
    const struct pdnn_call_window *window;
    const uint32_t *part_of;   /* by call of the window; PDNN_NONE: only there for the others */
    size_t n_parts;            /* each has a call; of several, the mean is taken */
    void (*evict)(void *user); /* before each run; NULL: caches stay as they are */
    void *user;
    int64_t threads;                     /* that a call keeps busy; 0: not known (core_share.h) */
    const struct pdnn_thread_team *team; /* of the pool; NULL: not known */
};

struct pdnn_part_time {
    double ns, min_ns, mad_ns;
};

/* times: by part. Of *visit it sets samples, warmups, stop, the times of all parts together, and flags.
 * PDNN_INTERNAL, with the code, when a call fails. */
enum pdnn_status pdnn_call_window_measure(const struct pdnn_call_window_target *target,
                                          const struct pdnn_measure_rules *rules,
                                          struct pdnn_part_time *times, struct pdnn_visit *visit,
                                          struct pdnn_err *err);

/* From runs, each a row with the time of each part: means over the middle half of the runs by their sums. The
 * sum over the parts then stands for the median run; medians of skewed parts would sum to several per cent
 * less. sums: n_runs, scratch; order: n_runs, out: the runs by their sums. */
void pdnn_middle_means(const double *runs, size_t n_runs, size_t n_parts, double *sums, size_t *order,
                       struct pdnn_part_time *times);

#endif
