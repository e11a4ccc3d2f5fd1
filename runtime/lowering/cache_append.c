#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_step.h"

/* Appends each sequence's new rows. With one new row per sequence, a single strided move does them all. */
static void forward(const struct pdnn_bound_step *step) {
    const int64_t *attr = step->node->attr, *x = pdnn_step_in_dim(step, PDNN_CACHE_APPEND_X);
    const int64_t *cache = pdnn_step_in_dim(step, PDNN_CACHE_APPEND_CACHE);
    int64_t B = attr[PDNN_CACHE_APPEND_SEQUENCES], n = x[0] / B, m = cache[0] / B;
    int64_t H = cache[1] / step->per_float, width = x[1] / step->per_float;
    const float *from =
        (const float *)step->in[PDNN_CACHE_APPEND_X] + attr[PDNN_CACHE_APPEND_COLUMN] / step->per_float;
    float *to = (float *)step->out[PDNN_CACHE_APPEND_NEW_CACHE] + attr[PDNN_CACHE_APPEND_POSITION] * H;
    if (n == 1) {
        const struct pdnn_move move = {from, width, to, m * H, B, H};
        pdnn_moves_run(&move, 1, false, step->threads);
        return;
    }
    for (int64_t b = 0; b < B; b++) {
        const struct pdnn_move move = {from + b * n * width, width, to + b * m * H, H, n, H};
        pdnn_moves_run(&move, 1, false, step->threads);
    }
}

static bool is_even(const struct pdnn_node *node) {
    return node->attr[PDNN_CACHE_APPEND_COLUMN] % 2 == 0;
}

const struct pdnn_step_def pdnn_step_cache_append = {
    .op = &pdnn_op_cache_append,
    .pass = {[PDNN_FORWARD] =
                 {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS, .is_even = is_even}},
};
