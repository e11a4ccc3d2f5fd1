#include "runtime/backends/onednn/rnn/bias.h"

#include "runtime/lowering/call.h"

#include <stdio.h>
#include <string.h>

/* Two bias vectors per gate, and the library's vectors. The library gets their sum, and both get
 * the library's gradient. In lbr_gru, the recurrent product of the candidate gate has a bias of its
 * own: the last vector. */
struct bias_pair {
    int64_t H, n_gates, n_vectors;
    bool is_gradient;
    uint32_t pair_slot, sum_slot;
    float *pair, *sum;
};

static void bind_pair(void *state, void *const *memory) {
    struct bias_pair *b = state;
    b->pair = memory[b->pair_slot];
    b->sum = memory[b->sum_slot];
}

static int run_pair(void *state) {
    const struct bias_pair *b = state;
    int64_t G = b->n_gates, H = b->H;
    size_t first_bytes = (size_t)(G * H) * sizeof(float);
    memcpy(b->is_gradient ? b->pair : b->sum, b->is_gradient ? b->sum : b->pair, first_bytes);
    for (int64_t g = 0; g < G; g++) {
        bool is_own = b->n_vectors > G && g == G - 1;
        float *second = b->pair + (G + g) * H, *sum = b->sum + (is_own ? G : g) * H;
        if (is_own || b->is_gradient)
            memcpy(b->is_gradient ? second : sum, b->is_gradient ? sum : second, (size_t)H * sizeof(float));
        for (int64_t i = 0; !is_own && !b->is_gradient && i < H; i++)
            sum[i] += second[i];
    }
    return 0;
}

uint64_t pdnn_onednn_rnn_bias_bytes(const struct pdnn_onednn_rnn_shape *shape) {
    return (uint64_t)(pdnn_cells[shape->cell].n_biases * shape->H) * sizeof(float);
}

void pdnn_onednn_rnn_append_biases(struct pdnn_program *program, const struct pdnn_onednn_rnn_shape *shape,
                                   enum pdnn_pass pass, uint32_t tensor, uint32_t sum_slot,
                                   bool is_gradient) {
    const struct pdnn_cell_def *cell = &pdnn_cells[shape->cell];
    struct pdnn_call call = {.node = PDNN_NONE, .tensor = tensor, .pass = pass};
    struct bias_pair *pair = pdnn_arena_alloc(&program->arena, 1, sizeof *pair);
    *pair = (struct bias_pair){.H = shape->H,
                               .n_gates = cell->n_gates,
                               .n_vectors = cell->n_biases,
                               .is_gradient = is_gradient,
                               .pair_slot = tensor,
                               .sum_slot = sum_slot};
    pdnn_call_use(&call, tensor);
    pdnn_call_use(&call, sum_slot);
    call.reorder_bytes = program->slots[tensor].bytes + program->slots[sum_slot].bytes;
    snprintf(call.implementation, sizeof call.implementation, "paradnn:%s",
             is_gradient ? "gradient of both biases" : "sum of two biases");
    call.work = (struct pdnn_work){pair, bind_pair, run_pair, NULL};
    pdnn_program_call(program, &call);
}
