#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_call.h"

/* Appends each sequence's new rows. With one new row per sequence, a single strided move does them all. */
static void forward(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr, *x = pdnn_call_in_dim(call, PDNN_CACHE_APPEND_X);
    const int64_t *cache = pdnn_call_in_dim(call, PDNN_CACHE_APPEND_CACHE);
    int64_t B = attr[PDNN_CACHE_APPEND_SEQUENCES], n = x[0] / B, m = cache[0] / B;
    int64_t bytes = (int64_t)pdnn_dtype_bytes(pdnn_node_in(call->graph, call->node, 0)->dtype);
    int64_t H = cache[1] * bytes, width = x[1] * bytes;
    const char *from = (const char *)call->in[PDNN_CACHE_APPEND_X] + attr[PDNN_CACHE_APPEND_COLUMN] * bytes;
    char *to = (char *)call->out[PDNN_CACHE_APPEND_NEW_CACHE] + attr[PDNN_CACHE_APPEND_POSITION] * H;
    if (n == 1) {
        const struct pdnn_move move = {from, width, to, m * H, B, H};
        pdnn_moves_run(&move, 1, false, call->threads);
        return;
    }
    for (int64_t b = 0; b < B; b++) {
        const struct pdnn_move move = {from + b * n * width, width, to + b * m * H, H, n, H};
        pdnn_moves_run(&move, 1, false, call->threads);
    }
}

const struct pdnn_lowering pdnn_lowering_cache_append = {
    .op = &pdnn_op_cache_append,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_NATIVE}},
};
