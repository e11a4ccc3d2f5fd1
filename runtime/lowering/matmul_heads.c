#include "runtime/lowering/matmul_heads.h"

#include "models/op.h"
#include "runtime/lowering/call.h"
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

enum { A, B, REST, LINE_BYTES = 64 };

/* The gradient accumulated so far, and where the call continues it. */
struct rest {
    const char *from;
    char *to;
    int64_t bytes;
};

struct call {
    struct pdnn_matmul_work work;
    uint32_t a_slot, b_slot, y_slot, rest_slot, scratch_slot; /* the last two may be PDNN_NONE */
    struct rest rest;
    int64_t threads;
};

static void bind(void *state, void *const *memory) {
    struct call *call = state;
    const struct pdnn_matmul_memory places = {
        .a = memory[call->a_slot],
        .b = memory[call->b_slot],
        .y = memory[call->y_slot],
        .scratch = call->scratch_slot == PDNN_NONE ? NULL : memory[call->scratch_slot],
    };
    call->rest.to = memory[call->y_slot];
    call->rest.from = call->rest_slot == PDNN_NONE ? call->rest.to : memory[call->rest_slot];
    call->work.bind(call->work.state, &places);
}

static void copy_part(void *state, int64_t index, int64_t parts) {
    const struct rest *rest = state;
    struct pdnn_span span = pdnn_span_of(rest->bytes, LINE_BYTES, index, parts);
    memcpy(rest->to + span.begin, rest->from + span.begin, (size_t)(span.end - span.begin));
}

static int run(void *state) {
    struct call *call = state;
    if (call->rest.from != call->rest.to)
        pdnn_team_run(call->threads, call->rest.bytes / (int64_t)sizeof(float), copy_part, &call->rest);
    return call->work.run(call->work.state);
}

static void destroy(void *state) {
    struct call *call = state;
    if (call->work.destroy)
        call->work.destroy(call->work.state);
}

void pdnn_matmul_append(struct pdnn_program *program, uint32_t node, const struct pdnn_matmul_work *work,
                        int64_t threads) {
    const struct pdnn_node *n = &program->graph->nodes[node];
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    struct call *state = pdnn_arena_alloc(&program->arena, 1, sizeof *state);
    *state = (struct call){.work = *work,
                           .a_slot = n->input[A],
                           .b_slot = n->input[B],
                           .y_slot = n->output[0],
                           .rest_slot = n->n_inputs > REST ? n->input[REST] : PDNN_NONE,
                           .scratch_slot = pdnn_call_scratch(&call, program, work->scratch_bytes),
                           .threads = threads};
    state->rest.bytes = (int64_t)program->slots[n->output[0]].bytes;
    memcpy(call.implementation, work->name, sizeof work->name);
    call.is_slow = call.is_reference = work->is_reference;
    call.work = (struct pdnn_work){state, bind, run, destroy};
    pdnn_program_call(program, &call);
}

static struct pdnn_batched_place place_of(const struct pdnn_heads *heads) {
    return (struct pdnn_batched_place){heads->sequence_stride, heads->head_stride, heads->row_stride,
                                       heads->transposed};
}

static void run_kernel(const struct pdnn_matmul_job *multiply) {
    const struct pdnn_heads_product *p = &multiply->product;
    const struct pdnn_batched_job job = {
        .B = p->B,
        .h = p->h,
        .M = p->M,
        .N = p->N,
        .K = p->K,
        .a_place = place_of(&p->a),
        .b_place = place_of(&p->b),
        .y_place = place_of(&p->y),
        .a = (const float *)multiply->memory.a + p->a.offset,
        .b = (const float *)multiply->memory.b + p->b.offset,
        .y = (float *)multiply->memory.y + p->y.offset,
        .scratch = multiply->memory.scratch,
    };
    pdnn_batched_run(&job, multiply->threads);
}

static float *matrix_of(void *tensor, const struct pdnn_heads *heads, int64_t sequence, int64_t head) {
    return (float *)tensor + heads->offset + sequence * heads->sequence_stride + head * heads->head_stride;
}

static int run_head(const struct pdnn_matmul_job *multiply, int64_t sequence, int64_t head) {
    const struct pdnn_heads_product *p = &multiply->product;
    const struct pdnn_sgemm gemm = {
        .a_transposed = p->a.transposed,
        .b_transposed = p->b.transposed,
        .m = p->M,
        .n = p->N,
        .k = p->K,
        .a = matrix_of(multiply->memory.a, &p->a, sequence, head),
        .b = matrix_of(multiply->memory.b, &p->b, sequence, head),
        .c = matrix_of(multiply->memory.y, &p->y, sequence, head),
        .a_stride = p->a.row_stride,
        .b_stride = p->b.row_stride,
        .c_stride = p->y.row_stride,
    };
    return multiply->sgemm(&gemm);
}

struct gemms {
    const struct pdnn_matmul_job *multiply;
    int code; /* of a product that failed */
};

static void gemms_part(void *state, int64_t index, int64_t parts) {
    struct gemms *gemms = state;
    const struct pdnn_heads_product *p = &gemms->multiply->product;
    struct pdnn_span heads = pdnn_span_of(p->B * p->h, 1, index, parts);
    for (int64_t i = heads.begin; i < heads.end; i++) {
        int code = run_head(gemms->multiply, i / p->h, i % p->h);
        if (code)
            gemms->code = code;
    }
}

/* One product per thread if that leaves no thread idle for long; a library called from one of several threads
 * does not start any of its own. Otherwise all threads work on each product. */
static int multiply_all(const void *state) {
    const struct pdnn_matmul_job *multiply = state;
    enum { ENOUGH = 4 };
    const struct pdnn_heads_product *p = &multiply->product;
    int64_t count = p->B * p->h, threads = multiply->threads;
    struct gemms gemms = {multiply, 0};
    if (!multiply->sgemm)
        run_kernel(multiply);
    else if (count % threads == 0 || count >= ENOUGH * threads)
        pdnn_team_run(threads, p->B * p->h * p->M * p->N, gemms_part, &gemms);
    else
        gemms_part(&gemms, 0, 1);
    return gemms.code;
}

static void bind_multiply(void *state, const struct pdnn_matmul_memory *memory) {
    ((struct pdnn_matmul_job *)state)->memory = *memory;
}

struct pdnn_matmul_work pdnn_matmul_work_of(struct pdnn_arena *arena, const struct pdnn_matmul_job *job) {
    struct pdnn_matmul_job *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
    int64_t floats = job->sgemm ? 0 : pdnn_batched_scratch_floats(job->threads);
    *copy = *job;
    return (struct pdnn_matmul_work){.state = copy,
                                     .scratch_bytes = (uint64_t)floats * sizeof(float),
                                     .bind = bind_multiply,
                                     .run = multiply_all};
}
