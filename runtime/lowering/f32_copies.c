#include "runtime/lowering/f32_copies.h"

#include "models/op.h"
#include "runtime/lowering/call.h"

enum { LINE_FLOATS = 16 };

enum pdnn_half pdnn_half_of(enum pdnn_dtype dtype) {
    return dtype == PDNN_BF16 ? PDNN_HALF_BF16 : PDNN_HALF_F16;
}

bool pdnn_half_is_used(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    bool is_used = false;
    for (int i = pdnn_node_accesses(node, access); i-- > 0;)
        is_used = is_used || pdnn_dtype_is_half(graph->tensors[access[i].tensor].dtype);
    return is_used;
}

static void add(struct pdnn_f32_copies *copies, const struct pdnn_program *program, uint32_t tensor,
                bool is_written) {
    int i = 0;
    if (!pdnn_dtype_is_half(program->graph->tensors[tensor].dtype))
        return;
    while (i < copies->count && copies->copy[i].tensor != tensor)
        i++;
    struct pdnn_f32_copy *copy = &copies->copy[i];
    if (i == copies->count) {
        *copy = (struct pdnn_f32_copy){
            .tensor = tensor,
            .type = pdnn_half_of(program->graph->tensors[tensor].dtype),
            .elements = (int64_t)(program->slots[tensor].bytes / sizeof(uint16_t)),
            .at = copies->floats,
        };
        copies->floats += (copy->elements + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
        copies->count++;
    }
    copy->is_read = copy->is_read || !is_written;
    copy->is_written = copy->is_written || is_written;
}

struct pdnn_f32_copies pdnn_f32_copies_create(struct pdnn_program *program, const struct pdnn_node *node,
                                              struct pdnn_call *call) {
    struct pdnn_f32_copies made = {0};
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int n_accesses = pdnn_node_accesses(node, access);
    for (int i = 0; i < n_accesses; i++)
        add(&made, program, access[i].tensor, access[i].is_written);
    made.slot = pdnn_call_scratch(call, program, (uint64_t)made.floats * sizeof(float));
    for (int i = 0; i < made.count; i++) {
        const uint64_t uses = (uint64_t)made.copy[i].is_read + made.copy[i].is_written,
                       bytes = uses * (uint64_t)made.copy[i].elements * sizeof(float);
        pdnn_extra_traffic_add(
            &call->extra, &(struct pdnn_extra_traffic){bytes, bytes, (uint64_t)made.floats * sizeof(float)});
    }
    return made;
}

void pdnn_f32_copies_bind(struct pdnn_f32_copies *copies, void *const *memory) {
    for (int i = 0; i < copies->count; i++) {
        struct pdnn_f32_copy *copy = &copies->copy[i];
        copy->half = memory[copy->tensor];
        copy->wide = (float *)memory[copies->slot] + copy->at;
    }
}

float *pdnn_f32_copies_find(const struct pdnn_f32_copies *copies, uint32_t tensor) {
    for (int i = 0; i < copies->count; i++) {
        if (copies->copy[i].tensor == tensor)
            return copies->copy[i].wide;
    }
    return NULL;
}

void pdnn_f32_copies_widen(const struct pdnn_f32_copies *copies, int64_t threads) {
    for (int i = 0; i < copies->count; i++) {
        const struct pdnn_f32_copy *copy = &copies->copy[i];
        if (copy->is_read)
            pdnn_half_widen_all(copy->type, copy->half, copy->wide, copy->elements, threads);
    }
}

void pdnn_f32_copies_narrow(const struct pdnn_f32_copies *copies, int64_t threads) {
    for (int i = 0; i < copies->count; i++) {
        const struct pdnn_f32_copy *copy = &copies->copy[i];
        if (copy->is_written)
            pdnn_half_narrow_all(copy->type, copy->wide, copy->half, copy->elements, threads);
    }
}
