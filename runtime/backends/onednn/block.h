/* Memory for measuring candidates at compile time, laid out like a plan's. */
#ifndef RUNTIME_BACKENDS_ONEDNN_BLOCK_H
#define RUNTIME_BACKENDS_ONEDNN_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_onednn_block {
    void *memory, *data; /* data lies within memory; free() takes memory */
};

/* Small f32 values on huge pages, starting lines_off cache lines in, so that no two arrays start at the same
 * offset. False when out of memory. */
bool pdnn_onednn_block_new(struct pdnn_onednn_block *block, uint64_t bytes, int lines_off);

#endif
