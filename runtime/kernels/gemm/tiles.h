/* Tiles of a matrix product in registers, f32: what products that differ in how they block and pack their
 * operands have in common. A tile is a few rows of the result by the width of a panel; a panel is columns of
 * the right operand, packed so that each row of it follows the one before. */
#ifndef RUNTIME_KERNELS_GEMM_TILES_H
#define RUNTIME_KERNELS_GEMM_TILES_H

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_TILE_ROWS = 6, PDNN_TILE_WIDTH_MAX = 32 };

/* c (rows, width of a panel) = a (rows, K) times K rows of a panel, or added to c. Element (r, k) of a is at
 * r*a_stride + k*a_step. b is aligned to a vector. */
struct pdnn_tile {
    const float *a, *b;
    float *c;
    int64_t K, a_stride, a_step, c_stride;
    bool accumulate;
};

struct pdnn_tiles {
    int lanes;                                                     /* floats in a vector */
    int64_t width;                                                 /* of a panel */
    void (*run[PDNN_TILE_ROWS + 1])(const struct pdnn_tile *tile); /* by rows */
};

/* Of the widest instruction set that the processor has and the limit allows. */
const struct pdnn_tiles *pdnn_tiles_here(void);
const char *pdnn_tiles_name(void); /* "avx2": theirs */
/* Whether the clones (clones.h), which know no limit, use no more than the tiles. */
bool pdnn_tiles_allow_clones(void);

/* At start-up, before the first product: no vectors of more floats than that. */
void pdnn_tiles_limit(int lanes);

/* A tile of so many rows, and columns up to the width; what lies beyond them in c is left alone. */
void pdnn_tile_run(const struct pdnn_tiles *tiles, const struct pdnn_tile *tile, int64_t rows,
                   int64_t columns);

#endif
