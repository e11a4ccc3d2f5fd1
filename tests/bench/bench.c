#define _GNU_SOURCE /* madvise */
#include "tests/bench/bench.h"

#include "base/clock.h"
#include "runtime/kernels/simd/denormals.h"
#include "base/stats.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static double time_once(const struct bench_case *c) {
    uint64_t start = pdnn_clock_ns(), now;
    uint64_t runs = 0;
    do {
        c->run(c->user);
        runs++;
        now = pdnn_clock_ns();
    } while (now - start < c->at_least_ns);
    return (double)(now - start) / (double)runs;
}

void bench_run(struct bench_case *cases, size_t count, size_t rounds) {
    for (size_t i = 0; i < count; i++)
        cases[i].run(cases[i].user);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++)
            cases[i].ns[round] = time_once(&cases[i]);
    }
}

double bench_median_ns(const struct bench_case *c, size_t rounds) {
    double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, c->ns, rounds * sizeof *sorted);
    return pdnn_median(sorted, rounds);
}

struct bench_ratio bench_rate_ratio(const struct bench_case *c, const struct bench_case *roof,
                                    size_t rounds) {
    double ratio[BENCH_ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++)
        ratio[i] = c->work / c->ns[i] / (roof->work / roof->ns[i]);
    pdnn_sort(ratio, rounds);
    return (struct bench_ratio){pdnn_quantile_sorted(ratio, rounds, 0.5),
                                pdnn_quantile_sorted(ratio, rounds, 0.25),
                                pdnn_quantile_sorted(ratio, rounds, 0.75)};
}

void *bench_memory(uint64_t bytes) {
    enum { LINE_BYTES = 64, LINES_APART = 5, PAGE_LINES = 64 };
    static uint64_t calls;
    uint64_t offset = calls++ * LINES_APART % PAGE_LINES * LINE_BYTES, room = bytes + offset;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_fail("out of memory");
    madvise(memory, room, MADV_HUGEPAGE);
    memset(memory, 0, room);
    return memory + offset;
}

void bench_fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

int64_t bench_threads(void) {
    int threads = 1;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    pdnn_flush_denormals(threads);
    return threads;
}
