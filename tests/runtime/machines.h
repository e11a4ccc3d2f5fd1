/* Machines that nobody needs to have: what their hosts report, and how fast they really are by working set.
 */
#ifndef TESTS_RUNTIME_MACHINES_H
#define TESTS_RUNTIME_MACHINES_H

#include "runtime/roofs/ladder.h"

#include <math.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* The true bandwidth of these threads: it falls from gbs[i] to gbs[i + 1] around end[i], over a factor
 * `slope` of working set. */
struct machine {
    const char *name;
    struct pdnn_host host;
    int64_t threads;
    uint64_t end[PDNN_CACHE_LEVELS];
    double gbs[PDNN_CACHE_LEVELS + 1];
    double slope;
    /* Expected: names in order, and the allowed relative error of an end. */
    const char *names[PDNN_LADDER_LEVELS + 1];
    double tolerance;
};

static const struct machine machines[] = {
    {"two cores, one L3",
     {.cache_bytes = {32 * KIB, 512 * KIB, 32 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {64 * KIB, MIB, 32 * MIB},
     {400, 200, 100, 40},
     1.2,
     {"L1", "L2", "L3", "DRAM"},
     1.01},
    {"260 MiB of L3 that tenants share: a few MiB are left",
     {.cache_bytes = {48 * KIB, 2 * MIB, 260 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {96 * KIB, 4 * MIB, 12 * MIB},
     {600, 200, 60, 30},
     1.5,
     {"L1", "L2", "L3", "DRAM"},
     1.2},
    {"240 MiB of L3 no faster than DRAM",
     {.cache_bytes = {48 * KIB, 2 * MIB, 240 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {96 * KIB, 4 * MIB, 240 * MIB},
     {600, 200, 31, 30},
     1.2,
     {"L1", "L2", "DRAM"},
     1.01},
    {"no L3",
     {.cache_bytes = {64 * KIB, MIB, 0}, .cache_cores = {1, 1, 0}},
     4,
     {256 * KIB, 4 * MIB},
     {800, 300, 50},
     1.2,
     {"L1", "L2", "DRAM"},
     1.01},
    {"L3 in slices of four cores",
     {.cache_bytes = {32 * KIB, 512 * KIB, 16 * MIB}, .cache_cores = {1, 1, 4}},
     8,
     {256 * KIB, 4 * MIB, 32 * MIB},
     {1600, 800, 400, 90},
     1.3,
     {"L1", "L2", "L3", "DRAM"},
     1.01},
    {"96 cores, more L2 than L3",
     {.cache_bytes = {48 * KIB, 2 * MIB, 105 * MIB}, .cache_cores = {1, 1, 96}},
     96,
     {4608 * KIB, 192 * MIB, 297 * MIB},
     {30000, 9000, 2000, 300},
     1.1,
     {"L1", "L2", "DRAM"}, /* L3 adds less than a factor of two */
     1.2},
    {"a host that reports no cache",
     {.cores_online = 1},
     1,
     {32 * KIB, MIB},
     {300, 100, 20},
     1.2,
     {"L1", "L2", "DRAM"},
     1.2},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static double bandwidth(const struct machine *machine, double bytes) {
    double gbs = machine->gbs[0];
    for (size_t i = 0; i < PDNN_CACHE_LEVELS && machine->end[i]; i++) {
        double part = (log(bytes) - log((double)machine->end[i])) / log(machine->slope) + 0.5;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        gbs *= pow(machine->gbs[i + 1] / machine->gbs[i], part);
    }
    return gbs;
}

#endif
