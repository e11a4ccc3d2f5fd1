/* What one thread does, for batched.c and its neighbours only. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_LOOPS_H
#define RUNTIME_KERNELS_GEMM_BATCHED_LOOPS_H

#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

static inline int64_t pdnn_batched_at(const struct pdnn_batched_place *place, int64_t sequence,
                                      int64_t head) {
    return sequence * place->sequence_stride + head * place->head_stride;
}

/* batched_tiles.c: computes rows [rows) of the results of all heads, numbered head after head, in tiles with
 * b packed. scratch: PDNN_BATCHED_THREAD_FLOATS. */
enum { PDNN_BATCHED_THREAD_FLOATS = 1 << 16 };
void PDNN_HERE(pdnn_batched_tiles)(const struct pdnn_batched_job *job, struct pdnn_span rows, float *scratch);

/* batched_few.c: computes some heads of one sequence for some lines of b, with few rows in an a that is not
 * transposed. With b (N, K) transposed, a line is a column of the result. With b (K, N), a line is one term
 * of every column: pass all lines, or a separate y to be added up later. */
struct pdnn_batched_few {
    const struct pdnn_batched_job *job;
    int64_t sequence;
    struct pdnn_span heads, lines;
    float *y; /* for this sequence */
    struct pdnn_batched_place y_place;
};
void PDNN_HERE(pdnn_batched_few)(const struct pdnn_batched_few *few);

#endif
