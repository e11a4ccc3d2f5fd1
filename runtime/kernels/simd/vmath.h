/* exp, log, tanh and the normal distribution in plain arithmetic, so that loops over them vectorize. Within 2
 * ulp unless stated; no denormal results. */
#ifndef RUNTIME_KERNELS_SIMD_VMATH_H
#define RUNTIME_KERNELS_SIMD_VMATH_H

#include <stdint.h>
#include <string.h>

/* The range in which exp is a normal number. */
#define PDNN_EXP_LOW  (-87.3F)
#define PDNN_EXP_HIGH 88.3F

/* Cephes expf (Moshier) for x in that range: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for
 * exp(r), and n added to the exponent. Adding and subtracting 1.5 * 2^23 rounds to an integer and leaves
 * n in the low bits. */
static inline float pdnn_exp_within(float x) {
    const float round = 12582912.0F;
    float shifted = x * 1.44269504F + round, n = shifted - round;
    float r = x - n * 0.693359375F + n * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* For any x, clamped to that range. NaN propagates. */
static inline float pdnn_exp(float x) {
    x = x < PDNN_EXP_LOW ? PDNN_EXP_LOW : x;
    return pdnn_exp_within(x > PDNN_EXP_HIGH ? PDNN_EXP_HIGH : x);
}

/* Cephes logf for normal positive numbers: x = m 2^n with m in [sqrt(1/2), sqrt(2)). */
static inline float pdnn_log(float x) {
    const uint32_t root_half = 0x3f3504f3;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t exponent = (int32_t)(bits - root_half) >> 23;
    float n = (float)exponent, m;
    bits -= (uint32_t)exponent << 23;
    memcpy(&m, &bits, sizeof m);
    m -= 1.0F;
    float z = m * m, p = 7.0376836292e-2F;
    p = p * m - 1.1514610310e-1F;
    p = p * m + 1.1676998740e-1F;
    p = p * m - 1.2420140846e-1F;
    p = p * m + 1.4249322787e-1F;
    p = p * m - 1.6668057665e-1F;
    p = p * m + 2.0000714765e-1F;
    p = p * m - 2.4999993993e-1F;
    p = p * m + 3.3333331174e-1F;
    float y = p * m * z - 2.12194440e-4F * n - 0.5F * z;
    return m + y + 0.693359375F * n;
}

/* Cephes tanhf: a polynomial near 0, where 1 - 2 / (exp(2x) + 1) would cancel. */
static inline float pdnn_tanh(float x) {
    float far = 1.0F - 2.0F / (pdnn_exp(2.0F * x) + 1.0F), z = x * x;
    float p = -5.70498872745e-3F;
    p = p * z + 2.06390887954e-2F;
    p = p * z - 5.37397155531e-2F;
    p = p * z + 1.33314422036e-1F;
    p = p * z - 3.33332819422e-1F;
    float near = p * z * x + x;
    return z < 0.390625F ? near : far;
}

/* The basis of erf and erfc without cancellation: P(-u) = exp(-u^2 / 2) r(u) for u >= 0, where P(x) = (1 +
 * erf(x / sqrt(2))) / 2 is the normal distribution. r decays like 1 / u. It is approximated by the best
 * rational function of this degree (Remez, relative error): within 9e-8 up to u = 6, within 7e-4 beyond,
 * where P(-u) < 1e-9. */
static inline float pdnn_normal_ratio(float u) {
    float above = 1.34913843e-2F, below = 3.38388605e-2F;
    above = above * u + 1.03884638e-1F;
    above = above * u + 3.33555741e-1F;
    above = above * u + 4.99999982e-1F;
    below = below * u + 2.59837485e-1F;
    below = below * u + 8.76691961e-1F;
    below = below * u + 1.46499350F;
    below = below * u + 1.0F;
    return above / below;
}

#endif
