/* Finds cache capacities from bandwidth against working set, and the roofs of the levels. Reported sizes may
 * be missing, and a program may get less of a shared cache. Pure functions of host facts and measured points;
 * runtime/roofs/roofs.c does the measuring. */
#ifndef RUNTIME_ROOFS_LADDER_H
#define RUNTIME_ROOFS_LADDER_H

#include "runtime/kernels/roofs/stream.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/host/host.h"

#include <stddef.h>
#include <stdint.h>

enum { PDNN_LADDER_POINTS = 40, PDNN_LADDER_PATTERNS = 3, PDNN_LADDER_LEVELS = PDNN_CACHE_LEVELS + 1 };

struct pdnn_ladder_point {
    uint64_t bytes;                   /* working set of all threads together */
    double gbs[PDNN_LADDER_PATTERNS]; /* read, copy, triad, each with the faster kind of store */
};

/* Consecutive points of one level. */
struct pdnn_ladder_level {
    char name[PDNN_ROOF_ROW_TEXT]; /* L1, L2, L3; the last one is DRAM */
    uint64_t capacity_bytes;       /* where bandwidth drops, or reported_bytes if near or less; 0: DRAM */
    uint64_t reported_bytes;       /* what the host reports for these threads together; 0: nothing */
    size_t first, end;             /* its points */
};

/* Working sets from a quarter of L1 to four times all reported caches together (at least 256 MiB), spaced by
 * a factor of sqrt(2) and capped at half of the usable memory. Returns how many, at least 1. */
size_t pdnn_ladder_sizes(const struct pdnn_host *host, int64_t threads, uint64_t sizes[PDNN_LADDER_POINTS]);

/* Splits the points (ascending, count > 0) into levels and returns how many, closest to the core first. The
 * bandwidth of a point is the geometric mean over patterns, made non-increasing by pooling neighbours. Every
 * level is at least PDNN_LADDER_STEP times as fast as the next, and there is at most one level more than the
 * host reports. Among such splits, takes the one with the least error: the sum of squared distances of log
 * bandwidth from the level's median, each capped at log(PDNN_LADDER_STEP) squared, plus 1.5 times that cap
 * per level. A level takes the name of the reported level closest in size, and ends where bandwidth has
 * dropped half way to the next, or at the reported size if that is near or less. */
#define PDNN_LADDER_STEP 1.2
size_t pdnn_ladder_split(const struct pdnn_host *host, int64_t threads,
                         const struct pdnn_ladder_point *points, size_t count,
                         struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS]);

/* From the measured ladder to the roofs of the levels. */
enum { PDNN_LADDER_ROOFS = PDNN_LADDER_LEVELS * PDNN_STREAM_PATTERN_COUNT };

/* rungs: the rows of kind ladder of one thread count, ascending by working set (at most PDNN_LADDER_POINTS of
 * them), at least one, each with every pattern and, where a pattern has both, either kind of store. Sets
 * their level, fills roofs with the rows of kind bandwidth, by level (closest to the core first) and pattern,
 * and returns how many. The better kind of store counts. A level's roof for a pattern is its fastest working
 * set of which the next inner level holds little: less than half, or less than a quarter for DRAM. If all are
 * smaller than that, the largest one. */
size_t pdnn_ladder_roofs(const struct pdnn_host *host, int64_t threads, struct pdnn_roof_row *rungs,
                         size_t n_rungs, struct pdnn_roof_row roofs[PDNN_LADDER_ROOFS]);

#endif
