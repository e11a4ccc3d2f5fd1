/* The published observations (Wang, Wei, Brooks, 2020, table 1, and what the papers say of operators) as
 * claims that these tables confirm, contradict or cannot tell. */
#ifndef RESULTS_REPORT_FINDINGS_H
#define RESULTS_REPORT_FINDINGS_H

#include "results/report/op_times.h"
#include "results/report/rows.h"

enum pdnn_report_verdict {
    PDNN_REPORT_HOLDS,
    PDNN_REPORT_DOES_NOT_HOLD,
    PDNN_REPORT_CANNOT_BE_TOLD,
    PDNN_REPORT_VERDICT_COUNT
};

/* "holds", "does not hold", "cannot be told". */
const char *pdnn_report_verdict_name(enum pdnn_report_verdict verdict);

enum { PDNN_REPORT_SENTENCE = 512 };

struct pdnn_report_finding {
    const char *claim; /* static text */
    size_t source;
    enum pdnn_report_verdict verdict;
    char sentence[PDNN_REPORT_SENTENCE]; /* why, with n and interval */
};

/* Every claim for every source, in the arena of the rows. A claim about a ratio holds if its 95 % interval
 * lies on the claimed side, does not hold if it lies on the other, and cannot be told otherwise. */
enum pdnn_status pdnn_report_findings(struct pdnn_report_rows *rows, const struct pdnn_report_op_times *times,
                                      struct pdnn_report_finding **findings, size_t *n_findings,
                                      struct pdnn_err *err);

#endif
