/* Benchmarks that report ratios. Cases are timed in turn, round after round, so that drift of the machine
 * affects all of them; a ratio is the median of the rounds' ratios. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_ROUNDS_MAX = 64 };

struct bench_case {
    const char *name;
    void (*run)(void *user);
    void *user;
    double work;                 /* FLOP or bytes of one run */
    uint64_t at_least_ns;        /* repeat within a round for at least this long; 0: once */
    double ns[BENCH_ROUNDS_MAX]; /* out: of one run, by round */
};

/* Runs each case once unmeasured, then all of them in turn. */
void bench_run(struct bench_case *cases, size_t count, size_t rounds);

double bench_median_ns(const struct bench_case *c, size_t rounds);

/* Per round, the ratio of two rates of work: c's over roof's. */
struct bench_ratio {
    double median, low, high; /* low and high: quartiles */
};
struct bench_ratio bench_rate_ratio(const struct bench_case *c, const struct bench_case *roof, size_t rounds);

/* Zeroed, touched memory, on huge pages if available, as in plans; never freed. Exits the
 * program if there is not enough. */
void *bench_memory(uint64_t bytes);

/* Prints a message and exits the program. */
_Noreturn void bench_fail(const char *what);

/* The size of the OpenMP pool, after a first parallel region. */
int64_t bench_threads(void);

#endif
