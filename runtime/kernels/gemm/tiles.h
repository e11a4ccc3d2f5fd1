/* Register tiles of an f32 matrix product, shared by the products, which block and pack their operands
 * differently. A tile is a few rows of the result by the width of a panel. A panel is a group of columns of
 * the right operand, packed row after row. For kernels only. */
#ifndef RUNTIME_KERNELS_GEMM_TILES_H
#define RUNTIME_KERNELS_GEMM_TILES_H

#include "runtime/kernels/simd/kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* Panel width: two vectors of the level. */
enum { PDNN_TILE_ROWS = 6, PDNN_TILE_WIDTH = 2 * PDNN_LANES };

/* c (rows, panel width) = a (rows, K) times K rows of a panel; with accumulate, added to c. Element (r, k) of
 * a is at r*a_stride + k*a_step. b is vector-aligned. */
struct pdnn_tile {
    const float *a, *b;
    float *c;
    int64_t K, a_stride, a_step, c_stride;
    bool accumulate;
};

/* Computes 1 to PDNN_TILE_ROWS rows and the first min(columns, width) columns, at least one. Leaves the rest
 * of c untouched. */
void PDNN_HERE(pdnn_tile_run)(const struct pdnn_tile *tile, int64_t rows, int64_t columns);

#endif
