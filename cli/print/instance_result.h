/* One instance's result as text: the headline, where the time goes, and the table of its ops. */
#ifndef CLI_PRINT_INSTANCE_RESULT_H
#define CLI_PRINT_INSTANCE_RESULT_H

#include "base/str.h"
#include "results/store/results.h"
#include "results/query/shares.h"

#include <stddef.h>

/* Appends the report, with its table fitted to the terminal on stdout. ops: a table of ops.csv. */
void pdnn_report_instance(struct pdnn_str *out, const struct pdnn_result *row, struct pdnn_table *ops);

/* Appends the op that loses most time to its roof: "conv2d forward of block1..block3 would save 4.2 % of the
 * step at its roof; it runs at 61 % of it (memory DRAM): jit:avx2". */
void pdnn_report_most(struct pdnn_str *out, const struct pdnn_share *share);

/* Appends the op's name: "conv2d forward of block1..block3". */
void pdnn_report_op(struct pdnn_str *out, const struct pdnn_op_record *op);

/* Appends a line with the id, that of a preset by its name, or several on a terminal that is too narrow. */
void pdnn_report_id(struct pdnn_str *out, const char *id);

#endif
