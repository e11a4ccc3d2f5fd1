#include "runtime/kernels/gemm/tiles.h"

#include "runtime/kernels/simd/clones.h"
#include "runtime/kernels/simd/isa.h"

#include <stddef.h>
#include <string.h>

#define PDNN_KERNEL "runtime/kernels/gemm/tiles_kernel.h"
#include "runtime/kernels/simd/isa_variants.h"

#define VARIANT(name) {#name, pdnn_isa_has_##name, &tiles_##name},
static const struct variant {
    const char *name;
    bool (*has)(void);
    const struct pdnn_tiles *tiles;
} variants[] = {PDNN_ISA_VARIANTS(VARIANT)};

static int lanes_max = 16;

void pdnn_tiles_limit(int lanes) {
    lanes_max = lanes;
}

static const struct variant *widest(void) {
    const struct variant *variant = variants;
    while (variant->tiles->lanes > lanes_max || !variant->has())
        variant++;
    return variant;
}

bool pdnn_tiles_allow_clones(void) {
    return strcmp(pdnn_clone_name(), pdnn_tiles_name()) == 0;
}

const struct pdnn_tiles *pdnn_tiles_here(void) {
    return widest()->tiles;
}

const char *pdnn_tiles_name(void) {
    return widest()->name;
}

/* By way of a whole tile. */
static void run_cut(const struct pdnn_tiles *tiles, const struct pdnn_tile *tile, int64_t rows,
                    int64_t columns) {
    float whole[PDNN_TILE_ROWS * PDNN_TILE_WIDTH_MAX];
    struct pdnn_tile other = *tile;
    other.c = whole;
    other.c_stride = tiles->width;
    other.accumulate = false;
    tiles->run[rows](&other);
    for (int64_t r = 0; r < rows; r++) {
        float *c = tile->c + r * tile->c_stride;
        for (int64_t i = 0; i < columns; i++)
            c[i] = whole[r * tiles->width + i] + (tile->accumulate ? c[i] : 0);
    }
}

void pdnn_tile_run(const struct pdnn_tiles *tiles, const struct pdnn_tile *tile, int64_t rows,
                   int64_t columns) {
    if (columns >= tiles->width)
        tiles->run[rows](tile);
    else
        run_cut(tiles, tile, rows, columns);
}
