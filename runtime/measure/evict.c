#include "runtime/measure/evict.h"

enum pdnn_status pdnn_evictor_init(struct pdnn_evictor *evictor, const struct pdnn_dram_buffer *far,
                                   struct pdnn_err *err) {
    const struct pdnn_stream *stream;
    enum pdnn_status status = pdnn_dram_buffer_get(far, &stream, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "cache: cold");
    uint64_t once = (uint64_t)far->threads * stream->slice_bytes, all = 4 * far->cache_bytes;
    *evictor = (struct pdnn_evictor){stream, far->threads, all > once ? (all + once - 1) / once : 1};
    return PDNN_OK;
}

/* Reads only: with dirty lines in the caches, the next timed step would pay for writing them back. */
uint64_t pdnn_evictor_run(const struct pdnn_evictor *evictor) {
    const struct pdnn_stream_job read = {
        .pattern = PDNN_STREAM_READ, .threads = evictor->threads, .passes = evictor->passes};
    float sum;
    return pdnn_stream_run(evictor->stream, &read, &sum);
}
