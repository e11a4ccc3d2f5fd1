/* Whether this process may count cycles and instructions (perf_event_open), and why not. Names only: counting
 * is runtime/measure/counters.h. */
#ifndef RUNTIME_HOST_COUNTERS_H
#define RUNTIME_HOST_COUNTERS_H

#include "base/str.h"

#include <stdbool.h>

enum pdnn_counters {
    PDNN_COUNTERS_OFF,    /* nobody asked */
    PDNN_COUNTERS_ALL,    /* counted, in the kernel too */
    PDNN_COUNTERS_USER,   /* counted, but not in the kernel: it does not allow that */
    PDNN_COUNTERS_ABSENT, /* the rest: not counted */
    PDNN_COUNTERS_FORBIDDEN,
    PDNN_COUNTERS_FILTERED,
    PDNN_COUNTERS_UNSUPPORTED,
    PDNN_COUNTERS_FILES,
    PDNN_COUNTERS_BUSY,
    PDNN_COUNTERS_FAILED,
    PDNN_COUNTERS_SHARED, /* they were taken away for part of the time */
    PDNN_COUNTERS_APART,  /* they contradict the clock that dependent additions show */
    PDNN_COUNTERS_LATE,   /* limits.time left no room for the steps */
    PDNN_COUNTERS_RANKS,  /* several processes run a step together */
    PDNN_COUNTERS_COUNT
};

bool pdnn_counters_are_missing(enum pdnn_counters counters); /* asked for, and not counted */

/* What an errno of perf_event_open says; one that is not known here is PDNN_COUNTERS_FAILED. */
enum pdnn_counters pdnn_counters_of(int code);

/* What was counted, or why nothing was, in words. root: of the file system, as in host_files.h. */
void pdnn_counters_describe(enum pdnn_counters counters, const char *root, struct pdnn_str *out);

#endif
