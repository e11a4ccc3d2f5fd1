#include "runtime/kernels/images/channels.h"

#include "runtime/kernels/simd/bypass.h"

#include <string.h>

/* Rows per tile: large planes are split, small ones merged. Rows of a single channel need more for
 * the same work. */
enum { TILE_ROWS = 256, TILE_SINGLE_ROWS = 2048, TILE_HALVES = 4096, TILE_FEW = 16 };

struct pdnn_chunks pdnn_chunks_of(const struct pdnn_channels *shape) {
    int64_t block = shape->block, padded = pdnn_channels_padded(shape);
    if (block == shape->C)
        return (struct pdnn_chunks){1, 0, {1, 0, shape->N * shape->pixels, block, block}, shape->stored};
    return (struct pdnn_chunks){padded / block,
                                shape->pixels * block,
                                {shape->N, padded * shape->pixels, shape->pixels, block, block},
                                shape->stored};
}

static int64_t tile_rows(const struct pdnn_chunks *chunks) {
    const int64_t width = chunks->rows.width, halves = TILE_HALVES / width;
    if (width == 1)
        return TILE_SINGLE_ROWS;
    return chunks->stored == PDNN_STORED_F32 || halves > TILE_ROWS ? TILE_ROWS
           : halves > TILE_FEW                                     ? halves
                                                                   : TILE_FEW;
}

int64_t pdnn_chunk_tile_elements(const struct pdnn_chunks *chunks) {
    return tile_rows(chunks) * chunks->rows.width;
}

struct pdnn_chunk_tile pdnn_chunk_tile_first(const struct pdnn_chunks *chunks, int64_t chunk,
                                             struct pdnn_span span) {
    struct pdnn_rows rows = chunks->rows;
    int64_t most = tile_rows(chunks), left = span.end - span.begin;
    int64_t plane = span.begin / rows.count, row = span.begin % rows.count;
    int64_t offset = chunk * chunks->stride + plane * rows.plane_stride + row * rows.stride;
    rows.planes = 1;
    if (row == 0 && left >= rows.count && 2 * rows.count <= most)
        rows.planes = pdnn_least(left, most) / rows.count;
    else
        rows.count = pdnn_least(pdnn_least(rows.count - row, left), most);
    return (struct pdnn_chunk_tile){offset, rows.planes * rows.count, rows};
}

struct team {
    const struct pdnn_chunk_kernel *kernel;
    void *job;
    int64_t pixels;          /* per chunk */
    struct pdnn_span chunks; /* being worked on */
};

/* One thread does the whole chunk: what it gathered is still in its private caches when it reads it again. */
static void whole_chunks(void *work, int64_t index, int64_t parts) {
    const struct team *team = work;
    const struct pdnn_chunk_kernel *kernel = team->kernel;
    struct pdnn_span mine = pdnn_span_of(team->chunks.end, 1, index, parts), all = {0, team->pixels};
    for (int64_t chunk = mine.begin; chunk < mine.end; chunk++) {
        if (kernel->gather)
            kernel->gather(team->job, chunk, all, index);
        if (kernel->finish)
            kernel->finish(team->job, chunk, (struct pdnn_span){index, index + 1});
        if (kernel->apply)
            kernel->apply(team->job, chunk, all, index);
    }
    pdnn_bypass_fence();
}

static void gather_pixels(void *work, int64_t index, int64_t parts) {
    const struct team *team = work;
    for (int64_t chunk = team->chunks.begin; chunk < team->chunks.end; chunk++)
        team->kernel->gather(team->job, chunk, pdnn_span_of(team->pixels, 1, index, parts), index);
}

static void apply_pixels(void *work, int64_t index, int64_t parts) {
    const struct team *team = work;
    for (int64_t chunk = team->chunks.begin; chunk < team->chunks.end; chunk++)
        team->kernel->apply(team->job, chunk, pdnn_span_of(team->pixels, 1, index, parts), index);
    pdnn_bypass_fence();
}

