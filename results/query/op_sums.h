/* Rows of ops.csv added up: work, time, and what the roofs allow. Rates are total work over total time. */
#ifndef RESULTS_QUERY_OP_SUMS_H
#define RESULTS_QUERY_OP_SUMS_H

#include "results/store/results.h"

#include <stddef.h>

/* The rows of one instance. */
struct pdnn_op_rows {
    const struct pdnn_op_record *op; /* rows without a time are left out of every sum */
    size_t count;
    double step_ns; /* time of a step */
    const char *family;
};

/* {0} is an empty sum. If one row lacks a count, the sum lacks it too. */
struct pdnn_op_sum {
    uint64_t count; /* executions in one step */
    uint64_t flop_count, in_bounds_flop_count, byte_count;
    double time_ns, share_pct;                      /* share of the step */
    double gflops, bw_gbs, intensity_flop_per_byte; /* of FLOP in bounds; NaN where there are none */
    double roof_ns, roofed_ns; /* over ops that have a roof: what it allows, what they take */
    double pct_of_roof;        /* roof_ns over roofed_ns */
};

/* Adds a row that has a time. */
void pdnn_op_sum_add(struct pdnn_op_sum *work, const struct pdnn_op_record *op);

/* Computes shares, rates and ratios of the rows added so far. */
void pdnn_op_sum_finish(struct pdnn_op_sum *work, double step_ns);

#endif
