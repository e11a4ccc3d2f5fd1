#define _GNU_SOURCE /* syscall */
/* x86-64's peaks, with vectors of 256 and 512 bit and with tiles; elsewhere there are none. */
#ifndef __OPTIMIZE__
#error "peaks measure roofs: they are optimized in every build type"
#endif

#include "runtime/kernels/roofs/peaks.h"

#include <stddef.h>

#if defined(__x86_64__)

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Enough chains for two units with a latency of up to 6 cycles; with the operands they fit 16 registers. */
enum { CHAINS = 12 };

/* Volatile, so that the compiler cannot see where a chain converges and drop the loop. Sums of products of
 * the small value stay small; those of bytes wrap around. */
static const volatile float the_small = 0x1p-40F;
static const volatile int the_bytes = 0x01020304;
static const volatile short the_half = 0x1400; /* 2^-10 */

/* Defines run_<name>: repeats `step` on every chain x, which starts as `first`; `sum` adds up the chains and
 * `result` turns that into a float. */
#define PEAK_LOOP(name, isa, type, operands, first, step, sum, result)                                       \
    __attribute__((target(isa))) static float run_##name(uint64_t iterations) {                              \
        operands;                                                                                            \
        type chain[CHAINS], x;                                                                               \
        for (int k = 0; k < CHAINS; k++)                                                                     \
            chain[k] = first;                                                                                \
        for (uint64_t i = 0; i < iterations; i++) {                                                          \
            _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; k++) {                                      \
                x = chain[k];                                                                                \
                chain[k] = step;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        x = chain[0];                                                                                        \
        for (int k = 1; k < CHAINS; k++)                                                                     \
            x = sum(x, chain[k]);                                                                            \
        return result;                                                                                       \
    }

PEAK_LOOP(avx512_bf16, "avx512f,avx512bw,avx512vl,avx512bf16", __m512,
          __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(the_small), _mm512_set1_ps(the_small)),
          _mm512_set1_ps(the_small), _mm512_dpbf16_ps(x, a, a), _mm512_add_ps, _mm512_reduce_add_ps(x))

/* x * a + a converges to a / (1 - a), close to a. */
PEAK_LOOP(avx512_fp16, "avx512f,avx512bw,avx512vl,avx512fp16", __m512h,
          __m512h a = _mm512_castsi512_ph(_mm512_set1_epi16(the_half)), a, _mm512_fmadd_ph(x, a, a),
          _mm512_add_ph, (float)_mm512_reduce_add_ph(x))

PEAK_LOOP(avx512_vnni, "avx512f,avx512bw,avx512vnni", __m512i, __m512i a = _mm512_set1_epi32(the_bytes), a,
          _mm512_dpbusd_epi32(x, a, a), _mm512_add_epi32, (float)_mm_cvtsi128_si32(_mm512_castsi512_si128(x)))

PEAK_LOOP(avx_vnni, "avx2,avxvnni", __m256i, __m256i a = _mm256_set1_epi32(the_bytes), a,
          _mm256_dpbusd_avx_epi32(x, a, a), _mm256_add_epi32, (float)_mm256_extract_epi32(x, 0))

/* Without VNNI: u8 * s8 products in pairs to 16 bit, pairs of those to 32 bit, then the sum. */
PEAK_LOOP(avx2_int8, "avx2", __m256i, __m256i a = _mm256_set1_epi32(the_bytes);
          __m256i one = _mm256_set1_epi16(1), a,
          _mm256_add_epi32(x, _mm256_madd_epi16(_mm256_maddubs_epi16(x, a), one)), _mm256_add_epi32,
          (float)_mm256_extract_epi32(x, 0))

static bool has_avx512_bf16(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bf16");
}

static bool has_avx512_fp16(void) {
    return __builtin_cpu_supports("avx512fp16");
}

static bool has_avx512_vnni(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
}

static bool has_avx_vnni(void) {
    return __builtin_cpu_supports("avxvnni");
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}

