/* The only process of an emulated aarch64 machine on which an instruction takes 2^SHIFT ns and a cycle one,
 * so that counts are exact (.ci/counters). Says what it found, and switches the machine off. */
#define _GNU_SOURCE
#include "runtime/backend/threads.h"
#include "runtime/measure/counters.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHIFT = 1, THREADS = 3, NOBODY = 65534, TURNS_MAX = 1000000 };

/* Besides the loop: of one thread, the call of turn() and the branches around it; more than a region of all
 * threads takes, and far less than one thread's loop. */
enum { CALL_INSTRUCTIONS = 8, REGION_INSTRUCTIONS = 20000 };

static struct pdnn_host host = {.threads = 1}; /* all threads on processor 0 */
static struct pdnn_thread_team team;
static struct pdnn_thread_counters counters;

/* Ends the process where that is not so. */
static void expect(bool is_so, const char *what, int64_t value) {
    printf("%s %s: %lld\n", is_so ? "as expected," : "WRONG,", what, (long long)value);
    fflush(stdout);
    if (!is_so)
        _exit(1);
}

static enum pdnn_counters open_for(int64_t threads) {
    struct pdnn_err err = {0};
    expect(pdnn_threads_set(&host, threads, &team, &err) == PDNN_OK, "threads", threads);
    return pdnn_thread_counters_open(&counters, &team);
}

/* Four instructions a turn. */
static __attribute__((noinline)) void turn(uint64_t turns) {
    __asm__ volatile("1: nop\n nop\n subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
}

/* The loop on every thread of the team, less what an empty part counts. */
static bool count(uint64_t turns, struct pdnn_counts *counts) {
    struct pdnn_counts cost;
    pdnn_thread_counters_lap(&counters, &cost);
    bool is_whole = pdnn_thread_counters_lap(&counters, &cost);
    if (team.count == 1)
        turn(turns);
    else
#pragma omp parallel num_threads((int)team.count)
        turn(turns);
    is_whole = pdnn_thread_counters_lap(&counters, counts) && is_whole;
    *counts = pdnn_counts_net(*counts, &cost);
    return is_whole;
}

/* Without the kernel, which interrupts: each team is made after the counters of the one before were opened,
 * and its loop counts 4 a turn and thread besides what calling it takes: of a team, a parallel region, in
 * which threads that share a processor may wait now and then. */
static void count_exactly(void) {
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        expect(open_for(threads) == PDNN_COUNTERS_USER, "state", counters.state);
        for (uint64_t turns = 1; turns <= TURNS_MAX; turns *= 10) {
            struct pdnn_counts counts;
            expect(count(turns, &counts), "turns", (int64_t)turns);
            expect(counts.cycles == counts.instructions << SHIFT, "  cycles", (int64_t)counts.cycles);
            const uint64_t more = counts.instructions - 4 * turns * (uint64_t)threads;
            expect(threads == 1 ? more == CALL_INSTRUCTIONS : more < REGION_INSTRUCTIONS,
                   "  instructions but 4 a turn", (int64_t)more);
        }
    }
}

/* With what the kernel does meanwhile, cycles a nanosecond are the machine's. */
static void count_with_kernel(void) {
    struct pdnn_counts counts;
    expect(open_for(1) == PDNN_COUNTERS_ALL, "state with the kernel", counters.state);
    expect(count(TURNS_MAX, &counts), "turns", TURNS_MAX);
    expect(counts.instructions >= 4 * TURNS_MAX + CALL_INSTRUCTIONS, "  instructions but 4 a turn",
           (int64_t)counts.instructions - 4 * TURNS_MAX);
    const double ghz = counts.slowest_ghz * 1000;
    expect(ghz > 980 && ghz < 1020, "  MHz", (int64_t)ghz);
    expect(pdnn_clocks_are_apart(counts.slowest_ghz, 1.0 / (1 << SHIFT)), "  by additions", 1000 >> SHIFT);
}

/* More events than the processor has counters for: they take turns, and nothing is scaled. */
static void share(void) {
    enum { OTHERS = 16 };
    const struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof attributes, .config = PERF_COUNT_HW_INSTRUCTIONS};
    struct pdnn_counts counts;
    int others[OTHERS];
    expect(open_for(1) == PDNN_COUNTERS_ALL, "state", counters.state);
    for (int i = 0; i < OTHERS; i++)
        others[i] = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    expect(others[OTHERS - 1] >= 0, "other events", OTHERS);
    for (int i = 0, n_partial = 0; i < 8; i++) {
        n_partial += !count(TURNS_MAX, &counts);
        if (i == 7)
            expect(n_partial > 0, "  loops of 8 that were not counted throughout", n_partial);
    }
    for (int i = 0; i < OTHERS; i++)
        close(others[i]);
    count(1, &counts);
    expect(count(TURNS_MAX, &counts), "  and alone again, turns", TURNS_MAX);
}

static void run_out_of_files(void) {
    const struct rlimit none = {4, 4}, low = {4, 64};
    setrlimit(RLIMIT_NOFILE, &low);
    expect(open_for(THREADS) == PDNN_COUNTERS_ALL, "state where the soft limit is 4 files", counters.state);
    pdnn_thread_counters_close(&counters);
    setrlimit(RLIMIT_NOFILE, &none);
    const enum pdnn_counters state = open_for(THREADS);
    expect(state == PDNN_COUNTERS_FILES, "state where the hard limit is", state);
}

static int level; /* of perf_event_paranoid, as Debian has it: above 2, users may count nothing */

static void open_at_level(void) {
    struct pdnn_str text = {0};
    const enum pdnn_counters state = open_for(1), expected = level >= 3   ? PDNN_COUNTERS_FORBIDDEN
                                                             : level >= 2 ? PDNN_COUNTERS_USER
                                                                          : PDNN_COUNTERS_ALL;
    pdnn_counters_describe(state, "", &text);
    expect(state == expected, pdnn_str_text(&text), level);
}

static void find_none(void) {
    const enum pdnn_counters state = open_for(1);
    expect(state == PDNN_COUNTERS_ABSENT, "state on a machine without counters", state);
}

/* In a process of its own, with a pool of its own. */
static bool run(void (*job)(void), bool is_nobody) {
    fflush(stdout);
    const pid_t child = fork();
    int status = 1;
    if (!child) {
        if (is_nobody && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(1);
        job();
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool run_at_level(int wanted, void (*job)(void)) {
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "w");
    if (!file || fprintf(file, "%d\n", level = wanted) < 0 || fclose(file) != 0)
        return false;
    return run(job, true);
}

int main(int argc, char **argv) {
    bool is_right;
    mkdir("/proc", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    if (argc > 1 && strcmp(argv[1], "without") == 0) {
        is_right = run(find_none, false);
    } else {
        is_right = run_at_level(2, count_exactly);
        for (int i = 4; i >= -1; i--)
            is_right = run_at_level(i, open_at_level) && is_right;
        is_right = run(count_with_kernel, false) && is_right;
        is_right = run(share, false) && is_right;
        is_right = run(run_out_of_files, false) && is_right;
    }
    printf("counters: %s\n", is_right ? "all as expected" : "wrong");
    fflush(stdout);
    reboot(RB_POWER_OFF);
    return 1;
}
