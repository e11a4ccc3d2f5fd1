/* Integer arithmetic that reports overflow: FLOP, byte and parameter counts are exact or
 * they are an error. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* A sum of products in which overflow sticks: compute freely and check `overflow` once at
 * the end. {0} is zero. */
struct pdnn_count {
    uint64_t value;
    bool overflow;
};

/* count += a * b * c. Pass 1 for factors you do not need; a negative factor counts as overflow. */
static inline void pdnn_count_add(struct pdnn_count *count, int64_t a, int64_t b, int64_t c) {
    uint64_t product;
    bool bad = a < 0 || b < 0 || c < 0;
    bad = __builtin_mul_overflow((uint64_t)a, (uint64_t)b, &product) || bad;
    bad = __builtin_mul_overflow(product, (uint64_t)c, &product) || bad;
    bad = __builtin_add_overflow(count->value, product, &count->value) || bad;
    count->overflow = count->overflow || bad;
}

/* *sum += value; false if it does not fit, in which case *sum is meaningless. */
static inline bool pdnn_add_u64(uint64_t *sum, uint64_t value) {
    return !__builtin_add_overflow(*sum, value, sum);
}

/* *product = a * b; false if it does not fit. */
static inline bool pdnn_mul_u64(uint64_t a, uint64_t b, uint64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* The greatest common divisor; the other one where one is 0. */
static inline uint64_t pdnn_gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
