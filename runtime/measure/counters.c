#define _GNU_SOURCE /* syscall */
#include "runtime/measure/counters.h"

#include "base/memory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t net(uint64_t count, uint64_t cost) {
    return count > cost ? count - cost : 0;
}

static double ghz(const struct pdnn_counts *counts) {
    return counts->running_ns ? (double)counts->cycles / (double)counts->running_ns : 0;
}

struct pdnn_counts pdnn_counts_net(struct pdnn_counts counts, const struct pdnn_counts *cost) {
    const double all_ghz = ghz(&counts);
    counts.cycles = net(counts.cycles, cost->cycles);
    counts.instructions = net(counts.instructions, cost->instructions);
    counts.running_ns = net(counts.running_ns, cost->running_ns);
    counts.slowest_ghz *= all_ghz > 0 ? ghz(&counts) / all_ghz : 0;
    return counts;
}

void pdnn_counts_add(struct pdnn_counts *sum, const struct pdnn_counts *more) {
    const bool is_slower = more->slowest_ghz > 0 && more->slowest_ghz < sum->slowest_ghz;
    sum->slowest_ghz = is_slower || sum->slowest_ghz <= 0 ? more->slowest_ghz : sum->slowest_ghz;
    sum->cycles += more->cycles;
    sum->instructions += more->instructions;
    sum->running_ns += more->running_ns;
}

struct pdnn_counted pdnn_counted_of(const struct pdnn_counts *counts, uint64_t executions) {
    if (!counts->cycles || !counts->instructions || !counts->running_ns)
        return (struct pdnn_counted){0};
    return (struct pdnn_counted){.effective_ghz = ghz(counts),
                                 .instructions = (counts->instructions + executions / 2) / executions,
                                 .ipc = (double)counts->instructions / (double)counts->cycles};
}

bool pdnn_clocks_are_apart(double by_cycles_ghz, double by_additions_ghz) {
    static const double limit = 1.1;
    return by_cycles_ghz > 0 && by_additions_ghz > 0 &&
           (by_cycles_ghz > limit * by_additions_ghz || by_additions_ghz > limit * by_cycles_ghz);
}

static int open_event(const struct perf_event_attr *event, pid_t thread, int group) {
    return (int)syscall(SYS_perf_event_open, event, thread, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static const struct pdnn_perf kernel = {open_event, read, close};

static const struct pdnn_perf *perf_of(const struct pdnn_thread_counters *counters) {
    return counters->perf ? counters->perf : &kernel;
}

void pdnn_thread_counters_close(struct pdnn_thread_counters *counters) {
    const struct pdnn_perf *perf = perf_of(counters);
    for (int64_t i = 0; i < counters->count; i++) {
        if (counters->of[i].other >= 0)
            perf->close(counters->of[i].other);
        if (counters->of[i].group >= 0)
            perf->close(counters->of[i].group);
    }
    free(counters->of);
    *counters = (struct pdnn_thread_counters){.perf = counters->perf};
}

/* Whether there was room below the hard limit. */
static bool raise_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max)
        return false;
    files.rlim_cur = files.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

/* The event's file; -1, with errno. */
static int open_one(const struct pdnn_thread_counters *counters, uint64_t event, bool has_kernel,
                    int64_t thread, int group) {
    const struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = event,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = !has_kernel};
    const int fd = perf_of(counters)->open(&attributes, (pid_t)thread, group);
    if (fd >= 0 || errno != EMFILE || !raise_limit())
        return fd;
    return perf_of(counters)->open(&attributes, (pid_t)thread, group);
}

/* 0, or the errno. */
static int open_all(struct pdnn_thread_counters *counters, const struct pdnn_thread_team *team,
                    bool has_kernel) {
    pdnn_thread_counters_close(counters);
    counters->count = team->count;
    counters->of = pdnn_alloc((size_t)team->count, sizeof *counters->of);
    for (int64_t i = 0; i < team->count; i++)
        counters->of[i].group = counters->of[i].other = -1;
    for (int64_t i = 0; i < team->count; i++) {
        struct pdnn_thread_counter *of = &counters->of[i];
        const int64_t id = team->thread[i].id;
        of->group = open_one(counters, PERF_COUNT_HW_CPU_CYCLES, has_kernel, id, -1);
        of->other =
            of->group < 0 ? -1 : open_one(counters, PERF_COUNT_HW_INSTRUCTIONS, has_kernel, id, of->group);
        if (of->other < 0)
            return errno;
    }
    return 0;
}

enum pdnn_counters pdnn_thread_counters_open(struct pdnn_thread_counters *counters,
                                             const struct pdnn_thread_team *team) {
    if (counters->of && counters->made == team->made)
        return counters->state;
    int code = open_all(counters, team, true);
    enum pdnn_counters state = PDNN_COUNTERS_ALL;
    if (code == EACCES) {
        code = open_all(counters, team, false);
        state = PDNN_COUNTERS_USER;
    }
    if (code) {
        pdnn_thread_counters_close(counters);
        return pdnn_counters_of(code);
    }
    counters->state = state;
    counters->made = team->made;
    return state;
}

/* What the calling thread counted since it was last read. */
static void read_own(const struct pdnn_perf *perf, struct pdnn_thread_counter *own) {
    struct pdnn_counter_reading now, last = own->last;
    own->is_whole = perf->read(own->group, &now, sizeof now) == (ssize_t)sizeof now;
    if (!own->is_whole)
        return;
    const uint64_t running_ns = now.running_ns - last.running_ns;
    own->last = now;
    own->is_whole = running_ns == now.enabled_ns - last.enabled_ns;
    own->since =
        (struct pdnn_counts){now.cycles - last.cycles, now.instructions - last.instructions, running_ns, 0};
    own->since.slowest_ghz = ghz(&own->since);
}

bool pdnn_thread_counters_lap(struct pdnn_thread_counters *counters, struct pdnn_counts *counts) {
    const struct pdnn_perf *perf = perf_of(counters);
    bool are_whole = true;
    *counts = (struct pdnn_counts){0};
    if (!counters->count)
        return false;
    if (counters->count == 1)
        read_own(perf, counters->of);
    else
#pragma omp parallel num_threads((int)counters->count)
        read_own(perf, &counters->of[omp_get_thread_num()]);
    for (int64_t i = 0; i < counters->count; i++) {
        pdnn_counts_add(counts, &counters->of[i].since);
        are_whole = are_whole && counters->of[i].is_whole;
    }
    return are_whole;
}
