/* The probe beside each visit: how fast the machine is right now. Runs in a worker. */
#ifndef RUNTIME_MEASURE_PROBE_H
#define RUNTIME_MEASURE_PROBE_H

#include "runtime/measure/dram_buffer.h"

/* One probe, about 4 ms: FMA rate and DRAM read rate on far->threads threads, with the same code as the probe
 * rows of the roofs. far->cache_bytes is the measured capacity of the last cache level (0: not measured).
 * What pdnn_dram_buffer_get returns. */
enum pdnn_status pdnn_probe(const struct pdnn_dram_buffer *far, double *gflops, double *gbs,
                            struct pdnn_err *err);

#endif
