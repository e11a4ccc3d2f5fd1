#include "runtime/facts/ceilings.h"

#include <string.h>

uint64_t pdnn_ceilings_cache_bytes(const struct pdnn_ceilings *ceilings, int64_t threads) {
    uint64_t most = 0;
    for (size_t i = 0; i < ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ceilings->row[i];
        if (row->threads == threads && strcmp(row->kind, "bandwidth") == 0 && row->capacity_bytes > most)
            most = row->capacity_bytes;
    }
    return most;
}
