/* The tiles of tiles.c, once per instruction set (isa_variants.h): up to PDNN_TILE_ROWS rows by two vectors
 * of columns in registers. Few rows have too few sums under way to hide what a multiply-add takes: they go
 * through several k at once, each with sums of its own. */
#define PDNN_WIDTH (2 * PDNN_LANES)

PDNN_TARGET static inline __attribute__((always_inline)) void
PDNN_NAME(tile)(const struct pdnn_tile *t, const int rows, const int unroll) {
    PDNN_FLOATS sum[PDNN_TILE_ROWS][2];
    const float *a = t->a, *b = t->b;
    const int64_t stride = t->a_stride, step = t->a_step;
#pragma GCC unroll 6
    for (int i = 0; i < rows * unroll; i++)
        sum[i][0] = sum[i][1] = (PDNN_FLOATS){0};
    int64_t k = 0;
#pragma GCC unroll 4
    for (; k + unroll <= t->K; k += unroll, a += unroll * step) {
        for (int s = 0; s < unroll; s++) {
            const PDNN_FLOATS *panel = (const PDNN_FLOATS *)(const void *)(b + (k + s) * PDNN_WIDTH);
            for (int r = 0; r < rows; r++) {
                float factor = a[r * stride + s * step];
                sum[s * rows + r][0] += factor * panel[0];
                sum[s * rows + r][1] += factor * panel[1];
            }
        }
    }
    for (; k < t->K; k++, a += step) {
        const PDNN_FLOATS *panel = (const PDNN_FLOATS *)(const void *)(b + k * PDNN_WIDTH);
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
            PDNN_FLOATS before, total = sum[r][v];
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

PDNN_TARGET static void PDNN_NAME(tile1)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 1, 6);
}
PDNN_TARGET static void PDNN_NAME(tile2)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 2, 3);
}
PDNN_TARGET static void PDNN_NAME(tile3)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 3, 2);
}
PDNN_TARGET static void PDNN_NAME(tile4)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 4, 1);
}
PDNN_TARGET static void PDNN_NAME(tile5)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 5, 1);
}
PDNN_TARGET static void PDNN_NAME(tile6)(const struct pdnn_tile *t) {
    PDNN_NAME(tile)(t, 6, 1);
}

static const struct pdnn_tiles PDNN_NAME(tiles) = {PDNN_LANES,
                                                   PDNN_WIDTH,
                                                   {NULL, PDNN_NAME(tile1), PDNN_NAME(tile2),
                                                    PDNN_NAME(tile3), PDNN_NAME(tile4), PDNN_NAME(tile5),
                                                    PDNN_NAME(tile6)}};
#undef PDNN_WIDTH
