#include "runtime/host/isa.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/update/optimizer.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct pdnn_host host_of(const char *isa) {
    struct pdnn_host host = {0};
    snprintf(host.isa, sizeof host.isa, "%s", isa);
    return host;
}

static void test_widest_of_processors(void **state) {
    (void)state;
    static const struct {
        const char *words;
        enum pdnn_isa widest;
    } rows[] = {
        {"", PDNN_ISA_DEFAULT},
        {"asimd asimddp", PDNN_ISA_ASIMD},
        {"asimd sve sve2", PDNN_ISA_SVE_128},
        {"asimd bf16 i8mm sve sve_256", PDNN_ISA_SVE_256},
        {"asimd sve sve_256 sve_512", PDNN_ISA_SVE_512},
        {"sse4_1", PDNN_ISA_SSE41},
        {"sse4_1 avx", PDNN_ISA_AVX},
        {"sse4_1 avx avx2", PDNN_ISA_AVX}, /* without FMA */
        {"sse4_1 avx avx2 fma", PDNN_ISA_AVX2},
        {"sse4_1 avx avx2 fma avx_vnni", PDNN_ISA_AVX2_VNNI},
        {"sse4_1 avx avx2 fma avx512f", PDNN_ISA_AVX2},
        {"sse4_1 avx avx2 fma avx512f avx512bw", PDNN_ISA_AVX512_CORE},
        {"sse4_1 avx avx2 fma avx512f avx512bw avx512_vnni avx512_bf16", PDNN_ISA_AVX512_CORE_BF16},
        {"sse4_1 avx avx2 fma avx_vnni avx512f avx512bw avx512_vnni avx512_bf16 avx512_fp16 amx_bf16 "
         "amx_int8",
         PDNN_ISA_AVX512_CORE_AMX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_host host = host_of(rows[i].words);
        assert_string_equal(pdnn_isa_names[pdnn_isa_widest(&host)], pdnn_isa_names[rows[i].widest]);
    }
}

/* A later isa need not include an earlier one. */
static void test_is_here_asks_for_every_word(void **state) {
    (void)state;
    const struct pdnn_host server = host_of("sse4_1 avx avx2 fma avx512f avx512bw avx512_vnni"),
                           desktop = host_of("sse4_1 avx avx2 fma avx_vnni");
    assert_true(pdnn_isa_is_here(&server, PDNN_ISA_AVX512_CORE_VNNI));
    assert_true(pdnn_isa_is_here(&server, PDNN_ISA_SSE41));
    assert_false(pdnn_isa_is_here(&server, PDNN_ISA_AVX2_VNNI));
    assert_false(pdnn_isa_is_here(&server, PDNN_ISA_AVX512_CORE_BF16));
    assert_true(pdnn_isa_is_here(&desktop, PDNN_ISA_AVX2_VNNI));
    assert_false(pdnn_isa_is_here(&desktop, PDNN_ISA_AVX512_CORE));
    assert_true(pdnn_isa_is_here(&desktop, PDNN_ISA_DEFAULT));
    assert_false(pdnn_isa_is_here(&desktop, PDNN_ISA_ASIMD));
    const struct pdnn_host graviton = host_of("asimd sve sve_256");
    assert_true(pdnn_isa_is_here(&graviton, PDNN_ISA_SVE_128));
    assert_false(pdnn_isa_is_here(&graviton, PDNN_ISA_SVE_512));
    assert_false(pdnn_isa_is_here(&graviton, PDNN_ISA_SSE41));
}

static void test_limit_chooses_the_level(void **state) {
    (void)state;
    static const struct {
        enum pdnn_isa isa;
        enum pdnn_level most;
    } rows[] = {
        {PDNN_ISA_DEFAULT, PDNN_LEVEL_AVX512},         {PDNN_ISA_SSE41, PDNN_LEVEL_BASELINE},
        {PDNN_ISA_AVX, PDNN_LEVEL_BASELINE},           {PDNN_ISA_AVX2, PDNN_LEVEL_AVX2},
        {PDNN_ISA_AVX2_VNNI_2, PDNN_LEVEL_AVX2},       {PDNN_ISA_AVX512_CORE, PDNN_LEVEL_AVX512},
        {PDNN_ISA_AVX512_CORE_AMX, PDNN_LEVEL_AVX512}, {PDNN_ISA_SVE_512, PDNN_LEVEL_BASELINE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum pdnn_level level = rows[i].most < pdnn_level_of_machine ? rows[i].most : pdnn_level_of_machine;
        pdnn_level_limit(pdnn_isa_lanes(rows[i].isa));
        assert_int_equal(pdnn_level_in_force, level);
        assert_string_equal(pdnn_level_name(), pdnn_level_names[level]);
    }
    pdnn_level_limit(pdnn_isa_lanes(PDNN_ISA_DEFAULT));
    assert_int_equal(pdnn_level_in_force, pdnn_level_of_machine);
}

/* A version with FMA rounds once where x86-64's baseline rounds twice, which shows that
 * the limit selects the version. */
static void test_limit_reaches_the_kernels(void **state) {
    (void)state;
#ifdef __FP_FAST_FMAF /* the baseline has FMA */
    const bool baseline_fuses = true;
#else
    const bool baseline_fuses = false;
#endif
    float v = 0.1F, g = 0.3F, w[3] = {1, 1, 1};
    for (int level = 0; level <= (int)pdnn_level_of_machine; level++) {
        float velocity = v;
        const struct pdnn_update_job job = {.rule = PDNN_UPDATE_MOMENTUM,
                                            .w = &w[level],
                                            .g = &g,
                                            .state = {&velocity},
                                            .coef = {1, 0.7},
                                            .elements = 1};
        pdnn_level_limit(4 << level);
        pdnn_update_run(&job, 1);
        volatile float product = 0.7F * v;
        assert_true(velocity == (level || baseline_fuses ? fmaf(0.7F, v, g) : product + g));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widest_of_processors),
        cmocka_unit_test(test_is_here_asks_for_every_word),
        cmocka_unit_test(test_limit_chooses_the_level),
        cmocka_unit_test(test_limit_reaches_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
