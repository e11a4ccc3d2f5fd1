/* One visit: prepares the instance, measures it between two probes, and checks that
 * its results are finite. */
#ifndef RUNTIME_WORKER_VISIT_H
#define RUNTIME_WORKER_VISIT_H

#include "runtime/protocol/visit.h"
#include "runtime/worker/process.h"

/* Failures go into visit->outcome and reason. The caller finishes the visit. */
void pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                    struct pdnn_visit *visit);

/* Sets the outcome of a visit that fails with this error, and its reason. */
void pdnn_visit_fail(struct pdnn_visit *visit, const struct pdnn_err *err);

#endif
