/* One visit: the instance is prepared, measured between two probes, and its results are looked at. */
#ifndef RUNTIME_WORKER_VISIT_H
#define RUNTIME_WORKER_VISIT_H

#include "runtime/facts/visit.h"
#include "runtime/worker/process.h"

/* What goes wrong is in visit->outcome and reason. The caller finishes the visit. */
void pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                    struct pdnn_visit *visit);

#endif
