#include "runtime/distributed/allreduce_bench.h"

#include "base/memory.h"
#include "base/clock.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_BYTES = 64, MOST_BYTES = 64 << 20, GROWTH = 4, LEAST_REPETITIONS = 3, MOST_REPETITIONS = 50 };
static const double sample_ns = 1e6; /* sums of small messages are timed together */

/* What comes next: so many sums of messages of this size; 0 bytes: nothing. */
struct order {
    uint64_t bytes, count;
};

/* All ranks, after rank 0's order: the slowest rank's time for one sum. */
static enum pdnn_status follow_order(const struct pdnn_world *world, float *values, const struct order *order,
                                     double *ns, struct pdnn_err *err) {
    int code = 0;
    world->meet();
    uint64_t start_ns = pdnn_clock_ns();
    for (uint64_t i = 0; i < order->count && !code; i++)
        code = world->wire.sum(values, order->bytes / sizeof *values, false);
    *ns = (double)(pdnn_clock_ns() - start_ns) / (double)order->count;
    world->max(ns, 1);
    return code ? pdnn_fail(err, PDNN_INTERNAL, "an all-reduce failed with code %d", code) : PDNN_OK;
}

static enum pdnn_status give_order(const struct pdnn_world *world, float *values, struct order order,
                                   double *ns, struct pdnn_err *err) {
    world->share(&order, sizeof order);
    return order.bytes ? follow_order(world, values, &order, ns, err) : PDNN_OK;
}

/* The row of one size, whose first sum, which opens connections, does not count. */
static enum pdnn_status measure_size(const struct pdnn_world *world, float *values, uint64_t bytes,
                                     double limit_ns, struct pdnn_roof_row *row, struct pdnn_err *err) {
    double ns, rate[MOST_REPETITIONS], spent_ns = 0;
    size_t taken = 0;
    enum pdnn_status status = give_order(world, values, (struct order){bytes, 1}, &ns, err);
    uint64_t count = ns < sample_ns ? (uint64_t)(sample_ns / fmax(ns, 1)) + 1 : 1;
    while (status == PDNN_OK && taken < MOST_REPETITIONS &&
           (taken < LEAST_REPETITIONS || spent_ns < limit_ns)) {
        status = give_order(world, values, (struct order){bytes, count}, &ns, err);
        spent_ns += ns * (double)count;
        rate[taken++] = pdnn_ring_bytes(world->ranks, (double)bytes) / fmax(ns, 1);
    }
    if (status != PDNN_OK)
        return status;
    pdnn_sort(rate, taken);
    *row = (struct pdnn_roof_row){.capacity_bytes = bytes,
                                  .value = rate[taken - 2],
                                  .low = rate[0],
                                  .high = rate[taken - 1],
                                  .repetitions = (int64_t)taken,
                                  .median = pdnn_median(rate, taken),
                                  .measured_unix_ms = pdnn_clock_unix_ms(),
                                  .ranks = world->ranks};
    snprintf(row->kind, sizeof row->kind, "link");
    snprintf(row->pattern, sizeof row->pattern, "allreduce");
    return PDNN_OK;
}

enum pdnn_status pdnn_allreduce_bench_measure(const struct pdnn_world *world, double seconds,
                                              struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    enum { SIZES = 11 };
    uint64_t begun_ns = pdnn_clock_ns();
    float *values = pdnn_alloc(1, MOST_BYTES);
    enum pdnn_status status = PDNN_OK;
    double ns;
    for (uint64_t bytes = LEAST_BYTES; status == PDNN_OK && bytes <= MOST_BYTES; bytes *= GROWTH) {
        /* Three of the next size, and the one before them, take four times as long as those of this one. */
        double left_ns = seconds * 1e9 - (double)(pdnn_clock_ns() - begun_ns);
        struct pdnn_roof_row *row = &roof_rows->row[roof_rows->count];
        if (roof_rows->count && pdnn_ring_bytes(world->ranks, (double)bytes) / row[-1].value * 4 > left_ns)
            break;
        status = measure_size(world, values, bytes, seconds * 1e9 / SIZES, row, err);
        roof_rows->count += status == PDNN_OK;
    }
    give_order(world, values, (struct order){0, 0}, &ns, NULL);
    free(values);
    return status;
}

enum pdnn_status pdnn_allreduce_bench_follow(const struct pdnn_world *world, struct pdnn_err *err) {
    float *values = pdnn_alloc(1, MOST_BYTES);
    enum pdnn_status status = PDNN_OK;
    struct order order = {.bytes = 1};
    double ns;
    while (order.bytes) {
        world->share(&order, sizeof order);
        if (order.bytes && status == PDNN_OK)
            status = follow_order(world, values, &order, &ns, err);
    }
    free(values);
    return status;
}
