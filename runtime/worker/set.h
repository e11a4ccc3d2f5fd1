/* The worker's plan set: instances that share their weights, all of one family with the same run settings. */
#ifndef RUNTIME_WORKER_SET_H
#define RUNTIME_WORKER_SET_H

#include "runtime/worker/process.h"

/* The plan of the requested instance in the set that the request names. If another set is open, it is closed
 * and this one opened. Borrowed until the next call. */
enum pdnn_status pdnn_set_get(struct pdnn_process *process, const struct pdnn_request *request,
                              const struct pdnn_plan_member **member, struct pdnn_err *err);
void pdnn_set_close(struct pdnn_process *process);

#endif
