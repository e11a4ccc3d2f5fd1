/* Steps of op `matmul` (models/heads.h), shared by all backends: they bind memory, copy the gradient that the
 * node continues, and multiply head by head with a library's sgemm or with our own kernel. All tensors have
 * the plain row-major layout. */
#ifndef RUNTIME_LOWERING_MATMUL_HEADS_H
#define RUNTIME_LOWERING_MATMUL_HEADS_H

#include "models/heads.h"
#include "runtime/lowering/sgemm.h"
#include "runtime/backend/backend.h"

/* Start addresses of the tensors. */
struct pdnn_matmul_memory {
    void *a, *b, *y;
    void *scratch; /* 64-byte aligned; NULL if none was requested */
};

/* A backend's way to multiply. */
struct pdnn_matmul_work {
    void *state;
    uint64_t scratch_bytes;
    void (*bind)(void *state, const struct pdnn_matmul_memory *memory);
    int (*run)(const void *state); /* 0, or the library's error code */
    void (*destroy)(void *state);  /* may be NULL */
    bool is_reference;             /* of a library: the call is slow, then */
    char name[PDNN_IMPLEMENTATION_TEXT];
};

/* Appends the call of a matmul node. If the node continues a gradient that lies elsewhere, the call first
 * copies it on `threads` threads. The call takes over work. */
void pdnn_matmul_append(struct pdnn_program *program, uint32_t node, const struct pdnn_matmul_work *work,
                        int64_t threads);

/* A product of heads: in f32 by either, in 16 bit by our own kernel. */
struct pdnn_matmul_job {
    struct pdnn_heads_product product;
    enum pdnn_dtype dtype;
    int64_t threads;
    int (*sgemm)(const struct pdnn_sgemm *gemm); /* NULL: our own kernel */
    struct pdnn_matmul_memory memory;            /* set before it runs */
};

/* Does the job, which is copied to the arena; the name is not set. */
struct pdnn_matmul_work pdnn_matmul_work_of(struct pdnn_arena *arena, const struct pdnn_matmul_job *job);

/* What our own kernel is called. */
void pdnn_matmul_name_own(char name[PDNN_IMPLEMENTATION_TEXT]);

#endif
