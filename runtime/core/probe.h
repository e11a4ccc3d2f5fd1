/* The probe beside each visit: how fast the machine is right now. Runs in a worker. */
#ifndef RUNTIME_CORE_PROBE_H
#define RUNTIME_CORE_PROBE_H

#include "runtime/core/far.h"

/* One probe, about 4 ms: FMA rate and DRAM read rate on far->threads threads, with the same code as the probe
 * rows of the roofs. far->cache_bytes is the measured capacity of the last cache level (0: not measured).
 * What pdnn_far_get returns. */
enum pdnn_status pdnn_probe(const struct pdnn_far *far, double *gflops, double *gbs, struct pdnn_err *err);

#endif
