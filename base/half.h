/* 16-bit floating point by its bits: bf16, the upper half of an f32, and f16, IEEE 754 binary16. Rounds to
 * nearest, ties to even; what is too large becomes infinite; NaN stays NaN. There are no branches, so that
 * loops vectorize, and no denormal f32 intermediates, so that flushing denormals to zero, as workers do,
 * leaves the denormals of f16 intact. */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

enum pdnn_half { PDNN_HALF_BF16, PDNN_HALF_F16, PDNN_HALF_COUNT };

static inline uint32_t pdnn_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pdnn_f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float pdnn_bf16_value(uint16_t bits) {
    return pdnn_f32_of_bits((uint32_t)bits << 16);
}

static inline uint16_t pdnn_bf16_of(float value) {
    const uint32_t infinity = UINT32_C(0x7f800000), quiet = UINT32_C(0x400000);
    uint32_t bits = pdnn_f32_bits(value), magnitude = bits & UINT32_C(0x7fffffff);
    uint32_t rounded = bits + UINT32_C(0x7fff) + (bits >> 16 & 1);
    return (uint16_t)((magnitude > infinity ? bits | quiet : rounded) >> 16);
}

/* f16 against f32: exponents are 112 less, significands 13 bits shorter, denormals multiples of 2^-24. */
enum { PDNN_F16_SHIFT = 13, PDNN_F16_BIAS = 112 << 23 };

static inline float pdnn_f16_value(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t denormal = pdnn_f32_bits((float)(int32_t)magnitude * 0x1p-24F);
    uint32_t normal = (magnitude << PDNN_F16_SHIFT) + PDNN_F16_BIAS;
    normal += magnitude >= 0x7c00 ? PDNN_F16_BIAS : 0; /* infinity or NaN */
    return pdnn_f32_of_bits(sign | (magnitude < 0x400 ? denormal : normal));
}

static inline uint16_t pdnn_f16_of(float value) {
    const uint32_t infinity = UINT32_C(0x7f800000), smallest_normal = UINT32_C(113) << 23,
                   beyond = UINT32_C(143) << 23; /* 2^-14 and 2^16 */
    uint32_t bits = pdnn_f32_bits(value), magnitude = bits & UINT32_C(0x7fffffff);
    /* The last bit of 0.5 in f32 is worth 2^-24, so the sum rounds exactly where a denormal must. */
    uint32_t denormal = pdnn_f32_bits(pdnn_f32_of_bits(magnitude) + 0.5F) - pdnn_f32_bits(0.5F);
    uint32_t rounded = magnitude + UINT32_C(0xfff) + (magnitude >> PDNN_F16_SHIFT & 1);
    uint32_t normal = (rounded - PDNN_F16_BIAS) >> PDNN_F16_SHIFT;
    uint32_t nan = UINT32_C(0x7e00) | (magnitude >> PDNN_F16_SHIFT & UINT32_C(0x3ff));
    uint32_t special = magnitude > infinity ? nan : UINT32_C(0x7c00);
    uint32_t finite = magnitude < smallest_normal ? denormal : normal;
    return (uint16_t)((bits >> 16 & 0x8000) | (magnitude >= beyond ? special : finite));
}

/* How elements are stored that are computed with in f32. */
enum pdnn_stored { PDNN_STORED_F32, PDNN_STORED_BF16, PDNN_STORED_F16 };

static inline enum pdnn_half pdnn_half_of_stored(enum pdnn_stored in) {
    return in == PDNN_STORED_F16 ? PDNN_HALF_F16 : PDNN_HALF_BF16;
}

static inline int64_t pdnn_stored_bytes(enum pdnn_stored in) {
    return in == PDNN_STORED_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(uint16_t);
}

#endif
