/* One op alone on a backend, prepared like any instance. The roofs use it for the best GEMM and for the
 * overhead of a call. */
#ifndef RUNTIME_ROOFS_ONE_OP_PLAN_H
#define RUNTIME_ROOFS_ONE_OP_PLAN_H

#include "runtime/plan/plan.h"

/* On the heap: its parts point at each other. */
struct pdnn_one_op_plan {
    const struct pdnn_backend_def *backend;
    void *state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    double flop; /* per run */
};

/* A dense op with N = I = O = size. dtype: f32; a 16-bit type, with a result of the same type; or int8, with
 * s32 sums, forward only. */
struct pdnn_one_op_plan_dense {
    enum pdnn_dtype dtype;
    enum pdnn_pass pass;
    int64_t size;
};

/* PDNN_UNSUPPORTED; PDNN_TOO_BIG when it does not fit limit_bytes (0: no limit). */
enum pdnn_status pdnn_one_op_plan_create_dense(const struct pdnn_backend_def *backend,
                                               const struct pdnn_call_options *options,
                                               const struct pdnn_one_op_plan_dense *dense,
                                               uint64_t limit_bytes, struct pdnn_one_op_plan **single,
                                               struct pdnn_err *err);

/* Creates the fastest dense op, as the backend runs it: of the forward passes with the three largest sizes
 * that take at most flop_max FLOP (the smallest size is tried in any case), and of the two products of the
 * gradient with the fastest of these sizes, whose operands lie the other way round. PDNN_UNSUPPORTED;
 * PDNN_TOO_BIG when no size fits limit_bytes (0: no limit). */
enum pdnn_status pdnn_one_op_plan_create_gemm(const struct pdnn_backend_def *backend,
                                              const struct pdnn_call_options *options, enum pdnn_dtype dtype,
                                              double flop_max, uint64_t limit_bytes,
                                              struct pdnn_one_op_plan **single, struct pdnn_err *err);

void pdnn_one_op_plan_destroy(struct pdnn_one_op_plan *single);

#endif
