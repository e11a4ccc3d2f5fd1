/* How kernels share work: on all threads of the OpenMP pool or on one, each with its own span. Never on part
 * of the pool: libgomp ends the threads that a smaller team leaves out and restarts them for the next. */
#ifndef RUNTIME_KERNELS_SIMD_TEAM_H
#define RUNTIME_KERNELS_SIMD_TEAM_H

#include <stdint.h>

/* With fewer floats per array, a fork and join (1 to 5 us) costs more than it saves. */
enum { PDNN_TEAM_MIN_ELEMENTS = 16384 };

struct pdnn_span {
    int64_t begin, end;
};

static inline int64_t pdnn_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Part `index` of `parts` of [0, n), in whole grains but for the last. */
static inline struct pdnn_span pdnn_span_of(int64_t n, int64_t grain, int64_t index, int64_t parts) {
    int64_t grains = (n + grain - 1) / grain;
    int64_t begin = grains * index / parts * grain, end = grains * (index + 1) / parts * grain;
    return (struct pdnn_span){begin < n ? begin : n, end < n ? end : n};
}

/* Calls work(job, index, parts) for every index in [0, parts), one per thread. parts is `threads`, or 1 if
 * there are fewer than PDNN_TEAM_MIN_ELEMENTS elements. */
void pdnn_team_run(int64_t threads, int64_t elements, void (*work)(void *job, int64_t index, int64_t parts),
                   void *job);

#endif
