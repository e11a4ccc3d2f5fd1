/* Options for steps on our own kernels: how many threads they use, and from which size on results are written
 * with non-temporal stores, past the caches. */
#ifndef RUNTIME_LOWERING_OPTIONS_H
#define RUNTIME_LOWERING_OPTIONS_H

#include <stdint.h>

struct pdnn_call_options {
    int64_t threads;
    uint64_t cache_bytes; /* what the last-level cache holds for these threads */
};

/* Results of at least 1/part of the last-level cache bypass it, which leaves the cache to the data that the
 * step reads. */
enum { PDNN_CALL_BYPASS_ELEMENTWISE = 1, PDNN_CALL_BYPASS_IMAGES = 2 };

/* cache_bytes: measured capacity of the last-level cache for these threads; 0: take the size
 * that the host reports. */
struct pdnn_call_options pdnn_call_options(int64_t threads, uint64_t cache_bytes);

#endif
