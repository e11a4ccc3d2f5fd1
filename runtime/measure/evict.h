/* Evicts everything from the caches of the measured threads, which is what makes a sample cold. */
#ifndef RUNTIME_MEASURE_EVICT_H
#define RUNTIME_MEASURE_EVICT_H

#include "runtime/measure/dram_buffer.h"

struct pdnn_evictor {
    const struct pdnn_stream *stream; /* the process's far memory */
    int64_t threads;
    uint64_t passes; /* so that at least four times the caches are read */
};

/* Prepares to evict on far->threads threads; far->cache_bytes is known. The caller has set up the OpenMP
 * pool. What pdnn_dram_buffer_get returns. */
enum pdnn_status pdnn_evictor_init(struct pdnn_evictor *evictor, const struct pdnn_dram_buffer *far,
                                   struct pdnn_err *err);

/* Afterwards the caches hold little else and no dirty lines. Takes milliseconds: call it outside the timed
 * region. Returns the bytes read. */
uint64_t pdnn_evictor_run(const struct pdnn_evictor *evictor);

#endif
