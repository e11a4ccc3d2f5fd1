/* What 16 bit takes where nothing fast computes in it: the node as the only one of a program in f32, on
 * widened copies of what is 16 bit. Several times slower than the same in f32, and run only where the program
 * says that it may be (`--allow-slow`). */
#ifndef RUNTIME_STEPS_UPCAST_H
#define RUNTIME_STEPS_UPCAST_H

#include "runtime/core/backend.h"

/* "onednn: bf16 has no fast path on avx2: dense forward". PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_upcast_refuse(const char *backend, const char *isa, const struct pdnn_graph *graph,
                                    const struct pdnn_node *node, struct pdnn_err *err);

/* Appends the step of a node, of which every tensor is plain. Recurrent layers run unrolled. */
enum pdnn_status pdnn_upcast_compile(const struct pdnn_backend_def *backend, void *state, int64_t threads,
                                     struct pdnn_program *program, uint32_t node, struct pdnn_err *err);

#endif
