/* Inside batched.c and its neighbours: what one thread does. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_LOOPS_H
#define RUNTIME_KERNELS_GEMM_BATCHED_LOOPS_H

#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

static inline int64_t pdnn_batched_at(const struct pdnn_batched_place *place, int64_t sequence,
                                      int64_t head) {
    return sequence * place->sequence_stride + head * place->head_stride;
}

/* batched_tiles.c: rows [rows) of the results of all heads, one below the other; in tiles, b packed. scratch:
 * PDNN_BATCHED_THREAD_FLOATS. */
enum { PDNN_BATCHED_THREAD_FLOATS = 1 << 16 };
void PDNN_HERE(pdnn_batched_tiles)(const struct pdnn_batched_job *job, struct pdnn_span rows, float *scratch);

/* batched_few.c: some heads of one sequence, for few rows of an a that is not transposed, as far as some
 * lines of b go. b (N, K) transposed gives as many columns of the result; b (K, N) as many terms of all of
 * them, which must be all there are, or go elsewhere to be added up. */
struct pdnn_batched_few {
    const struct pdnn_batched_job *job;
    int64_t sequence;
    struct pdnn_span heads, lines;
    float *y; /* of the sequence */
    struct pdnn_batched_place y_place;
};
void PDNN_HERE(pdnn_batched_few)(const struct pdnn_batched_few *few);

#endif
