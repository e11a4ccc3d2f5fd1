#include "results/query/op_sums.h"

#include <math.h>

static uint64_t add_counts(uint64_t sum, uint64_t count) {
    return sum == PDNN_ABSENT || count == PDNN_ABSENT ? PDNN_ABSENT : sum + count;
}

void pdnn_op_sum_add(struct pdnn_op_sum *work, const struct pdnn_op_record *op) {
    work->count = add_counts(work->count, op->count);
    work->flop_count = add_counts(work->flop_count, op->flop_count);
    work->in_bounds_flop_count = add_counts(work->in_bounds_flop_count, op->in_bounds_flop_count);
    work->byte_count = add_counts(work->byte_count, op->byte_count);
    work->time_ns += op->time_ns_median;
    if (isnan(op->place.pct_of_roof))
        return;
    work->roof_ns += op->time_ns_median * op->place.pct_of_roof / 100;
    work->roofed_ns += op->time_ns_median;
}

static double ratio(uint64_t work, double by) {
    return work && work != PDNN_ABSENT && by > 0 ? (double)work / by : NAN;
}

void pdnn_op_sum_finish(struct pdnn_op_sum *work, double step_ns) {
    double bytes = work->byte_count == PDNN_ABSENT ? 0 : (double)work->byte_count;
    work->share_pct = work->time_ns / step_ns * 100;
    work->gflops = ratio(work->in_bounds_flop_count, work->time_ns);
    work->bw_gbs = ratio(work->byte_count, work->time_ns);
    work->intensity_flop_per_byte = ratio(work->in_bounds_flop_count, bytes);
    work->pct_of_roof = work->roofed_ns > 0 ? work->roof_ns / work->roofed_ns * 100 : NAN;
}
