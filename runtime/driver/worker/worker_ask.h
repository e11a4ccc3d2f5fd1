/* Sends one request to a worker and waits for the answer, with limits, stop and progress.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_ASK_H
#define RUNTIME_DRIVER_WORKER_WORKER_ASK_H

#include "runtime/driver/worker/worker_autopsy.h"
#include "runtime/protocol/protocol.h"

/* Sends a request and waits for its answer, which has the same kind or is PDNN_MESSAGE_FAILED.
 * PDNN_INTERRUPTED if *stop or the deadline ended the wait. */
enum pdnn_status pdnn_worker_ask(struct pdnn_worker *worker, enum pdnn_message_kind kind,
                                 const struct pdnn_part *body, const struct pdnn_watch *watch,
                                 struct pdnn_message *answer, struct pdnn_fate *fate, struct pdnn_err *err);

/* The same for a request about the instance with the id, or NULL: its family is sent first unless the worker
 * has it. Where that gets no answer, neither does the request. */
enum pdnn_status pdnn_worker_ask_about(struct pdnn_worker *worker, const char *id,
                                       enum pdnn_message_kind kind, const struct pdnn_part *body,
                                       const struct pdnn_watch *watch, struct pdnn_message *answer,
                                       struct pdnn_fate *fate, struct pdnn_err *err);

#endif
