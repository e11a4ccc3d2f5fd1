/* How fast the ranks of a world sum messages: the roof of gradients that are averaged. */
#ifndef RUNTIME_DISTRIBUTED_ALLREDUCE_BENCH_H
#define RUNTIME_DISTRIBUTED_ALLREDUCE_BENCH_H

#include "runtime/protocol/roof_rows.h"
#include "runtime/distributed/world.h"

/* Rank 0: appends a row for each size of message, from 64 B up to 64 MiB or what there is time for. Each size
 * is summed at least three times, and the slowest rank's time counts. */
enum pdnn_status pdnn_allreduce_bench_measure(const struct pdnn_world *world, double seconds,
                                              struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);

/* The other ranks, meanwhile. */
enum pdnn_status pdnn_allreduce_bench_follow(const struct pdnn_world *world, struct pdnn_err *err);

#endif
