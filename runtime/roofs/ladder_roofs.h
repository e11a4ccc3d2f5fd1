/* From the measured ladder to the roofs of the levels. Pure functions of rows; ladder.h finds the levels. */
#ifndef RUNTIME_ROOFS_LADDER_ROOFS_H
#define RUNTIME_ROOFS_LADDER_ROOFS_H

#include "runtime/roofs/ladder.h"
#include "runtime/kernels/roofs/stream.h"

/* At most this many roofs per thread count. */
enum { PDNN_LADDER_ROOFS = PDNN_LADDER_LEVELS * PDNN_STREAM_PATTERN_COUNT };

/* rungs: the rows of kind ladder of one thread count, ascending by working set (at most PDNN_LADDER_POINTS of
 * them), at least one, each with every pattern and, where a pattern has both, either kind of store. Sets
 * their level, fills roofs with the rows of kind bandwidth, by level (closest to the core first) and pattern,
 * and returns how many. The better kind of store counts. A level's roof for a pattern is its fastest working
 * set of which the next inner level holds little: less than half, or less than a quarter for DRAM. If all are
 * smaller than that, the largest one. */
size_t pdnn_ladder_roofs(const struct pdnn_host *host, int64_t threads, struct pdnn_ceiling *rungs,
                         size_t n_rungs, struct pdnn_ceiling roofs[PDNN_LADDER_ROOFS]);

#endif