/* Two tiles of each operand make four products, as many chains as eight tiles allow. */
enum { TILE_ROWS = 16, TILE_ROW_BYTES = 64, TILE_CHAINS = 4 };

/* The operand of LDTILECFG (Intel's manual, "Tile configuration"): palette 1, eight tiles of 16 rows
 * of 64 bytes. */
struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Linux enables tile state only for a process that requests it. */
static bool may_use_tiles(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static bool has_amx_bf16(void) {
    return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && may_use_tiles();
}

static bool has_amx_int8(void) {
    return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") && may_use_tiles();
}

/* Defines run_<name>: multiplies tiles 4 and 5 with 6 and 7 and accumulates in tiles 0 to 3. */
#define TILE_LOOP(name, isa, product)                                                                        \
    __attribute__((target("amx-tile," isa))) static float run_##name(uint64_t iterations) {                  \
        struct tile_config config = {.palette = 1};                                                          \
        uint8_t data[TILE_ROWS * TILE_ROW_BYTES] = {0};                                                      \
        for (int k = 0; k < 8; k++) {                                                                        \
            config.row_bytes[k] = TILE_ROW_BYTES;                                                            \
            config.rows[k] = TILE_ROWS;                                                                      \
        }                                                                                                    \
        _tile_loadconfig(&config);                                                                           \
        _tile_zero(0);                                                                                       \
        _tile_zero(1);                                                                                       \
        _tile_zero(2);                                                                                       \
        _tile_zero(3);                                                                                       \
        _tile_loadd(4, data, TILE_ROW_BYTES);                                                                \
        _tile_loadd(5, data, TILE_ROW_BYTES);                                                                \
        _tile_loadd(6, data, TILE_ROW_BYTES);                                                                \
        _tile_loadd(7, data, TILE_ROW_BYTES);                                                                \
        for (uint64_t i = 0; i < iterations; i++) {                                                          \
            product(0, 4, 6);                                                                                \
            product(1, 4, 7);                                                                                \
            product(2, 5, 6);                                                                                \
            product(3, 5, 7);                                                                                \
        }                                                                                                    \
        _tile_stored(0, data, TILE_ROW_BYTES);                                                               \
        _tile_release();                                                                                     \
        return data[0];                                                                                      \
    }

TILE_LOOP(amx_bf16, "amx-bf16", _tile_dpbf16ps)
TILE_LOOP(amx_int8, "amx-int8", _tile_dpbusd)

/* A multiply-add counts 2. Each of the 16 lanes of 32 bit does a pair of bf16 or four int8. */
const struct pdnn_peak pdnn_peaks[] = {
    {"bf16", "amx_bf16", has_amx_bf16, run_amx_bf16, TILE_CHAINS *UINT64_C(16) * 16 * 32 * 2, NULL},
    {"bf16", "avx512_bf16", has_avx512_bf16, run_avx512_bf16, CHAINS *UINT64_C(16) * 2 * 2, NULL},
    {"f16", "avx512_fp16", has_avx512_fp16, run_avx512_fp16, CHAINS *UINT64_C(32) * 2, NULL},
    {"int8", "amx_int8", has_amx_int8, run_amx_int8, TILE_CHAINS *UINT64_C(16) * 16 * 64 * 2, NULL},
    {"int8", "avx512_vnni", has_avx512_vnni, run_avx512_vnni, CHAINS *UINT64_C(16) * 4 * 2, NULL},
    {"int8", "avx_vnni", has_avx_vnni, run_avx_vnni, CHAINS *UINT64_C(8) * 4 * 2, NULL},
    {"int8", "avx2", has_avx2, run_avx2_int8, CHAINS *UINT64_C(8) * 4 * 2, NULL},
    {NULL, NULL, NULL, NULL, 0, NULL},
};

#elif !defined(__aarch64__)

const struct pdnn_peak pdnn_peaks[] = {{NULL, NULL, NULL, NULL, 0, NULL}};

#endif
