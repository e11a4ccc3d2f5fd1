#include "runtime/plan/reuse.h"

struct span {
    uint64_t begin, end; /* within the block */
};

static struct span span_of(const struct pdnn_plan *plan, uint32_t slot) {
    return (struct span){plan->offset[slot], plan->offset[slot] + plan->program.slots[slot].bytes};
}

/* Bytes of a that b covers. */
static uint64_t overlap(struct span a, struct span b) {
    uint64_t begin = a.begin > b.begin ? a.begin : b.begin, end = a.end < b.end ? a.end : b.end;
    return end > begin ? end - begin : 0;
}

static bool touches(const struct pdnn_plan *plan, const struct pdnn_call *call, struct span span) {
    uint64_t covered = 0;
    for (int k = 0; k < call->n_slots; k++)
        covered += overlap(span, span_of(plan, call->slot[k]));
    return covered >= (span.end - span.begin + 1) / 2;
}

/* Operands in the same memory count once. */
static uint64_t bytes_of(const struct pdnn_plan *plan, const struct pdnn_call *call) {
    uint64_t sum = 0;
    for (int k = 0; k < call->n_slots; k++) {
        bool again = false;
        for (int j = 0; j < k; j++)
            again = again || plan->offset[call->slot[j]] == plan->offset[call->slot[k]];
        sum += again ? 0 : plan->program.slots[call->slot[k]].bytes;
    }
    return sum;
}

static bool is_output(const struct pdnn_node *node, uint32_t slot) {
    bool is_one = false;
    for (int i = 0; i < node->n_outputs; i++)
        is_one = is_one || node->output[i] == slot;
    for (int i = 0; i < node->n_posts; i++)
        is_one = is_one || node->posts[i].output == slot;
    return is_one;
}

/* Whether the call writes most of the span. Of slots beyond the tensors it is not known which are only read;
 * most are copies and scratch, which are written. */
static bool writes(const struct pdnn_plan *plan, const struct pdnn_call *call, struct span span) {
    const struct pdnn_graph *graph = plan->graph;
    uint64_t covered = 0;
    for (int k = 0; k < call->n_slots; k++) {
        bool is_written = call->slot[k] >= graph->n_tensors ||
                          (call->node != PDNN_NONE && is_output(&graph->nodes[call->node], call->slot[k]));
        covered += is_written ? overlap(span, span_of(plan, call->slot[k])) : 0;
    }
    return covered >= (span.end - span.begin + 1) / 2;
}

static struct pdnn_reuse find_use(const struct pdnn_plan *plan, size_t call, struct span span, bool is_cold,
                                  uint64_t far) {
    size_t count = plan->program.n_calls;
    uint64_t sum = span.end - span.begin;
    for (size_t back = 1; back <= count && sum < far && !(is_cold && back > call); back++) {
        const struct pdnn_call *before = &plan->program.calls[(call + count - back) % count];
        uint64_t bytes = bytes_of(plan, before);
        if (touches(plan, before, span)) {
            uint64_t others = bytes > span.end - span.begin ? bytes - (span.end - span.begin) : 0;
            return (struct pdnn_reuse){sum + others / 2, writes(plan, before, span)};
        }
        sum += bytes;
    }
    return (struct pdnn_reuse){far, false};
}

static uint64_t class_of(uint64_t bytes, const struct pdnn_reuse_caches *caches) {
    uint64_t power = PDNN_REUSE_NEAR, far = caches->far_bytes;
    while (power < far && bytes / 181 * 128 > power) /* the nearest by ratio; 181 / 128: the root of 2 */
        power *= 2;
    if (power >= far / 2)
        return power < far ? power : far;
    return power < caches->core_bytes ? PDNN_REUSE_NEAR : far / 8;
}

uint64_t pdnn_reuse_far(uint64_t cache_bytes) {
    uint64_t power = PDNN_REUSE_NEAR;
    while (power < 2 * (cache_bytes / 181 * 128) && power < UINT64_MAX / 4)
        power *= 2;
    return power;
}

void pdnn_reuse_find(const struct pdnn_plan *plan, size_t call, bool is_cold,
                     const struct pdnn_reuse_caches *caches, struct pdnn_reuse reuse[PDNN_CALL_SLOTS]) {
    const struct pdnn_call *of = &plan->program.calls[call];
    const uint64_t all_bytes = bytes_of(plan, of);
    for (int k = 0; k < of->n_slots; k++) {
        struct span span = span_of(plan, of->slot[k]);
        reuse[k] = (struct pdnn_reuse){0, false};
        if (span.end == span.begin)
            continue;
        reuse[k] = (struct pdnn_reuse){PDNN_REUSE_NEAR, false};
        if (span.end - span.begin < all_bytes / PDNN_REUSE_SMALL)
            continue;
        reuse[k] = find_use(plan, call, span, is_cold, caches->far_bytes);
        reuse[k].bytes = class_of(reuse[k].bytes, caches);
        reuse[k].is_written = reuse[k].is_written && reuse[k].bytes < caches->far_bytes;
    }
}
