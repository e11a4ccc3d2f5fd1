/* Where the caches of some threads end, found from bandwidth against working set: reported sizes are neither
 * what a program gets of a shared cache nor always there. Pure functions of host facts and measured points;
 * runtime/core/roofs.c measures. */
#ifndef RUNTIME_CORE_LADDER_H
#define RUNTIME_CORE_LADDER_H

#include "runtime/facts/ceilings.h"
#include "runtime/facts/host.h"

#include <stddef.h>
#include <stdint.h>

enum { PDNN_LADDER_POINTS = 40, PDNN_LADDER_PATTERNS = 3, PDNN_LADDER_LEVELS = PDNN_CACHE_LEVELS + 1 };

struct pdnn_ladder_point {
    uint64_t bytes;                   /* working set of all threads together */
    double gbs[PDNN_LADDER_PATTERNS]; /* of each pattern, with its better kind of store */
};

/* A stretch of points between two steps down. */
struct pdnn_ladder_level {
    char name[PDNN_CEILING_TEXT]; /* L1, L2, L3; the last one is DRAM */
    uint64_t capacity_bytes;      /* where the bandwidth steps down; 0: DRAM */
    uint64_t reported_bytes;      /* what the host says these threads have of it together; 0: nothing */
    size_t first, end;            /* its points */
};

/* What these threads have of a cache level together, by the host's word: one cache for each group of cores
 * that share it, cores taken in order; 0: no such level. */
uint64_t pdnn_ladder_reported(const struct pdnn_host *host, int64_t threads, size_t level);

/* Working sets from a quarter of L1 to four times all reported caches together, at least 256 MiB, each
 * sqrt(2) times the one before; none larger than half of the memory that may be used. Returns how many, at
 * least 1.
 */
size_t pdnn_ladder_sizes(const struct pdnn_host *host, int64_t threads, uint64_t sizes[PDNN_LADDER_POINTS]);

/* Splits the points (ascending, count > 0) into levels and returns how many, nearest to the core first. The
 * bandwidth of a point is the geometric mean of its patterns, made non-increasing by pooling neighbours.
 * Every level is at least PDNN_LADDER_STEP times as fast as the next; of all such splits into at most one
 * more than there are reported levels, the one with the least sum of squared distances of the logarithms from
 * their level's median, each at most log(PDNN_LADDER_STEP) squared, and one and a half times that for every
 * level. A level ends where the bandwidth is half way down, and is named like the reported one whose size is
 * nearest.
 */
#define PDNN_LADDER_STEP 1.2
size_t pdnn_ladder_split(const struct pdnn_host *host, int64_t threads,
                         const struct pdnn_ladder_point *points, size_t count,
                         struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS]);

#endif
