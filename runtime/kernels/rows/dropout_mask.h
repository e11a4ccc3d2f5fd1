/* The dropout mask of models/ops/dropout.c, bit for bit, as loops for the kernels that apply it. */
#ifndef RUNTIME_KERNELS_ROWS_DROPOUT_MASK_H
#define RUNTIME_KERNELS_ROWS_DROPOUT_MASK_H

#include "runtime/kernels/simd/lanes.h"

#include <string.h>

/* The random numbers and factors of a block fit L1. SHARED elements take their bits from one number, in
 * memory order or, on big-endian machines, in reverse. */
enum { PDNN_MASK_BLOCK = 256, PDNN_MASK_SHARED = 4, PDNN_MASK_NUMBERS = PDNN_MASK_BLOCK / PDNN_MASK_SHARED };
enum { PDNN_MASK_FLIP = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? PDNN_MASK_SHARED - 1 : 0 };
enum { PDNN_MASK_LANES = PDNN_LANES / 2, PDNN_MASK_GROUP = 4 };

/* The mask of one step. */
struct pdnn_mask {
    uint64_t seed;
    int32_t least; /* smallest bits of an element that is kept */
    float kept;    /* factor of a kept element */
};

static inline struct pdnn_mask pdnn_mask_of(uint64_t seed, int64_t percent) {
    return (struct pdnn_mask){seed, (int32_t)(percent * 65536 / 100),
                              (float)(100.0 / (double)(100 - percent))};
}

/* pdnn_rng_mix of several vectors, interleaved because each one's operations depend on each other. */
PDNN_INLINE void pdnn_mask_mix(pdnn_words *z, int count) {
    for (int k = 0; k < count; k++)
        z[k] = (z[k] ^ (z[k] >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    for (int k = 0; k < count; k++)
        z[k] = (z[k] ^ (z[k] >> 27)) * UINT64_C(0x94d049bb133111eb);
    for (int k = 0; k < count; k++)
        z[k] ^= z[k] >> 31;
}

/* pdnn_rng_at for `count` counters starting at `first`; may write up to PDNN_MASK_GROUP vectors
 * past the end. */
PDNN_INLINE void pdnn_mask_numbers(uint64_t seed, int64_t first, uint64_t *numbers, int64_t count) {
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    pdnn_words lane;
    for (uint64_t i = 0; i < PDNN_MASK_LANES; i++)
        lane[i] = i + 1;
    pdnn_words at = seed + ((uint64_t)first + lane) * step, z[PDNN_MASK_GROUP], v;
    for (int64_t i = 0; i < count; i += PDNN_MASK_GROUP * PDNN_MASK_LANES) {
        for (int k = 0; k < PDNN_MASK_GROUP; k++) {
            z[k] = at;
            at += PDNN_MASK_LANES * step;
        }
        pdnn_mask_mix(z, PDNN_MASK_GROUP);
        for (int k = 0; k < PDNN_MASK_GROUP; k++) {
            v = z[k];
            memcpy(numbers + i + k * PDNN_MASK_LANES, &v, sizeof v);
        }
    }
}

/* factor[i] multiplies element first + i of the tensor; n is at most PDNN_MASK_BLOCK. Numbers and factors
 * take separate loops, since a combined one would not vectorize. */
PDNN_INLINE void pdnn_mask_factors(const struct pdnn_mask *mask, int64_t first, float *factor, int64_t n) {
    union {
        uint64_t numbers[PDNN_MASK_NUMBERS + PDNN_MASK_GROUP * PDNN_MASK_LANES];
        uint16_t bits[PDNN_MASK_SHARED * (PDNN_MASK_NUMBERS + 1)];
    } block;
    int64_t skip = first % PDNN_MASK_SHARED;
    int32_t least = mask->least;
    float kept = mask->kept;
    pdnn_mask_numbers(mask->seed, first / PDNN_MASK_SHARED, block.numbers,
                      (skip + n + PDNN_MASK_SHARED - 1) / PDNN_MASK_SHARED);
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        factor[i] = (int32_t)block.bits[(i + skip) ^ PDNN_MASK_FLIP] >= least ? kept : 0;
}

#endif
