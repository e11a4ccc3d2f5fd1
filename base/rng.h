/* Seeded random numbers, the same on every machine. The counter form has no state: value i of stream s is a
 * pure function, so threads can fill disjoint parts of a tensor and get the same data. Source: SplitMix64
 * (Steele, Lea, Flood, 2014). */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t pdnn_rng_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Value number `counter` of the stream `seed`. */
static inline uint64_t pdnn_rng_at(uint64_t seed, uint64_t counter) {
    return pdnn_rng_mix(seed + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* 16 bits for element i of the stream; four elements share one 64-bit value. */
static inline int64_t pdnn_rng_16_at(uint64_t seed, uint64_t i) {
    return (int64_t)(pdnn_rng_at(seed, i / 4) >> 16 * (i % 4) & 0xffff);
}

/* A hash of what was hashed before, 0: nothing, and the text. */
static inline uint64_t pdnn_rng_mix_text(uint64_t hash, const char *text) {
    do
        hash = pdnn_rng_mix(hash + UINT64_C(0x9e3779b97f4a7c15) + (unsigned char)*text);
    while (*text++);
    return hash;
}

/* A sequence: {seed, 0}. */
struct pdnn_rng {
    uint64_t seed, counter;
};

static inline uint64_t pdnn_rng_next(struct pdnn_rng *rng) {
    return pdnn_rng_at(rng->seed, rng->counter++);
}

/* Uniform in [0, 1). */
static inline double pdnn_rng_double(struct pdnn_rng *rng) {
    return (double)(pdnn_rng_next(rng) >> 11) * 0x1p-53;
}

/* Not ISO C, but available in gcc and clang on every 64-bit machine. */
__extension__ typedef unsigned __int128 pdnn_u128;

/* Uniform in [0, bound), without modulo bias (Lemire's multiplication); bound > 0. */
static inline uint64_t pdnn_rng_below(struct pdnn_rng *rng, uint64_t bound) {
    for (;;) {
        pdnn_u128 product = (pdnn_u128)pdnn_rng_next(rng) * bound;
        if ((uint64_t)product >= bound || (uint64_t)product >= (0 - bound) % bound)
            return (uint64_t)(product >> 64);
    }
}

/* All orders are equally likely (Fisher and Yates); elements of size bytes each. */
static inline void pdnn_rng_shuffle(struct pdnn_rng *rng, void *elements, size_t count, size_t size) {
    unsigned char *bytes = (unsigned char *)elements;
    for (size_t i = count; i > 1; i--) {
        unsigned char *last = bytes + (i - 1) * size, *other = bytes + pdnn_rng_below(rng, i) * size;
        for (size_t k = 0; k < size; k++) {
            unsigned char kept = last[k];
            last[k] = other[k];
            other[k] = kept;
        }
    }
}

/* A seed derived from text, so that data depends only on an instance's id and the sweep's seed
 * (FNV-1a, then mixed). */
static inline uint64_t pdnn_rng_seed(uint64_t seed, const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return pdnn_rng_mix(hash);
}

#endif
