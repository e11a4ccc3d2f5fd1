/* Arm's peaks, with vectors of 128 bit (Advanced SIMD) and of the processor's own length (SVE). */
#include "runtime/kernels/roofs/peaks.h"

#include <stddef.h>

#if defined(__aarch64__)

#include <arm_neon.h>
#include <arm_sve.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

/* Enough chains for four units with a latency of 4 cycles; with the operand they fit 32 registers. */
#define EVERY_CHAIN(X)                                                                                       \
    X(0)                                                                                                     \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)
enum { CHAINS = 20 };

/* As in peaks_x86.c. */
static const volatile float the_small = 0x1p-40F, the_half = 0x1p-10F, the_tiny = 0x1p-7F, the_one = 1;
static const volatile int8_t the_byte = 3;

#define STEP(k)  x##k = NEXT(x##k);
#define TOTAL(k) x0 = SUM(x0, x##k);

/* Defines run_<name>: repeats NEXT on every chain, which starts as FIRST; SUM adds two chains, and `result`
 * turns x0 into a float. Chains are variables of their own, because SVE's vectors cannot be elements of
 * arrays. */
#define PEAK_LOOP(name, isa, operands, result)                                                               \
    __attribute__((target(isa))) static float run_##name(uint64_t iterations) {                              \
        operands;                                                                                            \
        EVERY_CHAIN(START)                                                                                   \
        for (uint64_t i = 0; i < iterations; i++) {                                                          \
            EVERY_CHAIN(STEP)                                                                                \
        }                                                                                                    \
        EVERY_CHAIN(TOTAL)                                                                                   \
        return result;                                                                                       \
    }

#define START(k)  float32x4_t x##k = vdupq_n_f32(the_small);
#define SUM(x, y) vaddq_f32(x, y)
#define NEXT(x)   vbfmmlaq_f32(x, a, a)
PEAK_LOOP(bfmmla, "arch=armv8.2-a+bf16",
          const bfloat16x8_t a = vreinterpretq_bf16_f32(vdupq_n_f32(the_small)), vaddvq_f32(x0))
#undef NEXT
#define NEXT(x) vbfdotq_f32(x, a, a)
PEAK_LOOP(bfdot, "arch=armv8.2-a+bf16", const bfloat16x8_t a = vreinterpretq_bf16_f32(vdupq_n_f32(the_small)),
          vaddvq_f32(x0))
#undef NEXT
#undef START
#undef SUM

/* x + a * a rounds to x. A product added to `a` would need a copy of it for every step. */
#define START(k)  float16x8_t x##k = vdupq_n_f16((float16_t)the_one);
#define SUM(x, y) vaddq_f16(x, y)
#define NEXT(x)   vfmaq_f16(x, a, a)
PEAK_LOOP(fmla_f16, "arch=armv8.2-a+fp16", const float16x8_t a = vdupq_n_f16((float16_t)the_tiny),
          (float)vgetq_lane_f16(x0, 0))
#undef NEXT
#undef START
#undef SUM

#define START(k)  int32x4_t x##k = vdupq_n_s32(the_byte);
#define SUM(x, y) vaddq_s32(x, y)
#define NEXT(x)   vmmlaq_s32(x, a, a)
PEAK_LOOP(smmla, "arch=armv8.2-a+i8mm", const int8x16_t a = vdupq_n_s8(the_byte), (float)vaddvq_s32(x0))
#undef NEXT
#define NEXT(x) vdotq_s32(x, a, a)
PEAK_LOOP(sdot, "arch=armv8.2-a+dotprod", const int8x16_t a = vdupq_n_s8(the_byte), (float)vaddvq_s32(x0))
#undef NEXT
#undef START
#undef SUM

#define START(k)  svfloat32_t x##k = svdup_n_f32(the_small);
#define SUM(x, y) svadd_f32_x(svptrue_b32(), x, y)
#define NEXT(x)   svmad_f32_x(svptrue_b32(), x, a, a)
PEAK_LOOP(sve_fmla, "arch=armv8.2-a+sve", const svfloat32_t a = svdup_n_f32(the_small),
          svaddv_f32(svptrue_b32(), x0))
