#include "runtime/protocol/roof_rows.h"

#include <string.h>

uint64_t pdnn_roof_rows_cache_bytes(const struct pdnn_roof_rows *roof_rows, int64_t threads) {
    uint64_t most = 0;
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (row->threads == threads && strcmp(row->kind, "bandwidth") == 0 && row->capacity_bytes > most)
            most = row->capacity_bytes;
    }
    return most;
}

double pdnn_ring_bytes(int64_t ranks, double bytes) {
    return 2 * (double)(ranks - 1) / (double)ranks * bytes;
}

static bool is_link(const struct pdnn_roof_row *row, int64_t ranks) {
    return strcmp(row->kind, "link") == 0 && row->ranks == ranks && row->value > 0;
}

bool pdnn_roof_rows_have_link(const struct pdnn_roof_rows *roof_rows, int64_t ranks) {
    bool found = false;
    for (size_t i = 0; i < roof_rows->count; i++)
        found = found || is_link(&roof_rows->row[i], ranks);
    return found;
}

static double ns_of(const struct pdnn_roof_row *row) {
    return pdnn_ring_bytes(row->ranks, (double)row->capacity_bytes) / row->value;
}

double pdnn_roof_rows_link_ns(const struct pdnn_roof_rows *roof_rows, int64_t ranks, uint64_t bytes) {
    const struct pdnn_roof_row *below = NULL,
                               *above = NULL; /* the next smaller and the next larger message */
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (!is_link(row, ranks))
            continue;
        if (row->capacity_bytes <= bytes && (!below || row->capacity_bytes > below->capacity_bytes))
            below = row;
        if (row->capacity_bytes > bytes && (!above || row->capacity_bytes < above->capacity_bytes))
            above = row;
    }
    if (!below)
        return above ? ns_of(above) : 0;
    if (!above)
        return pdnn_ring_bytes(ranks, (double)bytes) / below->value;
    double share =
        (double)(bytes - below->capacity_bytes) / (double)(above->capacity_bytes - below->capacity_bytes);
    return ns_of(below) + share * (ns_of(above) - ns_of(below));
}
