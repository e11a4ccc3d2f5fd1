/* The probe beside each visit: how fast the machine is right now. Runs in a worker. */
#ifndef RUNTIME_MEASURE_PROBE_H
#define RUNTIME_MEASURE_PROBE_H

#include "runtime/measure/dram_buffer.h"

struct pdnn_probe_rates {
    double gflops, gbs; /* multiply-adds; reads from DRAM */
    double clock_ghz;   /* of the slowest thread's core; 0: no kernel tells it on this processor */
    double handoff_ns;  /* a cache line's round trip between neighbouring threads; 0: there is one thread */
    double fork_ns;     /* an empty parallel region */
};

/* One probe, about 5 ms, on far->threads threads, with the same code as the probe rows of the roofs.
 * far->cache_bytes is the measured capacity of the last cache level (0: not measured). What
 * pdnn_dram_buffer_get returns. */
enum pdnn_status pdnn_probe(const struct pdnn_dram_buffer *far, struct pdnn_probe_rates *rates,
                            struct pdnn_err *err);

#endif
