/* What steps on our own kernels take from the machine: how many threads they use, and from which size on they
 * write past the caches. */
#ifndef RUNTIME_STEPS_OPTIONS_H
#define RUNTIME_STEPS_OPTIONS_H

#include <stdint.h>

struct pdnn_step_options {
    int64_t threads;
    uint64_t cache_bytes; /* what the last cache holds for these threads */
};

/* Results from 1/part of the last-level cache on are written past it: the rest is for what the step reads. A
 * transpose leaves the caches early, since its writes are scattered. */
enum { PDNN_STEP_BYPASS_ELEMENTWISE = 1, PDNN_STEP_BYPASS_IMAGES = 2, PDNN_STEP_BYPASS_TRANSPOSE = 4 };

/* cache_bytes: what the last cache was found to hold for these threads; 0: as large as the host says. */
struct pdnn_step_options pdnn_step_options(int64_t threads, uint64_t cache_bytes);

#endif
