/* What a dead worker died of. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_AUTOPSY_H
#define RUNTIME_DRIVER_WORKER_AUTOPSY_H

#include "runtime/driver/worker.h"

/* What became of a request. */
struct pdnn_fate {
    enum pdnn_outcome outcome; /* OK: there is an answer; else the worker is gone */
    char reason[PDNN_REASON_TEXT];
};

/* The machine's count of out-of-memory kills, 0 where /proc does not say. */
uint64_t pdnn_oom_kill_count(void);

/* Reaps a worker that has closed its connection, and says what it died of. The worker is {0} after it. */
void pdnn_worker_bury(struct pdnn_worker *worker, struct pdnn_fate *fate);

#endif
