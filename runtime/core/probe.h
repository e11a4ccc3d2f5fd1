/* The probe beside each visit: how fast the machine is at this moment. Runs in a worker. */
#ifndef RUNTIME_CORE_PROBE_H
#define RUNTIME_CORE_PROBE_H

#include "base/err.h"

#include <stdint.h>

/* One probe pair, about 4 ms: FMA rate on all threads and DRAM read rate, the same code as the probe rows.
 * The buffer is made once per process. */
enum pdnn_status pdnn_probe(int64_t threads, double *gflops, double *gbs, struct pdnn_err *err);

#endif
