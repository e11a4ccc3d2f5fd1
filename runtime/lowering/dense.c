/* dense by a library's sgemm, one product per pass.
 * N minibatch, I inputs, O outputs; x (N, I), w (O, I), y (N, O). */
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/calls.h"

/* A call's state: the product, and the slots that hold its matrices. */
struct product {
    struct pdnn_sgemm gemm;
    int (*sgemm)(const struct pdnn_sgemm *gemm);
    uint32_t a_slot, b_slot, c_slot;
};

static void bind(void *state, void *const *memory) {
    struct product *product = state;
    product->gemm.a = memory[product->a_slot];
    product->gemm.b = memory[product->b_slot];
    product->gemm.c = memory[product->c_slot];
}

static int run(void *state) {
    const struct product *product = state;
    return product->sgemm(&product->gemm);
}

/* A tensor of higher rank is treated as a matrix: all dimensions after the first are its columns. */
static int64_t width_of(const struct pdnn_tensor *tensor) {
    return pdnn_tensor_elements(tensor) / tensor->dim[0];
}

/* c = op(a) op(b), all row-major, by pass: which operands of the node are a and b, and which is transposed.
 */
static const struct {
    int a, b;
    bool a_transposed, b_transposed;
} products[PDNN_PASS_COUNT] = {
    [PDNN_FORWARD] = {PDNN_DENSE_X, PDNN_DENSE_W, false, true},                           /* y = x w^T */
    [PDNN_BACKWARD_DATA] = {PDNN_DENSE_DATA_DY, PDNN_DENSE_DATA_W, false, false},         /* dx = dy w */
    [PDNN_BACKWARD_WEIGHTS] = {PDNN_DENSE_WEIGHTS_DY, PDNN_DENSE_WEIGHTS_X, true, false}, /* dw = dy^T x */
};

static enum pdnn_status compile(const struct pdnn_calls *calls, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    uint32_t a = node->input[products[node->pass].a], b = node->input[products[node->pass].b];
    const struct pdnn_tensor *left = &graph->tensors[a], *right = &graph->tensors[b];
    bool a_transposed = products[node->pass].a_transposed, b_transposed = products[node->pass].b_transposed;
    int64_t most = calls->library->most;
    const struct pdnn_sgemm gemm = {
        .a_transposed = a_transposed,
        .b_transposed = b_transposed,
        .m = a_transposed ? width_of(left) : left->dim[0],
        .n = b_transposed ? right->dim[0] : width_of(right),
        .k = a_transposed ? left->dim[0] : width_of(left),
        .a_stride = width_of(left),
        .b_stride = width_of(right),
        .c_stride = b_transposed ? right->dim[0] : width_of(right),
    };
    if (left->dtype != PDNN_F32)
        return pdnn_call_unsupported(calls->backend->name, graph, node, err);
    if (gemm.m > most || gemm.n > most || gemm.k > most)
        return pdnn_sgemm_refuse(calls, index, err);
    struct pdnn_call call = pdnn_call_of_node(graph, index);
    struct product *state = pdnn_arena_alloc(&calls->program->arena, 1, sizeof *state);
    *state = (struct product){gemm, calls->library->sgemm, a, b, node->output[0]};
    pdnn_sgemm_name(calls->library, call.implementation);
    call.work = (struct pdnn_work){state, bind, run, NULL};
    pdnn_program_call(calls->program, &call);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_lowering_dense = {
    .op = &pdnn_op_dense,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_WEIGHTS] = {.compile = compile, .needs_sgemm = true}},
};
