/* The probe beside each visit: how fast the machine is right now. Runs in a worker. */
#ifndef RUNTIME_CORE_PROBE_H
#define RUNTIME_CORE_PROBE_H

#include "base/err.h"

#include <stdint.h>

/* One probe, about 4 ms: FMA rate and DRAM read rate on all threads, with the same code as the probe rows of
 * the roofs. It reads from a buffer well beyond cache_bytes, the measured capacity of the last cache level
 * for these threads (0: not measured). The buffer is allocated once per process, and again for more threads
 * or a larger cache. */
enum pdnn_status pdnn_probe(int64_t threads, uint64_t cache_bytes, double *gflops, double *gbs,
                            struct pdnn_err *err);

#endif
