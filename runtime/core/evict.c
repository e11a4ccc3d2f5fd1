#include "runtime/core/evict.h"

#include "runtime/kernels/roofs/stream.h"

#include <stdlib.h>

struct pdnn_evictor {
    struct pdnn_stream stream;
};

/* Total size of the last-level caches, one per group of cores that share a cache. */
static uint64_t last_level_bytes(const struct pdnn_host *host, int64_t threads) {
    for (int level = PDNN_CACHE_LEVELS; level-- > 0;) {
        int64_t cores = host->cache_cores[level] > 0 ? host->cache_cores[level] : 1;
        if (host->cache_bytes[level])
            return host->cache_bytes[level] * (uint64_t)((threads + cores - 1) / cores);
    }
    /* The host reports no cache: assume 32 MiB per core, as much as any has. */
    return (uint64_t)threads << 25;
}

enum pdnn_status pdnn_evictor_create(const struct pdnn_host *host, int64_t threads, uint64_t cache_bytes,
                                     struct pdnn_evictor **evictor, struct pdnn_err *err) {
    struct pdnn_evictor *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the evictor");
    uint64_t bytes = cache_bytes ? cache_bytes : last_level_bytes(host, threads);
    enum pdnn_status status = pdnn_stream_create(&made->stream, threads, 4 * bytes / (uint64_t)threads, err);
    if (status != PDNN_OK) {
        free(made);
        return status;
    }
    *evictor = made;
    return PDNN_OK;
}

void pdnn_evictor_destroy(struct pdnn_evictor *evictor) {
    if (evictor)
        pdnn_stream_destroy(&evictor->stream);
    free(evictor);
}

/* Reads only: with dirty lines in the caches, the next timed step would pay for writing them back. */
uint64_t pdnn_evictor_run(const struct pdnn_evictor *evictor) {
    const struct pdnn_stream_job read = {
        .pattern = PDNN_STREAM_READ, .threads = evictor->stream.threads, .passes = 1};
    float sum;
    return pdnn_stream_run(&evictor->stream, &read, &sum);
}
