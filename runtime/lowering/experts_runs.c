#include "runtime/lowering/experts_runs.h"

#include "models/attributes.h"
#include "models/cost/deal.h"
#include "models/op.h"
#include "runtime/kernels/gemm/dense_few.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/lowering/f32_copies.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 64 };

/* Rows of the run's experts in a tensor (R, width). */
static struct pdnn_heads rows_of(const struct pdnn_deal *deal, int64_t width) {
    return (struct pdnn_heads){.heads = 1,
                               .rows = deal->count,
                               .columns = width,
                               .offset = deal->first * width,
                               .sequence_stride = deal->count * width,
                               .head_stride = deal->count * width,
                               .row_stride = width};
}

/* Their weights (O, I), or the gradient of these. */
static struct pdnn_heads weights_of(const struct pdnn_deal *deal, int64_t O, int64_t I) {
    return (struct pdnn_heads){.heads = 1,
                               .rows = O,
                               .columns = I,
                               .offset = deal->expert * O * I,
                               .sequence_stride = O * I,
                               .head_stride = O * I,
                               .row_stride = I};
}

/* y = x w^T; dx = dy w; dw = dy^T x. */
static struct pdnn_heads_product product_of(const struct pdnn_deal *deal, enum pdnn_pass pass, int64_t O,
                                            int64_t I) {
    int64_t n = deal->count;
    struct pdnn_heads_product p = {.B = 1, .h = 1, .M = n, .N = O, .K = I};
    p.a = rows_of(deal, pass == PDNN_FORWARD ? I : O);
    p.b = weights_of(deal, O, I);
    p.y = rows_of(deal, O);
    if (pass == PDNN_FORWARD) {
        p.b.transposed = true;
    } else if (pass == PDNN_BACKWARD_DATA) {
        p.N = I;
        p.K = O;
        p.y = rows_of(deal, I);
    } else {
        p.M = O;
        p.N = I;
        p.K = n;
        p.a.transposed = true;
        p.b = rows_of(deal, I);
        p.y = weights_of(deal, O, I);
    }
    return p;
}

struct pdnn_experts_runs pdnn_experts_runs_of(struct pdnn_arena *arena, const struct pdnn_graph *graph,
                                              const struct pdnn_node *node) {
    struct pdnn_deal deal = pdnn_deal_of_experts(graph, node);
    bool has_gradient = node->pass == PDNN_BACKWARD_WEIGHTS;
    const struct pdnn_tensor *w =
        has_gradient ? pdnn_node_out(graph, node, 0) : pdnn_node_in(graph, node, PDNN_EXPERTS_W);
    struct pdnn_experts_runs runs = {
        .product = pdnn_arena_alloc(arena, (size_t)deal.end, sizeof *runs.product),
        .work = pdnn_arena_alloc(arena, (size_t)deal.end, sizeof *runs.work),
    };
    for (int64_t before = 0; pdnn_deal_next(&deal); before = deal.count) {
        if (deal.count == before)
            runs.product[runs.count - 1].B++;
        else
            runs.product[runs.count++] = product_of(&deal, node->pass, w->dim[1], w->dim[2]);
    }
    if (has_gradient)
        runs.idle_bytes = pdnn_tensor_bytes(w) / (uint64_t)w->dim[0] * (uint64_t)(w->dim[0] - deal.end);
    return runs;
}

struct few {
    struct pdnn_heads_product run;
    struct pdnn_dense_few_job first; /* of the run's first expert */
    int64_t threads;
};

static void bind_few(void *state, const struct pdnn_matmul_memory *memory) {
    struct few *few = state;
    const struct pdnn_heads_product *run = &few->run;
    if (few->first.is_half) {
        few->first.half_x = (const uint16_t *)memory->a + run->a.offset;
        few->first.half_w = (const uint16_t *)memory->b + run->b.offset;
        few->first.half_y = (uint16_t *)memory->y + run->y.offset;
        few->first.room = memory->scratch;
    } else {
        few->first.x = (const float *)memory->a + run->a.offset;
        few->first.w = (const float *)memory->b + run->b.offset;
        few->first.y = (float *)memory->y + run->y.offset;
    }
}

