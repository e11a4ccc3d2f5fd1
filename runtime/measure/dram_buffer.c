#include "runtime/measure/dram_buffer.h"

#include "base/units.h"

/* The buffer is MOST times the caches where memory allows, and at least LEAST times. */
enum { MOST = 4, LEAST = 2, SLICE_BYTES = 64 << 20 };

uint64_t pdnn_dram_buffer_bytes(const struct pdnn_dram_buffer *far) {
    uint64_t most = MOST * far->cache_bytes, least = LEAST * far->cache_bytes;
    uint64_t usual = (uint64_t)far->threads * SLICE_BYTES, share = far->limit_bytes / 4;
    most = most > usual ? most : usual;
    if (!far->limit_bytes || most <= share)
        return most;
    uint64_t bytes = share > least ? share : least;
    return bytes <= far->limit_bytes / 2 ? bytes : 0;
}

uint64_t pdnn_far_memory_bytes(const struct pdnn_far_memory *memory) {
    return (uint64_t)memory->stream.threads * memory->stream.slice_bytes;
}

enum pdnn_status pdnn_dram_buffer_get(const struct pdnn_dram_buffer *far, const struct pdnn_stream **stream,
                                      struct pdnn_err *err) {
    uint64_t bytes = pdnn_dram_buffer_bytes(far), slice = bytes / (uint64_t)far->threads;
    uint64_t held = pdnn_far_memory_bytes(far->memory);
    struct pdnn_stream *buffer = &far->memory->stream;
    char need[PDNN_UNIT_TEXT], limit[PDNN_UNIT_TEXT];
    if (!bytes)
        return pdnn_fail(err, PDNN_TOO_BIG,
                         "twice the caches are %s, more than half of the limit of %s on memory",
                         pdnn_format_bytes(need, (double)LEAST * (double)far->cache_bytes),
                         pdnn_format_bytes(limit, (double)far->limit_bytes));
    bool is_small = buffer->threads < far->threads || buffer->slice_bytes + PDNN_STREAM_GRAIN < slice;
    bool is_large = far->limit_bytes && held > bytes && held > far->limit_bytes / 4;
    if (is_small || is_large) {
        pdnn_stream_destroy(buffer);
        enum pdnn_status status = pdnn_stream_create(buffer, far->threads, slice, err);
        if (status != PDNN_OK)
            return status;
    }
    *stream = buffer;
    return PDNN_OK;
}
