#define _GNU_SOURCE /* madvise */
#include "runtime/backends/onednn/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20, LINE_BYTES = 64, PERIOD = 97, PATTERN = 256 * PERIOD };

/* The blocks of a compilation may be larger than the caches together, so all threads fill them. */
static void fill(float *values, int64_t count) {
    int64_t first = count < PATTERN ? count : PATTERN;
    for (int64_t i = 0; i < first; i++)
        values[i] = (float)(i % PERIOD) * 0.01F - 0.5F;
#pragma omp parallel for
    for (int64_t begin = PATTERN; begin < count; begin += PATTERN) {
        int64_t length = count - begin < PATTERN ? count - begin : PATTERN;
        memcpy(values + begin, values, (size_t)length * sizeof *values);
    }
}

enum pdnn_status pdnn_onednn_block_new(struct pdnn_onednn_block *block, uint64_t bytes, int lines_off,
                                       uint64_t *room_bytes, struct pdnn_err *err) {
    uint64_t room = bytes + (uint64_t)lines_off * LINE_BYTES;
    if (room > *room_bytes)
        return pdnn_fail(err, PDNN_TOO_BIG, "no room to measure implementations in");
    if (posix_memalign(&block->memory, HUGE_PAGE_BYTES, room + LINE_BYTES) != 0) {
        block->memory = NULL;
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring implementations");
    }
    *room_bytes -= room;
    madvise(block->memory, room, MADV_HUGEPAGE);
    block->data = (char *)block->memory + lines_off * LINE_BYTES;
    fill(block->data, (int64_t)(bytes / sizeof(float)));
    return PDNN_OK;
}
