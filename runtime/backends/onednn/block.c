#define _GNU_SOURCE /* madvise */
#include "runtime/backends/onednn/block.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20, LINE_BYTES = 64 };

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
    float *values = block->data;
    for (uint64_t i = 0; i < bytes / sizeof *values; i++)
        values[i] = (float)(i % 97) * 0.01F - 0.5F;
    return PDNN_OK;
}
