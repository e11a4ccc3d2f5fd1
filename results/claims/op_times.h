/* Where steps spend their time, from ops.csv: per kind of model the mean share of each category of op, and
 * what part of the time outside matrix products and convolutions is bound by memory. */
#ifndef RESULTS_CLAIMS_OP_TIMES_H
#define RESULTS_CLAIMS_OP_TIMES_H

#include "results/stats/means.h"
#include "results/query/ops_reader.h"
#include "results/query/selection.h"

struct pdnn_report_op_times {
    /* By family, and by mode and source where those vary: how many models have ops, and the mean share of a
     * step's op time in each category, in %. */
    struct pdnn_table kinds;
    /* Per source, over its models, the share of op time that is bound by memory: of the time in ops other
     * than matrix products, and of all time in fully connected and convolutional networks. */
    struct pdnn_mean memory_of_others[2], memory_of_networks[2];
};

/* Of all rows that a report is asked for; the table is the caller's. readers: by directory, {0} where there
 * is no ops.csv. */
void pdnn_report_op_times_read(const struct pdnn_selection *all, struct pdnn_ops_reader *readers,
                               struct pdnn_report_op_times *times);

#endif
