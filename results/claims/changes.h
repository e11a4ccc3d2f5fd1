/* What one key does to a number when nothing else changes: rows that are equal in every other key form a
 * series, and its two ends give one ratio. Each series counts once, however many values it has. */
#ifndef RESULTS_CLAIMS_CHANGES_H
#define RESULTS_CLAIMS_CHANGES_H

#include "results/stats/means.h"
#include "results/query/rows.h"

struct pdnn_report_changes {
    struct pdnn_mean log; /* of last over first, a number per series */
    size_t n_up;          /* series whose last value is greater than the first */
};

/* Adds the series of the source's rows that end ok along the axis, which must be numeric. */
void pdnn_report_changes_add(const struct pdnn_report_rows *rows, size_t source,
                             const struct pdnn_report_axis *axis, enum pdnn_report_number number,
                             struct pdnn_report_changes *changes);

/* Calls back with the rows of each series that has two values of the axis or more, in their order. */
void pdnn_report_series(const struct pdnn_report_rows *rows, size_t source,
                        const struct pdnn_report_axis *axis,
                        void (*series)(void *context, const size_t *member, size_t count), void *context);

#endif
