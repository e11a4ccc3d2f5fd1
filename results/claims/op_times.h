/* What part of op time is bound by memory, from ops.csv. */
#ifndef RESULTS_CLAIMS_OP_TIMES_H
#define RESULTS_CLAIMS_OP_TIMES_H

#include "results/stats/means.h"
#include "results/query/ops_reader.h"
#include "results/query/selection.h"

struct pdnn_report_op_times {
    /* Per source, over its models, the share of op time that is bound by memory: of the time in ops other
     * than matrix products, and of all time in fully connected and convolutional networks. */
    struct pdnn_mean memory_of_others[2], memory_of_networks[2];
};

/* Of all rows that a report is asked for. readers: by directory, {0} where there
 * is no ops.csv. */
void pdnn_report_op_times_read(const struct pdnn_selection *all, struct pdnn_ops_reader *readers,
                               struct pdnn_report_op_times *times);

#endif
