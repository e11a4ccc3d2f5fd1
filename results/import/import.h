/* Other people's files as result directories. A format is a mapping: which column of the file says what. */
#ifndef RESULTS_IMPORT_IMPORT_H
#define RESULTS_IMPORT_IMPORT_H

#include "base/err.h"
#include "results/import/mapping.h"
#include "runtime/protocol/visit.h"

enum { PDNN_IMPORT_REASONS = 3 };

struct pdnn_import_result {
    size_t left_out;         /* instances that could not be mapped */
    struct pdnn_str reasons; /* a line for each of the first PDNN_IMPORT_REASONS */
    size_t repetitions;      /* rows of instances that were there already, samples of one row */
    struct pdnn_str apart;   /* columns that no --map names in which they differ, "run, notes" */
    size_t counts[PDNN_OUTCOME_COUNT];
    size_t elsewhere; /* rows of other platforms than the one that was asked for */
    /* Medians of what the file says over what the instance has; NaN if it says it of none that ran. */
    double params_ratio, flop_ratio;
    /* Instances that ran whose parameters differ by more than 5 %, and other ones whose FLOP, or their rate,
     * differ by more than a factor of two; they have the flag. */
    size_t mislabeled, far;
};
void pdnn_import_result_finish(struct pdnn_import_result *result);

/* Writes results.csv, an ops.csv without rows, environment.yaml, imported.csv and, with roofs, ceilings.csv,
 * or nothing; the same request gives the same bytes. Rows that cannot be mapped are left out. PDNN_INVALID if
 * the output exists, the file is not as described, or no row is left. */
enum pdnn_status pdnn_import(const struct pdnn_import_request *request, struct pdnn_import_result *result,
                             struct pdnn_err *err);

#endif
