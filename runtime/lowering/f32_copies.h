/* f32 copies of 16-bit tensors for one call that works in f32: inputs are widened before it runs, outputs
 * narrowed afterwards. All copies of a call share one slot of its program. bound_call.c and upcast.c decide
 * which calls need them. */
#ifndef RUNTIME_LOWERING_F32_COPIES_H
#define RUNTIME_LOWERING_F32_COPIES_H

#include "runtime/backend/backend.h"
#include "runtime/kernels/simd/half.h"

enum { PDNN_F32_COPIES = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS + 2 * PDNN_NODE_POSTS };

struct pdnn_f32_copy {
    uint32_t tensor;
    enum pdnn_half type;
    bool is_read, is_written;
    int64_t elements; /* including the layout's padding */
    int64_t at;       /* offset in the slot, in floats */
    uint16_t *half;
    float *wide;
};

struct pdnn_f32_copies {
    struct pdnn_f32_copy copy[PDNN_F32_COPIES];
    int count;
    int64_t floats; /* of all copies */
    uint32_t slot;  /* or PDNN_NONE if there are no copies */
};

/* The kernels' type for bf16 or f16. */
enum pdnn_half pdnn_half_of(enum pdnn_dtype dtype);

/* Whether any input, output or post of the node is 16-bit. */
bool pdnn_half_is_used(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Creates a copy for each 16-bit tensor of the node, and the slot that holds them, which is added to the
 * call, as is what copies that are written and read move. */
struct pdnn_f32_copies pdnn_f32_copies_create(struct pdnn_program *program, const struct pdnn_node *node,
                                              struct pdnn_call *call);
void pdnn_f32_copies_bind(struct pdnn_f32_copies *copies, void *const *memory);
/* The tensor's f32 copy, or NULL if it has none. Valid once bound. */
float *pdnn_f32_copies_find(const struct pdnn_f32_copies *copies, uint32_t tensor);
void pdnn_f32_copies_widen(const struct pdnn_f32_copies *copies, int64_t threads);
void pdnn_f32_copies_narrow(const struct pdnn_f32_copies *copies, int64_t threads);

#endif
