/* The minibatches of one visit: where they come from, what their loaders do alone, and the rows that say so.
 * Not for data=resident. */
#ifndef RUNTIME_WORKER_LOADING_H
#define RUNTIME_WORKER_LOADING_H

#include "runtime/infeed/infeed.h"
#include "runtime/worker/process.h"
#include "runtime/worker/call_rows.h"

struct pdnn_loading {
    struct pdnn_feed feed;
    struct pdnn_infeed_request request;
    struct pdnn_visit_infeed seen; /* of the loaders alone, and of the page cache */
    struct pdnn_infeed *infeed;
};

/* PDNN_INVALID for settings that do not go with data that changes. */
enum pdnn_status pdnn_loading_check(const struct pdnn_instance *instance, struct pdnn_err *err);

/* The memory that it takes beside the plan. */
uint64_t pdnn_loading_bytes(const struct pdnn_model *model);

/* Opens the data set if there is one, brings its files into or out of the page cache, measures the loaders
 * alone, and starts them. *loading must stay where it is, and be finished even after a failure. */
enum pdnn_status pdnn_loading_init(struct pdnn_loading *loading, const struct pdnn_process *process,
                                   const struct pdnn_model *model, const struct pdnn_request *request,
                                   struct pdnn_err *err);
void pdnn_loading_finish(struct pdnn_loading *loading); /* takes {0} */

/* Notes what was seen in the visit, which has its times. Waiting is a row of its ops too:
 * "infeed/forward/32x3x224x224". */
void pdnn_loading_report(const struct pdnn_loading *loading, struct pdnn_visit *visit,
                         struct pdnn_call_rows *rows);

#endif
