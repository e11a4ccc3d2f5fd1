/* Op `experts` as batched products: experts with the same number of rows that follow each other are one run,
 * whose matrices are at equal distances. Even routing is one run. Shared by all backends, on plain tensors.
 */
#ifndef RUNTIME_LOWERING_EXPERTS_RUNS_H
#define RUNTIME_LOWERING_EXPERTS_RUNS_H

#include "runtime/lowering/matmul_heads.h"

struct pdnn_experts_runs {
    struct pdnn_heads_product *product; /* B experts of a run, one head each; in the arena */
    struct pdnn_matmul_work *work;      /* room for as many */
    size_t count;
    /* Of a gradient of weights: what experts without rows have there, at the end. */
    uint64_t idle_bytes;
};

struct pdnn_experts_runs pdnn_experts_runs_of(struct pdnn_arena *arena, const struct pdnn_graph *graph,
                                              const struct pdnn_node *node);

/* Forward with few rows for each expert, in any type: our own kernel, which reads the weights at full memory
 * bandwidth. False, and nothing is set, if the run is another one. */
bool pdnn_experts_few(struct pdnn_arena *arena, const struct pdnn_graph *graph, const struct pdnn_node *node,
                      const struct pdnn_heads_product *run, int64_t threads, struct pdnn_matmul_work *work);

/* Appends the call of the node: the work of all runs in turn, which it takes over, and zeros for experts
 * without rows. */
void pdnn_experts_append(struct pdnn_program *program, uint32_t node, const struct pdnn_experts_runs *runs,
                         int64_t threads);

#endif
