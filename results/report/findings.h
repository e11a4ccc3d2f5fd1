/* What the tables say of the published observations (claims.h). */
#ifndef RESULTS_REPORT_FINDINGS_H
#define RESULTS_REPORT_FINDINGS_H

#include "results/claims/claims.h"

/* Every claim, those of one platform for every source, in the arena of the rows; what can be told first, each
 * part in the order of table 1. A claim about a mean holds if its 95 % interval lies on the claimed side,
 * does not hold if it lies on the other, and cannot be told otherwise. */
enum pdnn_status pdnn_report_findings(struct pdnn_report_rows *rows, const struct pdnn_report_op_times *times,
                                      const struct pdnn_report_sides *sides,
                                      struct pdnn_report_finding **findings, size_t *n_findings,
                                      struct pdnn_err *err);

#endif
