#include "runtime/lowering/matmul_heads.h"

#include "models/op.h"
#include "runtime/lowering/call.h"
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/gemm/batched_few.h"
#include "runtime/kernels/gemm/batched_half.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/simd/team.h"

#include <stdio.h>
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

static struct pdnn_batched_place place_of(const struct pdnn_heads_product *p,
                                          const struct pdnn_heads *heads) {
    return (struct pdnn_batched_place){heads->sequence_stride, heads->head_stride, heads->row_stride,
                                       heads->transposed, heads->heads < p->h ? p->h / heads->heads : 0};
}

static struct pdnn_batched_window window_of(const struct pdnn_heads_product *p) {
    const struct pdnn_heads *scores = p->y_is_scores ? &p->y : &p->a;
    if (!p->window)
        return (struct pdnn_batched_window){0};
    return (struct pdnn_batched_window){pdnn_least(p->window, scores->columns),
                                        scores->columns - scores->rows, p->y_is_scores};
}

static struct pdnn_batched_job batched_of(const struct pdnn_heads_product *p) {
    return (struct pdnn_batched_job){
        .B = p->B,
        .h = p->h,
        .M = p->M,
        .N = p->N,
        .K = p->K,
        .a_place = place_of(p, &p->a),
        .b_place = place_of(p, &p->b),
        .y_place = place_of(p, &p->y),
        .window = window_of(p),
    };
}

/* Addresses by the element's size. */
static void *at(void *tensor, const struct pdnn_heads *heads, enum pdnn_dtype dtype) {
    return (char *)tensor + (uint64_t)heads->offset * pdnn_dtype_bytes(dtype);
}

static struct pdnn_batched_few_job few_of(const struct pdnn_matmul_job *multiply) {
    struct pdnn_batched_few_job few = {.product = batched_of(&multiply->product),
                                       .is_half = pdnn_dtype_is_half(multiply->dtype)};
    if (few.is_half)
        few.half = pdnn_half_of(multiply->dtype);
    return few;
}

static void run_kernel(const struct pdnn_matmul_job *multiply) {
    const struct pdnn_heads_product *p = &multiply->product;
    const struct pdnn_matmul_memory *memory = &multiply->memory;
    struct pdnn_batched_few_job few = few_of(multiply);
    few.a = at(memory->a, &p->a, multiply->dtype);
    few.b = at(memory->b, &p->b, multiply->dtype);
    few.y = at(memory->y, &p->y, multiply->dtype);
    few.scratch = memory->scratch;
    const struct pdnn_batched_half_job half = {few.product, few.half, few.a, few.b, few.y, few.scratch};
    struct pdnn_batched_job plain = few.product;
    plain.a = few.a;
    plain.b = few.b;
    plain.y = few.y;
    plain.scratch = few.scratch;
    if (pdnn_batched_is_few(&few.product))
        pdnn_batched_few_run(&few, multiply->threads);
    else if (few.is_half)
        pdnn_batched_half_run(&half, multiply->threads);
    else
        pdnn_batched_run(&plain, multiply->threads);
}

static int64_t scratch_floats(const struct pdnn_matmul_job *multiply) {
    const struct pdnn_batched_few_job few = few_of(multiply);
    return pdnn_batched_is_few(&few.product) ? pdnn_batched_few_scratch(&few, multiply->threads)
           : few.is_half                     ? pdnn_batched_half_scratch(&few.product, multiply->threads)
                                             : pdnn_batched_scratch_floats(multiply->threads);
}

/* The first of the heads that share a matrix of y sets it. */
static int run_head(const struct pdnn_matmul_job *multiply, int64_t sequence, int64_t head) {
    const struct pdnn_heads_product *p = &multiply->product;
    const struct pdnn_matmul_memory *memory = &multiply->memory;
    const struct pdnn_sgemm gemm = {
        .a_transposed = p->a.transposed,
        .b_transposed = p->b.transposed,
        .m = p->M,
        .n = p->N,
        .k = p->K,
        .accumulate = head % (p->h / p->y.heads) != 0,
        .a = (const float *)memory->a + pdnn_heads_at(p, &p->a, sequence, head),
        .b = (const float *)memory->b + pdnn_heads_at(p, &p->b, sequence, head),
        .c = (float *)memory->y + pdnn_heads_at(p, &p->y, sequence, head),
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
    struct pdnn_span heads = pdnn_span_of(p->B * p->h, p->h / p->y.heads, index, parts);
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
    int64_t count = p->B * p->y.heads, threads = multiply->threads;
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
    int64_t floats = job->sgemm ? 0 : scratch_floats(job);
    *copy = *job;
    return (struct pdnn_matmul_work){.state = copy,
                                     .scratch_bytes = (uint64_t)floats * sizeof(float),
                                     .bind = bind_multiply,
                                     .run = multiply_all};
}

void pdnn_matmul_name_own(char name[PDNN_IMPLEMENTATION_TEXT]) {
    snprintf(name, PDNN_IMPLEMENTATION_TEXT, "paradnn:matmul %s", pdnn_level_name());
}
