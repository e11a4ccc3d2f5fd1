/* Memory for measuring candidates at compile time, laid out like a plan's. */
#ifndef RUNTIME_BACKENDS_ONEDNN_BLOCK_H
#define RUNTIME_BACKENDS_ONEDNN_BLOCK_H

#include "base/err.h"

#include <stdint.h>

struct pdnn_onednn_block {
    void *memory, *data; /* data lies within memory; free() takes memory */
};

/* Small f32 values on huge pages, starting lines_off cache lines in, so that no two arrays start at the same
 * offset. Takes its size from *room_bytes, what the trial may still allocate. PDNN_TOO_BIG when that is less;
 * PDNN_NO_MEMORY. */
enum pdnn_status pdnn_onednn_block_new(struct pdnn_onednn_block *block, uint64_t bytes, int lines_off,
                                       uint64_t *room_bytes, struct pdnn_err *err);

#endif
