#include "runtime/kernels/transpose.h"

#include "runtime/kernels/clones.h"
#include "runtime/kernels/team.h"

/* A tile is TILE cache lines of x and TILE of y, each touched once and whole: rows a power of two apart share
 * a cache set and would push each other out between two touches. */
enum { TILE = 16 };

struct transpose_job {
    const float *x;
    float *y;
    int64_t rows, columns;
    bool bypass;
};

/* out[c][r] = x[r][c] */
PDNN_CLONES static void transpose_tile(const float *x, int64_t stride, float out[TILE][TILE]) {
    for (int r = 0; r < TILE; r++) {
        for (int c = 0; c < TILE; c++)
            out[c][r] = x[r * stride + c];
    }
}

static void whole_tile(const struct transpose_job *job, int64_t r, int64_t c) {
    float tile[TILE][TILE];
    transpose_tile(job->x + r * job->columns + c, job->columns, tile);
    for (int64_t i = 0; i < TILE; i++) {
        float *y = job->y + (c + i) * job->rows + r;
        if (job->bypass)
            pdnn_bypass_copy(y, tile[i], TILE);
        else
            __builtin_memcpy(y, tile[i], sizeof tile[i]);
    }
}

static void edge(const struct transpose_job *job, int64_t r, int64_t c) {
    for (int64_t i = r; i < r + TILE && i < job->rows; i++) {
        for (int64_t k = c; k < c + TILE && k < job->columns; k++)
            job->y[k * job->rows + i] = job->x[i * job->columns + k];
    }
}

static void transpose_part(void *work, int64_t index, int64_t parts) {
    const struct transpose_job *job = work;
    struct pdnn_span rows = pdnn_span_of(job->rows, TILE, index, parts);
    for (int64_t r = rows.begin; r < rows.end; r += TILE) {
        for (int64_t c = 0; c < job->columns; c += TILE) {
            if (r + TILE <= job->rows && c + TILE <= job->columns)
                whole_tile(job, r, c);
            else
                edge(job, r, c);
        }
    }
    pdnn_bypass_fence();
}

void pdnn_transpose(const float *x, float *y, int64_t rows, int64_t columns, int64_t threads, bool bypass) {
    struct transpose_job job = {x, y, rows, columns, bypass && rows % 4 == 0};
    pdnn_team_run(threads, rows * columns, transpose_part, &job);
}
