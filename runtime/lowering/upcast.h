/* The slow path for 16-bit nodes without a fast implementation: the node runs as a one-node f32 program on
 * widened copies of its 16-bit tensors. This is several times slower than f32, and used only if the program
 * allows it (`--allow-slow`). */
#ifndef RUNTIME_LOWERING_UPCAST_H
#define RUNTIME_LOWERING_UPCAST_H

#include "runtime/backend/backend.h"

/* "onednn: no fast bf16 code for dense forward with avx2; --allow-slow runs it". Returns PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_upcast_refuse(const char *backend, const char *isa, const struct pdnn_graph *graph,
                                    const struct pdnn_node *node, struct pdnn_err *err);

/* Appends the call of a node whose tensors are all plain row-major. Recurrent layers run unrolled. */
enum pdnn_status pdnn_upcast_compile(const struct pdnn_backend_def *backend, void *state, int64_t threads,
                                     struct pdnn_program *program, uint32_t node, struct pdnn_err *err);

#endif
