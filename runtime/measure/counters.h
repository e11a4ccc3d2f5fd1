/* Cycles and instructions of the pool's threads: a group of both for each thread, opened by its id once the
 * team exists. Events that threads inherit miss those of a team that was there before. A read costs some
 * microseconds, so that there is none in a sample. */
#ifndef RUNTIME_MEASURE_COUNTERS_H
#define RUNTIME_MEASURE_COUNTERS_H

#include "runtime/backend/threads.h"
#include "runtime/host/counters.h"
#include "runtime/protocol/visit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of all threads together. Threads that wait spin, and that counts. */
struct pdnn_counts {
    uint64_t cycles, instructions;
    uint64_t running_ns; /* that they had their cores */
    double slowest_ghz;  /* cycles over that of the slowest thread; 0: none ran */
};

/* counts, less what an empty part costs, if they are above it. The slowest clock changes as that of
 * all does: where the kernel's cycles are not counted, its time is. */
struct pdnn_counts pdnn_counts_net(struct pdnn_counts counts, const struct pdnn_counts *cost);
/* The slowest of both stays in *sum. */
void pdnn_counts_add(struct pdnn_counts *sum, const struct pdnn_counts *more);

/* The counts of so many executions as those of one. */
struct pdnn_counted pdnn_counted_of(const struct pdnn_counts *counts, uint64_t executions);

/* Whether clocks by cycles and by dependent additions (probe.h) contradict each other: 10 % apart. False
 * where one is not known, 0. */
bool pdnn_clocks_are_apart(double by_cycles_ghz, double by_additions_ghz);

struct perf_event_attr;

/* The system calls, as Linux has them; tests script them. */
struct pdnn_perf {
    int (*open)(const struct perf_event_attr *event, pid_t thread, int group);
    ssize_t (*read)(int fd, void *buffer, size_t bytes);
    int (*close)(int fd);
};

/* As the kernel writes it for a group of two. */
struct pdnn_counter_reading {
    uint64_t events, enabled_ns, running_ns, cycles, instructions;
};

/* {0} has none open. */
struct pdnn_thread_counters {
    const struct pdnn_perf *perf; /* NULL: the kernel's */
    uint64_t made;                /* the team that they are of */
    enum pdnn_counters state;
    int64_t count; /* of threads */
    struct pdnn_thread_counter {
        int group, other; /* files of cycles, which lead, and instructions; -1: not open */
        struct pdnn_counter_reading last;
        struct pdnn_counts since; /* from the reading before that to it */
        bool is_whole;            /* counted all that time */
    } * of;                       /* heap */
};

/* Opens them for the team, unless they are open for it: PDNN_COUNTERS_ALL or _USER, or why they are not.
 * Where there are too few files, raises the soft limit. */
enum pdnn_counters pdnn_thread_counters_open(struct pdnn_thread_counters *counters,
                                             const struct pdnn_thread_team *team);

/* What the threads counted since the last call, each reading its own in a parallel region of all. False if
 * one of them was not counted all the time. */
bool pdnn_thread_counters_lap(struct pdnn_thread_counters *counters, struct pdnn_counts *counts);

void pdnn_thread_counters_close(struct pdnn_thread_counters *counters);

#endif
