#include "runtime/kernels/transpose.h"

#include "runtime/kernels/clones.h"
#include "runtime/kernels/team.h"

#include <stddef.h>

/* A tile is TILE rows of x by as many columns, done in squares of one cache line: each line is touched once
 * and whole, since rows a power of two apart share a cache set and would push each other out between two
 * touches, and neighbouring lines of a row follow each other soon. */
enum { TILE = 64, LINE = 16 };

struct transpose_job {
    const float *x;
    float *y;
    int64_t rows, columns;
    bool bypass;
};

typedef float floats8 __attribute__((vector_size(32)));

/* An 8 by 8 block in registers: pairs of rows interleaved, then pairs of pairs, then halves exchanged. */
static inline __attribute__((always_inline)) void transpose_block(const float *x, int64_t stride,
                                                                  float *out) {
    floats8 a[8], b[8];
    for (int i = 0; i < 8; i++)
        __builtin_memcpy(&a[i], x + i * stride, sizeof a[i]);
    for (int i = 0; i < 8; i += 2) {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) {
        a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        a[i + 1] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        a[i + 2] = __builtin_shufflevector(b[i + 1], b[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        a[i + 3] = __builtin_shufflevector(b[i + 1], b[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int i = 0; i < 8; i++)
        __builtin_memcpy(out + i * TILE, &b[i], sizeof b[i]);
}

/* out[c][r] = x[r][c] for r, c below size, a multiple of LINE. */
PDNN_CLONES static void transpose_tile(const float *x, int64_t stride, int size, float out[TILE][TILE]) {
    for (int r = 0; r < size; r += LINE) {
        for (int c = 0; c < size; c += LINE) {
            for (int block = 0; block < 4; block++) {
                int i = r + block / 2 * 8, k = c + block % 2 * 8;
                transpose_block(x + i * stride + k, stride, &out[k][i]);
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

/* A tile that reaches over the end, in smaller ones. */
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

void pdnn_transpose(const float *x, float *y, int64_t rows, int64_t columns, int64_t threads, bool bypass) {
    struct transpose_job job = {x, y, rows, columns, bypass && rows % 4 == 0};
    pdnn_team_run(threads, rows * columns, transpose_part, &job);
}
