/* Finds out why a worker died. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_AUTOPSY_H
#define RUNTIME_DRIVER_WORKER_WORKER_AUTOPSY_H

#include "runtime/driver/worker/worker_link.h"

/* How a request ended. */
struct pdnn_fate {
    enum pdnn_outcome outcome; /* OK: there is an answer; otherwise the worker is gone */
    char reason[PDNN_REASON_TEXT];
};

/* Reaps a worker that has closed its connection and finds out why it died. Leaves *worker as {0}. */
void pdnn_worker_bury(struct pdnn_worker *worker, struct pdnn_fate *fate);

#endif
