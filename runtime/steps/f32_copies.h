/* f32 copies of tensors of 16 bit, for one step that works in f32: what it reads is widened before it runs,
 * what it writes narrowed afterwards. All copies of a step lie in one slot of its program. */
#ifndef RUNTIME_STEPS_F32_COPIES_H
#define RUNTIME_STEPS_F32_COPIES_H

#include "runtime/core/backend.h"
#include "runtime/kernels/simd/half.h"

enum { PDNN_F32_COPIES = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS + 2 * PDNN_NODE_POSTS };

struct pdnn_f32_copy {
    uint32_t tensor;
    enum pdnn_half type;
    bool is_read, is_written;
    int64_t elements; /* padding of its layout included */
    int64_t at;       /* floats, from the slot's beginning */
    uint16_t *half;
    float *wide;
};

struct pdnn_f32_copies {
    struct pdnn_f32_copy copy[PDNN_F32_COPIES];
    int count;
    int64_t floats; /* of all of them */
    uint32_t slot;  /* or PDNN_NONE: there are none */
};

/* The type of bf16 and f16. */
enum pdnn_half pdnn_half_of(enum pdnn_dtype dtype);

/* Whether any input, output or post of the node is of 16 bit. */
bool pdnn_half_is_used(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* One for each such tensor of the node, and the slot, which the step uses from then on. */
enum pdnn_status pdnn_f32_copies_create(struct pdnn_f32_copies *copies, struct pdnn_program *program,
                                        const struct pdnn_node *node, struct pdnn_step *step,
                                        struct pdnn_err *err);
void pdnn_f32_copies_bind(struct pdnn_f32_copies *copies, void *const *memory);
/* Where the tensor is to be found in f32; NULL: it has no copy. Once bound. */
float *pdnn_f32_copies_find(const struct pdnn_f32_copies *copies, uint32_t tensor);
void pdnn_f32_copies_widen(const struct pdnn_f32_copies *copies, int64_t threads);
void pdnn_f32_copies_narrow(const struct pdnn_f32_copies *copies, int64_t threads);

#endif
