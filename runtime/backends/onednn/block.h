/* Memory for what is measured when a program is compiled, like a plan's. */
#ifndef RUNTIME_BACKENDS_ONEDNN_BLOCK_H
#define RUNTIME_BACKENDS_ONEDNN_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_onednn_block {
    void *memory, *data; /* data lies in memory, which free takes back */
};

/* Small f32 values on huge pages, some lines off them, so that no two arrays begin at the same place. False
 * where there is no memory. */
bool pdnn_onednn_block_new(struct pdnn_onednn_block *block, uint64_t bytes, int lines_off);

#endif
