#include "runtime/kernels/gemm/tiles.h"

#include "runtime/kernels/simd/lanes.h"

#include <stddef.h>

/* Up to PDNN_TILE_ROWS rows by two vectors of columns in registers. Few rows have too few independent sums to
 * hide the latency of a multiply-add, so they go through several k at once with separate accumulators. */
PDNN_INLINE void multiply(const struct pdnn_tile *t, const int rows, const int unroll) {
    pdnn_floats sum[PDNN_TILE_ROWS][2];
    const float *a = t->a, *b = t->b;
    const int64_t stride = t->a_stride, step = t->a_step;
#pragma GCC unroll 6
    for (int i = 0; i < rows * unroll; i++)
        sum[i][0] = sum[i][1] = (pdnn_floats){0};
    int64_t k = 0;
#pragma GCC unroll 4
    for (; k + unroll <= t->K; k += unroll, a += unroll * step) {
        for (int s = 0; s < unroll; s++) {
            const pdnn_floats *panel = (const pdnn_floats *)(const void *)(b + (k + s) * PDNN_TILE_WIDTH);
            for (int r = 0; r < rows; r++) {
                float factor = a[r * stride + s * step];
                sum[s * rows + r][0] += factor * panel[0];
                sum[s * rows + r][1] += factor * panel[1];
            }
        }
    }
    for (; k < t->K; k++, a += step) {
        const pdnn_floats *panel = (const pdnn_floats *)(const void *)(b + k * PDNN_TILE_WIDTH);
        for (int r = 0; r < rows; r++) {
            sum[r][0] += a[r * stride] * panel[0];
            sum[r][1] += a[r * stride] * panel[1];
        }
    }
    const int64_t c_stride = t->c_stride;
    const bool accumulate = t->accumulate;
    float *c = t->c;
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++, c += c_stride) {
        for (int v = 0; v < 2; v++) {
            pdnn_floats before, total = sum[r][v];
            for (int s = 1; s < unroll; s++)
                total += sum[s * rows + r][v];
            if (accumulate) {
                __builtin_memcpy(&before, c + v * PDNN_LANES, sizeof before);
                total += before;
            }
            __builtin_memcpy(c + v * PDNN_LANES, &total, sizeof total);
        }
    }
}

static void multiply_1(const struct pdnn_tile *t) {
    multiply(t, 1, 6);
}
static void multiply_2(const struct pdnn_tile *t) {
    multiply(t, 2, 3);
}
static void multiply_3(const struct pdnn_tile *t) {
    multiply(t, 3, 2);
}
static void multiply_4(const struct pdnn_tile *t) {
    multiply(t, 4, 1);
}
static void multiply_5(const struct pdnn_tile *t) {
    multiply(t, 5, 1);
}
static void multiply_6(const struct pdnn_tile *t) {
    multiply(t, 6, 1);
}

static void (*const multiply_rows[])(const struct pdnn_tile *t) = {
    NULL, multiply_1, multiply_2, multiply_3, multiply_4, multiply_5, multiply_6};
_Static_assert(sizeof multiply_rows / sizeof *multiply_rows == PDNN_TILE_ROWS + 1, "one function per number");

/* An incomplete tile, computed in a complete one and copied. */
static void multiply_cut(const struct pdnn_tile *tile, int64_t rows, int64_t columns) {
    float whole[PDNN_TILE_ROWS * PDNN_TILE_WIDTH];
    struct pdnn_tile other = *tile;
    other.c = whole;
    other.c_stride = PDNN_TILE_WIDTH;
    other.accumulate = false;
    multiply_rows[rows](&other);
    for (int64_t r = 0; r < rows; r++) {
        float *c = tile->c + r * tile->c_stride;
        for (int64_t i = 0; i < columns; i++)
            c[i] = whole[r * PDNN_TILE_WIDTH + i] + (tile->accumulate ? c[i] : 0);
    }
}

void PDNN_HERE(pdnn_tile_run)(const struct pdnn_tile *tile, int64_t rows, int64_t columns) {
    if (columns >= PDNN_TILE_WIDTH)
        multiply_rows[rows](tile);
    else
        multiply_cut(tile, rows, columns);
}
