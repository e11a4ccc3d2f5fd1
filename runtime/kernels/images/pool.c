#include "runtime/kernels/images/pool.h"

#include "runtime/kernels/images/pool_loops.h"
#include "runtime/kernels/simd/kernel.h"

#include <stdbool.h>

/* Threads share the pieces of all planes: single rows, or whole planes. */
struct team {
    struct pdnn_pool_job job;
    void (*piece)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
    int64_t pieces; /* per plane */
};

static void team_part(void *work, int64_t index, int64_t parts) {
    const struct team *team = work;
    struct pdnn_span span = pdnn_span_of(team->job.planes * team->pieces, 1, index, parts);
    for (int64_t i = span.begin; i < span.end; i++)
        team->piece(&team->job, i / team->pieces, i % team->pieces);
}

static bool has_lanes(const struct pdnn_pool *pool) {
    return pool->block % PDNN_LANES == 0;
}

/* Blocks of eight channels at a level with vectors of sixteen. */
static bool is_of_eights(const struct pdnn_pool *pool) {
    return PDNN_LANES == 16 && pool->block % 16 == 8;
}

static void run(const struct pdnn_pool *pool, struct team *team, int64_t threads) {
    struct pdnn_pool_job *job = &team->job;
    job->pool = pool;
    job->width = pool->block;
    job->planes = pool->N * ((pool->C + pool->block - 1) / pool->block);
    pdnn_team_run(threads, job->planes * job->width * pool->rows.input * pool->columns.input, team_part,
                  team);
}

PDNN_KERNEL(pdnn_pool_max_forward,
            (const struct pdnn_pool *pool, const float *x, float *y, int8_t *index, int64_t threads),
            (pool, x, y, index, threads)) {
    if (is_of_eights(pool)) {
        PDNN_EIGHTS(pdnn_pool_max_forward)(pool, x, y, index, threads);
        return;
    }
    struct team team = {
        {.from = x, .to = y, .new_index = index}, PDNN_HERE(pdnn_pool_any_max_forward), pool->rows.output};
    if (has_lanes(pool))
        team.piece = PDNN_HERE(pdnn_pool_lanes_max_forward);
    run(pool, &team, threads);
}

PDNN_KERNEL(pdnn_pool_max_backward,
            (const struct pdnn_pool *pool, const float *dy, const int8_t *index, float *dx, int64_t threads),
            (pool, dy, index, dx, threads)) {
    if (is_of_eights(pool)) {
        PDNN_EIGHTS(pdnn_pool_max_backward)(pool, dy, index, dx, threads);
        return;
    }
    struct team lanes = {
        {.from = dy, .to = dx, .index = index}, PDNN_HERE(pdnn_pool_lanes_max_backward), pool->rows.input};
    struct team any = {{.from = dy, .to = dx, .index = index}, PDNN_HERE(pdnn_pool_any_max_backward), 1};
    run(pool, has_lanes(pool) ? &lanes : &any, threads);
}

PDNN_KERNEL(pdnn_pool_average_forward,
            (const struct pdnn_pool *pool, const float *x, float *y, int64_t threads),
            (pool, x, y, threads)) {
    if (is_of_eights(pool)) {
        PDNN_EIGHTS(pdnn_pool_average_forward)(pool, x, y, threads);
        return;
    }
    struct team team = {{.from = x, .to = y}, PDNN_HERE(pdnn_pool_any_average_forward), pool->rows.output};
    if (has_lanes(pool))
        team.piece = PDNN_HERE(pdnn_pool_lanes_average_forward);
    run(pool, &team, threads);
}

PDNN_KERNEL(pdnn_pool_average_backward,
            (const struct pdnn_pool *pool, const float *dy, float *dx, int64_t threads),
            (pool, dy, dx, threads)) {
    /* Here a vector of sixteen is slower than two of eight. */
    if (is_of_eights(pool) || (PDNN_LANES == 16 && pool->block == 16)) {
        PDNN_EIGHTS(pdnn_pool_average_backward)(pool, dy, dx, threads);
        return;
    }
    struct team lanes = {
        {.from = dy, .to = dx}, PDNN_HERE(pdnn_pool_lanes_average_backward), pool->rows.input};
    struct team any = {{.from = dy, .to = dx}, PDNN_HERE(pdnn_pool_any_average_backward), 1};
    run(pool, has_lanes(pool) ? &lanes : &any, threads);
}