#undef NEXT
#define NEXT(x) svbfmmla_f32(x, a, a)
PEAK_LOOP(sve_bfmmla, "arch=armv8.2-a+sve+bf16",
          const svbfloat16_t a = svreinterpret_bf16_f32(svdup_n_f32(the_small)),
          svaddv_f32(svptrue_b32(), x0))
#undef NEXT
#undef START
#undef SUM

/* x * a + a converges to a / (1 - a), close to a. */
#define START(k)  svfloat16_t x##k = svdup_n_f16((float16_t)the_half);
#define SUM(x, y) svadd_f16_x(svptrue_b16(), x, y)
#define NEXT(x)   svmad_f16_x(svptrue_b16(), x, a, a)
PEAK_LOOP(sve_fmla_f16, "arch=armv8.2-a+sve", const svfloat16_t a = svdup_n_f16((float16_t)the_half),
          (float)svlastb_f16(svptrue_b16(), x0))
#undef NEXT
#undef START
#undef SUM

#define START(k)  svint32_t x##k = svdup_n_s32(the_byte);
#define SUM(x, y) svadd_s32_x(svptrue_b32(), x, y)
#define NEXT(x)   svmmla_s32(x, a, a)
PEAK_LOOP(sve_smmla, "arch=armv8.2-a+sve+i8mm", const svint8_t a = svdup_n_s8(the_byte),
          (float)svlastb_s32(svptrue_b32(), x0))
#undef NEXT
#define NEXT(x) svdot_s32(x, a, a)
PEAK_LOOP(sve_sdot, "arch=armv8.2-a+sve", const svint8_t a = svdup_n_s8(the_byte),
          (float)svlastb_s32(svptrue_b32(), x0))
#undef NEXT
#undef START
#undef SUM

static bool has_bf16(void) {
    return getauxval(AT_HWCAP2) & HWCAP2_BF16;
}

static bool has_f16(void) {
    return getauxval(AT_HWCAP) & HWCAP_ASIMDHP;
}

static bool has_i8mm(void) {
    return getauxval(AT_HWCAP2) & HWCAP2_I8MM;
}

static bool has_dot(void) {
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}

static bool has_sve(void) {
    return getauxval(AT_HWCAP) & HWCAP_SVE;
}

static bool has_sve_bf16(void) {
    return getauxval(AT_HWCAP2) & HWCAP2_SVEBF16;
}

static bool has_sve_i8mm(void) {
    return getauxval(AT_HWCAP2) & HWCAP2_SVEI8MM;
}

/* Vectors of SVE in units of 128 bit. */
__attribute__((target("arch=armv8.2-a+sve"))) static uint64_t sve_units(void) {
    return svcntw() / 4;
}

/* FLOP of a vector of 128 bit, a multiply-add counting 2. A matrix instruction multiplies two rows by two
 * columns, of four bf16 or eight int8. */
const struct pdnn_peak pdnn_peaks[] = {
    {"f32", "sve_fmla", has_sve, run_sve_fmla, CHAINS *UINT64_C(4) * 2, sve_units},
    {"bf16", "sve_bfmmla", has_sve_bf16, run_sve_bfmmla, CHAINS *UINT64_C(2) * 2 * 4 * 2, sve_units},
    {"bf16", "bfmmla", has_bf16, run_bfmmla, CHAINS *UINT64_C(2) * 2 * 4 * 2, NULL},
    {"bf16", "bfdot", has_bf16, run_bfdot, CHAINS *UINT64_C(4) * 2 * 2, NULL},
    {"f16", "sve_fmla_f16", has_sve, run_sve_fmla_f16, CHAINS *UINT64_C(8) * 2, sve_units},
    {"f16", "fmla_f16", has_f16, run_fmla_f16, CHAINS *UINT64_C(8) * 2, NULL},
    {"int8", "sve_smmla", has_sve_i8mm, run_sve_smmla, CHAINS *UINT64_C(2) * 2 * 8 * 2, sve_units},
    {"int8", "sve_sdot", has_sve, run_sve_sdot, CHAINS *UINT64_C(4) * 4 * 2, sve_units},
    {"int8", "smmla", has_i8mm, run_smmla, CHAINS *UINT64_C(2) * 2 * 8 * 2, NULL},
    {"int8", "sdot", has_dot, run_sdot, CHAINS *UINT64_C(4) * 4 * 2, NULL},
    {NULL, NULL, NULL, NULL, 0, NULL},
};

#endif