static int run_few(const void *state) {
    const struct few *few = state;
    const struct pdnn_heads_product *run = &few->run;
    struct pdnn_dense_few_job job = few->first;
    for (int64_t i = 0; i < run->B; i++) {
        pdnn_dense_few_run(&job, few->threads);
        if (job.is_half) {
            job.half_x += run->a.sequence_stride;
            job.half_w += run->b.sequence_stride;
            job.half_y += run->y.sequence_stride;
        } else {
            job.x += run->a.sequence_stride;
            job.w += run->b.sequence_stride;
            job.y += run->y.sequence_stride;
        }
    }
    return 0;
}

bool pdnn_experts_few(struct pdnn_arena *arena, const struct pdnn_graph *graph, const struct pdnn_node *node,
                      const struct pdnn_heads_product *run, int64_t threads, struct pdnn_matmul_work *work) {
    enum pdnn_dtype dtype = pdnn_node_in(graph, node, 0)->dtype;
    if (node->pass != PDNN_FORWARD || run->M > PDNN_DENSE_FEW_ROWS)
        return false;
    struct few *few = pdnn_arena_alloc(arena, 1, sizeof *few);
    *few = (struct few){.run = *run, .first = {.N = run->M, .I = run->K, .O = run->N}, .threads = threads};
    *work = (struct pdnn_matmul_work){.state = few, .bind = bind_few, .run = run_few};
    snprintf(work->name, sizeof work->name, "paradnn:experts %s", pdnn_level_name());
    if (pdnn_dtype_is_half(dtype)) {
        few->first.is_half = true;
        few->first.half = pdnn_half_of(dtype);
        work->scratch_bytes = (uint64_t)(run->M * (run->K + run->N)) * sizeof(float);
        snprintf(work->name, sizeof work->name, "paradnn:experts %s %s", pdnn_level_name(),
                 pdnn_dtype_name(dtype));
    }
    return true;
}

struct all {
    struct pdnn_experts_runs runs;
    char *idle; /* the first of the bytes to be zero */
    uint64_t y_bytes;
    int64_t threads;
};

static void bind(void *state, const struct pdnn_matmul_memory *memory) {
    struct all *all = state;
    for (size_t i = 0; i < all->runs.count; i++)
        all->runs.work[i].bind(all->runs.work[i].state, memory);
    all->idle = (char *)memory->y + (all->y_bytes - all->runs.idle_bytes);
}

static void clear_part(void *state, int64_t index, int64_t parts) {
    const struct all *all = state;
    struct pdnn_span span = pdnn_span_of((int64_t)all->runs.idle_bytes, LINE_BYTES, index, parts);
    memset(all->idle + span.begin, 0, (size_t)(span.end - span.begin));
}

static int run(const void *state) {
    const struct all *all = state;
    struct all clears = *all;
    int code = 0;
    for (size_t i = 0; i < all->runs.count && !code; i++)
        code = all->runs.work[i].run(all->runs.work[i].state);
    if (all->runs.idle_bytes)
        pdnn_team_run(all->threads, (int64_t)(all->runs.idle_bytes / sizeof(float)), clear_part, &clears);
    return code;
}

static void destroy(void *state) {
    const struct all *all = state;
    for (size_t i = 0; i < all->runs.count; i++)
        if (all->runs.work[i].destroy)
            all->runs.work[i].destroy(all->runs.work[i].state);
}

void pdnn_experts_append(struct pdnn_program *program, uint32_t node, const struct pdnn_experts_runs *runs,
                         int64_t threads) {
    struct all *all = pdnn_arena_alloc(&program->arena, 1, sizeof *all);
    *all = (struct all){.runs = *runs,
                        .y_bytes = program->slots[program->graph->nodes[node].output[0]].bytes,
                        .threads = threads};
    struct pdnn_matmul_work work = {.state = all, .bind = bind, .run = run, .destroy = destroy};
    for (size_t i = 0; i < runs->count; i++) {
        work.scratch_bytes = runs->work[i].scratch_bytes > work.scratch_bytes ? runs->work[i].scratch_bytes
                                                                              : work.scratch_bytes;
        work.is_reference = work.is_reference || runs->work[i].is_reference;
    }
    snprintf(work.name, sizeof work.name, "%s", runs->work[0].name);
    pdnn_matmul_append(program, node, &work, threads);
}
