/* Tiles of a matrix product in registers, f32: what products that differ in how they block and pack their
 * operands have in common. A tile is a few rows of the result by the width of a panel; a panel is columns of
 * the right operand, packed so that each row of it follows the one before. Inside the kernels alone. */
#ifndef RUNTIME_KERNELS_GEMM_TILES_H
#define RUNTIME_KERNELS_GEMM_TILES_H

#include "runtime/kernels/simd/kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* WIDTH: two vectors of the level. */
enum { PDNN_TILE_ROWS = 6, PDNN_TILE_WIDTH = 2 * PDNN_LANES };

/* c (rows, width of a panel) = a (rows, K) times K rows of a panel, or added to c. Element (r, k) of a is at
 * r*a_stride + k*a_step. b is aligned to a vector. */
struct pdnn_tile {
    const float *a, *b;
    float *c;
    int64_t K, a_stride, a_step, c_stride;
    bool accumulate;
};

/* A tile of 1 to PDNN_TILE_ROWS rows and at least one column; of more columns than the width, the first ones.
 * What lies beyond them in c is left alone. */
void PDNN_HERE(pdnn_tile_run)(const struct pdnn_tile *tile, int64_t rows, int64_t columns);

#endif