/* Threads share the pixels of each chunk. Chunks go in groups that stay in the shared cache until they
 * are read again. */
static void share_pixels(struct team *team, int64_t count, int64_t group, int64_t threads) {
    int64_t elements = INT64_MAX;
    for (int64_t k = 0; k < count; k += group) {
        team->chunks = (struct pdnn_span){k, pdnn_least(k + group, count)};
        if (team->kernel->gather)
            pdnn_team_run(threads, elements, gather_pixels, team);
        for (int64_t chunk = k; team->kernel->finish && chunk < team->chunks.end; chunk++)
            team->kernel->finish(team->job, chunk, (struct pdnn_span){0, threads});
        if (team->kernel->apply)
            pdnn_team_run(threads, elements, apply_pixels, team);
    }
}

/* 0: each thread does whole chunks; else how many are done at a time. is_held: what is gathered from is read
 * again. */
static int64_t group_of(const struct pdnn_chunk_run *run, bool is_held, int64_t threads) {
    const struct pdnn_chunks *chunks = run->chunks;
    int64_t elements = chunks->rows.planes * chunks->rows.count * chunks->rows.width;
    int64_t chunk_bytes = elements * pdnn_stored_bytes(chunks->stored) * run->arrays;
    int64_t cache_bytes = (int64_t)run->cache_bytes, held = is_held ? chunk_bytes : 0;
    bool is_even = chunks->count % threads == 0 || chunks->count >= 4 * threads;
    if (elements * chunks->count < PDNN_TEAM_MIN_ELEMENTS || (is_even && held * threads <= cache_bytes))
        return 0;
    return 1 + cache_bytes / 4 / chunk_bytes;
}

int64_t pdnn_chunks_shared(const struct pdnn_chunk_run *run, int64_t threads) {
    return pdnn_least(group_of(run, true, threads), run->chunks->count);
}

int64_t pdnn_chunks_at_once(const struct pdnn_chunk_run *run, int64_t threads) {
    int64_t group = pdnn_chunks_shared(run, threads);
    return pdnn_least(group ? group : threads, run->chunks->count);
}

void pdnn_chunks_run(const struct pdnn_chunk_kernel *kernel, void *job, const struct pdnn_chunk_run *run,
                     int64_t threads) {
    const struct pdnn_chunks *chunks = run->chunks;
    int64_t pixels = chunks->rows.planes * chunks->rows.count;
    int64_t group = group_of(run, kernel->gather && kernel->apply, threads);
    struct team team = {kernel, job, pixels, {0, chunks->count}};
    if (group)
        share_pixels(&team, chunks->count, group, threads);
    else
        pdnn_team_run(threads, pixels * chunks->rows.width * chunks->count, whole_chunks, &team);
}

struct clear_job {
    const struct pdnn_channels *shape;
    size_t element;
    char *y;
};

static void clear_part(void *work, int64_t index, int64_t parts) {
    const struct clear_job *job = work;
    const struct pdnn_channels *shape = job->shape;
    int64_t padded = pdnn_channels_padded(shape), unused = padded - shape->C;
    struct pdnn_span images = pdnn_span_of(shape->N, 1, index, parts);
    for (int64_t n = images.begin; n < images.end; n++) {
        const int64_t last = ((n + 1) * padded - shape->block) * shape->pixels;
        for (int64_t i = 1; i <= shape->pixels; i++)
            memset(job->y + (size_t)(last + i * shape->block - unused) * job->element, 0,
                   (size_t)unused * job->element);
    }
}

void pdnn_channels_clear_padding(void *y, size_t element, const struct pdnn_channels *shape,
                                 int64_t threads) {
    struct clear_job job = {shape, element, y};
    if (pdnn_channels_padded(shape) != shape->C)
        pdnn_team_run(threads, shape->N * shape->pixels * shape->block, clear_part, &job);
}
