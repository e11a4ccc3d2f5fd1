/* The JSON files that ParaDnn shipped, as a result directory: labels become instances, states become
 * statuses, and what the files say about an instance is kept beside it in imported.csv. Costs and rates in
 * results.csv follow from the instance as in a sweep, since ParaDnn's profiler also counted the first layer's
 * gradient of the data, which no program needs.
 *
 * A file is one object of parallel lists. For the instances that ran: `labels`
 * (layer_32-node_512-input_8000-output_200-bs_1024), `params`, `fl` (GFLOP per step), `flops` (GFLOP/s),
 * `intensity` (FLOP per byte of parameters), `step_per_sec`, `example_per_sec`; for those that did not:
 * `err_jobs` (labels) and `states`. */
#ifndef RESULTS_IMPORT_PARADNN_JSON_H
#define RESULTS_IMPORT_PARADNN_JSON_H

#include "base/err.h"
#include "results/table/table.h"
#include "runtime/protocol/visit.h"

struct pdnn_import_request {
    const char *path;   /* the JSON file */
    const char *output; /* the new directory */
    /* "KEY=VALUE": hyper-parameters and run settings that labels do not say. threads is 1 unless it is here.
     */
    const char *const *set;
    size_t n_set;
    int64_t shards;       /* `fl` and `flops` are those of one of this many shards; at least 1 */
    const char *host;     /* the platform's name; NULL: the file's, without its extension */
    const char *software; /* what ran the models, with its version; NULL: not said */
    const char *version;  /* this program's */
};

enum { PDNN_IMPORT_REASONS = 3 };

struct pdnn_import_result {
    size_t left_out; /* instances that could not be mapped */
    struct pdnn_str
        reasons; /* a line, made visible, for each of the first PDNN_IMPORT_REASONS; the caller finishes it */
    size_t counts[PDNN_OUTCOME_COUNT];
    /* Medians over the instances that ran of what the file says over what the instance has; NaN if none ran.
     */
    double params_ratio, flop_ratio;
};

/* Writes results.csv, an ops.csv without rows, imported.csv and environment.yaml, or nothing. The same file
 * and request give the same bytes. A label, a state or a number that cannot be mapped leaves its instance
 * out; the reason names the label. PDNN_INVALID if the output exists, if the file is not as described, or if
 * that leaves none. */
enum pdnn_status pdnn_import_paradnn(const struct pdnn_import_request *request,
                                     struct pdnn_import_result *result, struct pdnn_err *err);

extern const struct pdnn_table_def pdnn_imported_def; /* imported.csv */

#endif
