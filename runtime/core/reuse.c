#include "runtime/core/reuse.h"

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

static bool touches(const struct pdnn_plan *plan, const struct pdnn_step *step, struct span span) {
    uint64_t covered = 0;
    for (int k = 0; k < step->n_slots; k++)
        covered += overlap(span, span_of(plan, step->slot[k]));
    return covered >= (span.end - span.begin + 1) / 2;
}

/* Operands in the same memory count once. */
static uint64_t bytes_of(const struct pdnn_plan *plan, const struct pdnn_step *step) {
    uint64_t sum = 0;
    for (int k = 0; k < step->n_slots; k++) {
        bool again = false;
        for (int j = 0; j < k; j++)
            again = again || plan->offset[step->slot[j]] == plan->offset[step->slot[k]];
        sum += again ? 0 : plan->program.slots[step->slot[k]].bytes;
    }
    return sum;
}

static uint64_t distance_of(const struct pdnn_plan *plan, size_t step, struct span span, bool is_cold,
                            uint64_t far) {
    size_t count = plan->program.n_steps;
    uint64_t sum = span.end - span.begin;
    for (size_t back = 1; back <= count && sum < far; back++) {
        if (is_cold && back > step)
            return far;
        const struct pdnn_step *before = &plan->program.steps[(step + count - back) % count];
        if (touches(plan, before, span))
            return sum;
        sum += bytes_of(plan, before);
    }
    return far;
}

/* The nearest by ratio. */
static uint64_t class_of(uint64_t bytes, uint64_t far) {
    uint64_t power = PDNN_REUSE_NEAR;
    while (power < far && bytes / 181 * 128 > power) /* 181 / 128: the square root of 2 */
        power *= 2;
    return power < far ? power : far;
}

uint64_t pdnn_reuse_far(uint64_t cache_bytes) {
    uint64_t power = PDNN_REUSE_NEAR;
    while (power / 2 < cache_bytes && power < UINT64_MAX / 4)
        power *= 2;
    return power;
}

void pdnn_reuse_find(const struct pdnn_plan *plan, size_t step, bool is_cold, uint64_t far,
                     uint64_t bytes[PDNN_STEP_SLOTS]) {
    const struct pdnn_step *of = &plan->program.steps[step];
    for (int k = 0; k < of->n_slots; k++) {
        struct span span = span_of(plan, of->slot[k]);
        bytes[k] = span.end > span.begin ? class_of(distance_of(plan, step, span, is_cold, far), far) : 0;
    }
}
