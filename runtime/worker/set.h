/* The worker's plan set: instances of one family and the same run settings that share their weights. */
#ifndef RUNTIME_WORKER_SET_H
#define RUNTIME_WORKER_SET_H

#include "runtime/worker/process.h"

/* The member that the request names, of the set that it names, which is opened if it is not the one that is
 * open. Borrowed, until the next call. */
enum pdnn_status pdnn_set_get(struct pdnn_process *process, const struct pdnn_request *request,
                              const struct pdnn_plan_member **member, struct pdnn_err *err);
void pdnn_set_close(struct pdnn_process *process);

#endif
