/* Inside batched.c and its neighbours: what one thread does. */
#ifndef RUNTIME_KERNELS_BATCHED_LOOPS_H
#define RUNTIME_KERNELS_BATCHED_LOOPS_H

#include "runtime/kernels/batched.h"
#include "runtime/kernels/team.h"

static inline int64_t pdnn_batched_at(const struct pdnn_batched_place *place, int64_t sequence,
                                      int64_t head) {
    return sequence * place->sequence_stride + head * place->head_stride;
}

/* batched_tiles.c: some rows of one head's product, packed and in tiles. */
enum { PDNN_BATCHED_PANEL_FLOATS = 1 << 16, PDNN_BATCHED_ROWS_FLOATS = 48 * 256 };
enum { PDNN_BATCHED_THREAD_FLOATS = PDNN_BATCHED_PANEL_FLOATS + PDNN_BATCHED_ROWS_FLOATS };
void pdnn_batched_tiles(const struct pdnn_batched_job *job, int64_t sequence, int64_t head,
                        struct pdnn_span rows, float *scratch);

/* batched_few.c: the products of some heads of one sequence, for few rows of an operand that is not
 * transposed. */
void pdnn_batched_few(const struct pdnn_batched_job *job, int64_t sequence, struct pdnn_span heads);

#endif
