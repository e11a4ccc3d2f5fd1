/* One instance's result as people read it: the headline and the table of its ops. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "base/str.h"
#include "results/record.h"

#include <stddef.h>

/* Appends the report, its table fitted to the terminal on stdout. A failure of memory sticks in out. */
void pdnn_report_instance(struct pdnn_str *out, const struct pdnn_record *record,
                          const struct pdnn_op_record *ops, size_t n_ops);

#endif
