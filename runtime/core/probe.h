/* The probe beside each visit: how fast the machine is at this moment. Runs in a worker. */
#ifndef RUNTIME_CORE_PROBE_H
#define RUNTIME_CORE_PROBE_H

#include "base/err.h"

#include <stdint.h>

/* One probe pair, about 4 ms: FMA rate on all threads and DRAM read rate, the same code as the probe rows.
 * What it reads is well beyond cache_bytes, what the last cache level was found to hold for these threads (0:
 * nobody has looked). The buffer is made once per process, and again for more threads or more cache. */
enum pdnn_status pdnn_probe(int64_t threads, uint64_t cache_bytes, double *gflops, double *gbs,
                            struct pdnn_err *err);

#endif
