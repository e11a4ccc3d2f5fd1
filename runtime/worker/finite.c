#include "runtime/worker/finite.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exponent bits of the floating-point types: all set means infinite or not a number. */
static const uint32_t exponent_bits[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = UINT32_C(0x7f800000), [PDNN_BF16] = 0x7f80, [PDNN_F16] = 0x7c00};

static bool is_finite(enum pdnn_dtype dtype, const unsigned char *value) {
    uint32_t bits = 0;
    memcpy(&bits, value, pdnn_dtype_bytes(dtype));
    return !exponent_bits[dtype] || (bits & exponent_bits[dtype]) != exponent_bits[dtype];
}

/* Whether all values in the tensor's slot are finite, in whatever order they lie there; padding is zero. */
static bool is_slot_finite(const struct pdnn_plan *plan, uint32_t tensor) {
    const struct pdnn_slot *slot = &plan->program.slots[tensor];
    enum pdnn_dtype dtype = plan->graph->tensors[tensor].dtype;
    enum { CHUNK = 4096 };
    const uint32_t bits = exponent_bits[dtype];
    int64_t bad = 0, n_chunks = (int64_t)((slot->bytes + CHUNK - 1) / CHUNK);
    const unsigned char *memory = plan->memory[tensor];
    if (!bits)
        return true;
    if (slot->bytes < pdnn_tensor_bytes(&plan->graph->tensors[tensor]))
        return false;
#pragma omp parallel for reduction(+ : bad)
    for (int64_t i = 0; i < n_chunks; i++) {
        uint32_t words[CHUNK / sizeof(uint32_t)] = {0};
        uint64_t left = slot->bytes - (uint64_t)i * CHUNK;
        memcpy(words, memory + i * CHUNK, left < CHUNK ? left : CHUNK);
        for (size_t k = 0; k < CHUNK / sizeof *words; k++) {
            if (dtype == PDNN_F32)
                bad += (words[k] & bits) == bits;
            else
                bad += ((words[k] & bits) == bits) + ((words[k] >> 16 & bits) == bits);
        }
    }
    return bad == 0;
}

/* Checks one tensor as the last step left it, such as the loss or the result. */
static enum pdnn_status check_tensor(const struct pdnn_plan *plan, uint32_t tensor, const char *name,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_tensor *what = &plan->graph->tensors[tensor];
    size_t element_bytes = pdnn_dtype_bytes(what->dtype);
    int64_t elements = pdnn_tensor_elements(what);
    if (is_slot_finite(plan, tensor))
        return PDNN_OK;
    bool is_copied = !pdnn_plan_is_plain(plan, tensor);
    unsigned char *copy = pdnn_ask(is_copied ? pdnn_tensor_bytes(what) : 0, "to look at results in", err);
    if (!copy)
        return PDNN_NO_MEMORY;
    enum pdnn_status status = is_copied ? pdnn_plan_get(plan, tensor, copy, err) : PDNN_OK;
    const unsigned char *values = is_copied ? copy : plan->memory[tensor];
    for (int64_t i = 0; status == PDNN_OK && i < elements; i++) {
        if (is_finite(what->dtype, values + (size_t)i * element_bytes))
            continue;
        visit->outcome = PDNN_OUTCOME_NUMERIC_ERROR;
        snprintf(visit->reason, sizeof visit->reason,
                 "the %s is not finite at element %" PRId64 " of %" PRId64, name, i, elements);
        break;
    }
    free(copy);
    return status;
}

enum pdnn_status pdnn_finite_check(const struct pdnn_plan *plan, struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    const struct pdnn_graph *graph = plan->graph;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; i < graph->n_tensors && status == PDNN_OK && visit->outcome == PDNN_OUTCOME_OK;
         i++) {
        if (i == graph->loss)
            status = check_tensor(plan, i, "loss", visit, err);
        else if (i == graph->result)
            status = check_tensor(plan, i, "result", visit, err);
        else if (graph->loss != PDNN_NONE && graph->tensors[i].role == PDNN_ROLE_WEIGHT)
            status = check_tensor(plan, i, "trained weight", visit, err);
    }
    return status;
}
