/* Steps of op `matmul` (models/heads.h), for every backend: where the memory is, what a gradient in parts
 * needs, and products by a library's sgemm, head by head, or by our own kernel. All tensors are plain. */
#ifndef RUNTIME_STEPS_MATMUL_HEADS_H
#define RUNTIME_STEPS_MATMUL_HEADS_H

#include "models/heads.h"
#include "runtime/steps/sgemm.h"
#include "runtime/core/backend.h"

/* Where the tensors begin. */
struct pdnn_matmul_memory {
    void *a, *b, *y;
    void *scratch; /* 64-byte aligned, or NULL where none was asked for */
};

/* How a backend multiplies. */
struct pdnn_matmul_work {
    void *state;
    uint64_t scratch_bytes;
    enum pdnn_status (*bind)(void *state, const struct pdnn_matmul_memory *memory, struct pdnn_err *err);
    int (*run)(const void *state); /* 0, or the library's error code */
    void (*destroy)(void *state);  /* may be NULL */
    bool is_slow;                  /* as of a step */
};

/* Appends the step of a matmul node; threads may copy what a gradient in parts was so far, where that lies
 * elsewhere. On failure the caller still owns work. */
enum pdnn_status pdnn_matmul_append(struct pdnn_program *program, uint32_t node,
                                    const struct pdnn_matmul_work *work, const char *implementation,
                                    int64_t threads, struct pdnn_err *err);

/* A product in f32. */
struct pdnn_matmul_job {
    struct pdnn_heads_product product;
    int64_t threads;
    int (*sgemm)(const struct pdnn_sgemm *gemm); /* NULL: our own kernel */
    struct pdnn_matmul_memory memory;            /* set before it runs */
};

uint64_t pdnn_matmul_scratch_bytes(const struct pdnn_matmul_job *multiply);
/* 0, or the library's error code. */
int pdnn_matmul_multiply(const struct pdnn_matmul_job *multiply);

/* Appends a step that multiplies so. */
enum pdnn_status pdnn_matmul_compile(const struct pdnn_matmul_job *multiply, struct pdnn_program *program,
                                     uint32_t node, const char *implementation, struct pdnn_err *err);

#endif
