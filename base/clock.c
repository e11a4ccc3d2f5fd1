#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

uint64_t pdnn_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int64_t pdnn_clock_unix_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

uint64_t pdnn_clock_read_cost_ns(void) {
    enum { BLOCKS = 31, READS = 64 };
    uint64_t block_ns[BLOCKS];
    for (size_t block = 0; block < BLOCKS; block++) {
        uint64_t start = pdnn_clock_ns(), end = start;
        for (size_t i = 0; i < READS; i++)
            end = pdnn_clock_ns();
        block_ns[block] = end - start;
    }
    qsort(block_ns, BLOCKS, sizeof *block_ns, compare);
    return (block_ns[BLOCKS / 2] + READS / 2) / READS;
}
