/* `check`: runs one step on the instance's backend, and each of its nodes on `reference`, fed with the inputs
 * that the backend computed. So each op answers only for its own error: errors do not add up over the layers,
 * and a value that rounding moved across a ReLU's zero does not look like a wrong gradient. State is compared
 * after each op that changes it. */
#ifndef RUNTIME_WORKER_CHECK_H
#define RUNTIME_WORKER_CHECK_H

#include "runtime/protocol/check.h"
#include "runtime/worker/process.h"

/* *rows is heap, freed by the caller. */
enum pdnn_status pdnn_check_run(struct pdnn_process *process, const struct pdnn_request *request,
                                struct pdnn_check_row **rows, size_t *n_rows, struct pdnn_err *err);

#endif
