#include "runtime/kernels/gemm/transpose.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/eights.h"
#include "runtime/kernels/simd/team.h"

#include <stddef.h>

/* A tile is TILE x TILE floats, transposed in squares of one cache line. Rows a power of two apart share a
 * cache set and would evict each other between two touches, so each line is touched once and completely, and
 * neighbouring lines of a row soon after each other. */
enum { TILE = 64, LINE = 16 };

struct transpose_job {
    const float *x;
    float *y;
    int64_t rows, columns;
    bool bypass;
};

/* out[c][r] = x[r][c] for r, c below size, a multiple of LINE. */
static void transpose_tile(const float *x, int64_t stride, int size, float out[TILE][TILE]) {
    for (int r = 0; r < size; r += LINE) {
        for (int c = 0; c < size; c += LINE) {
            for (int block = 0; block < 4; block++) {
                int i = r + block / 2 * 8, k = c + block % 2 * 8;
                pdnn_transpose8(x + i * stride + k, stride, &out[k][i], TILE);
            }
        }
    }
}

static void whole_tile(const struct transpose_job *job, int64_t r, int64_t c, int size) {
    _Alignas(64) float tile[TILE][TILE];
    transpose_tile(job->x + r * job->columns + c, job->columns, size, tile);
    for (int64_t i = 0; i < size; i++) {
        float *y = job->y + (c + i) * job->rows + r;
        if (job->bypass)
            pdnn_bypass_copy(y, tile[i], size);
        else
            __builtin_memcpy(y, tile[i], (size_t)size * sizeof *y);
    }
}

static bool fits(const struct transpose_job *job, int64_t r, int64_t c, int size) {
    return r + size <= job->rows && c + size <= job->columns;
}

static void edge(const struct transpose_job *job, int64_t r, int64_t c) {
    for (int64_t i = r; i < r + LINE && i < job->rows; i++) {
        for (int64_t k = c; k < c + LINE && k < job->columns; k++)
            job->y[k * job->rows + i] = job->x[i * job->columns + k];
    }
}

/* A tile that crosses the edge, in squares of LINE. */
static void cut_tile(const struct transpose_job *job, int64_t r, int64_t c) {
    for (int64_t i = r; i < r + TILE && i < job->rows; i += LINE) {
        for (int64_t k = c; k < c + TILE && k < job->columns; k += LINE) {
            if (fits(job, i, k, LINE))
                whole_tile(job, i, k, LINE);
            else
                edge(job, i, k);
        }
    }
}

static void transpose_part(void *work, int64_t index, int64_t parts) {
    const struct transpose_job *job = work;
    struct pdnn_span rows = pdnn_span_of(job->rows, TILE, index, parts);
    for (int64_t r = rows.begin; r < rows.end; r += TILE) {
        for (int64_t c = 0; c < job->columns; c += TILE) {
            if (fits(job, r, c, TILE))
                whole_tile(job, r, c, TILE);
            else
                cut_tile(job, r, c);
        }
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_transpose,
            (const float *x, float *y, int64_t rows, int64_t columns, int64_t threads, bool bypass),
            (x, y, rows, columns, threads, bypass)) {
    struct transpose_job job = {x, y, rows, columns, bypass && rows % 4 == 0};
    pdnn_team_run(threads, rows * columns, transpose_part, &job);
}
