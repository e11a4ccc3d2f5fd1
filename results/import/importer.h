/* Other people's files as result directories. An importer is a file of this folder, and a word in the
 * list of the build by which it is called on the command line too. */
#ifndef RESULTS_IMPORT_IMPORTER_H
#define RESULTS_IMPORT_IMPORTER_H

#include "base/err.h"
#include "results/table/table.h"
#include "runtime/protocol/visit.h"

struct pdnn_import_request {
    const char *path;   /* the file */
    const char *output; /* the new directory */
    /* "KEY=VALUE": hyper-parameters and run settings that labels do not say. threads is 1 unless it is here.
     */
    const char *const *set;
    size_t n_set;
    int64_t shards;       /* FLOP and rates are those of one of this many shards; at least 1 */
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
    size_t mislabeled; /* instances that ran whose parameters differ by more than 5 %; they have the flag */
};

/* An importer writes results.csv, an ops.csv without rows, environment.yaml and what else the file says, or
 * nothing. The same file and request give the same bytes. A label, a state or a number that cannot be mapped
 * leaves its instance out; the reason names the label. PDNN_INVALID if the output exists, if the file is not
 * as described, or if that leaves none. */
#include "lists.h"
#define PDNN_DECLARE_IMPORTER(word)                                                                          \
    enum pdnn_status pdnn_import_##word(const struct pdnn_import_request *request,                           \
                                        struct pdnn_import_result *result, struct pdnn_err *err);
PDNN_IMPORTERS(PDNN_DECLARE_IMPORTER)

#endif
