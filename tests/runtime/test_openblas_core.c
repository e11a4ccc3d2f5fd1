/* Which core OpenBLAS is asked for, by the one it picked and the processor. */
#include "runtime/backends/openblas/core.h"
#include "tests/cmocka_all.h"

#include <stdio.h>

enum { PROCESSORS = 6, CORES = 10 };

static const char *const processors[PROCESSORS] = {
    "asimd sve",
    "sse4_1",
    "sse4_1 avx avx2 fma",
    "sse4_1 avx avx2 fma avx512f avx512bw",
    "sse4_1 avx avx2 fma avx512f avx512bw avx512_vnni avx512_bf16",
    "sse4_1 avx avx2 fma avx512f avx512bw avx512_vnni avx512_bf16 amx_bf16 amx_int8",
};

static void test_core_for_the_processor(void **state) {
    (void)state;
    static const struct {
        const char *core, *asked[PROCESSORS];
    } rows[CORES] = {
        {"Prescott", {NULL, NULL, "Haswell", "SkylakeX", "SkylakeX", "SkylakeX"}},
        {"Sandybridge", {NULL, NULL, "Haswell", "SkylakeX", "SkylakeX", "SkylakeX"}},
        {"Haswell", {NULL, NULL, NULL, "SkylakeX", "SkylakeX", "SkylakeX"}},
        {"Zen", {NULL, NULL, NULL, "SkylakeX", "SkylakeX", "SkylakeX"}},
        {"SkylakeX", {NULL, NULL, NULL, NULL, NULL, NULL}},
        {"Cooperlake", {NULL, NULL, NULL, NULL, NULL, NULL}},
        {"SapphireRapids", {NULL, NULL, NULL, NULL, NULL, NULL}},
        {"armv8", {NULL, NULL, NULL, NULL, NULL, NULL}}, /* whether SVE's kernels are better is not known */
        {"neoversev1", {NULL, NULL, NULL, NULL, NULL, NULL}},
        {"neoversev9", {NULL, NULL, NULL, NULL, NULL, NULL}}, /* unknown: perhaps newer than this table */
    };
    for (int i = 0; i < CORES; i++) {
        for (int k = 0; k < PROCESSORS; k++) {
            struct pdnn_host host = {0};
            snprintf(host.isa, sizeof host.isa, "%s", processors[k]);
            const char *asked = pdnn_openblas_core_for(rows[i].core, &host, PDNN_ISA_DEFAULT);
            assert_string_equal(asked ? asked : "", rows[i].asked[k] ? rows[i].asked[k] : "");
        }
    }
}

static void test_core_for_an_isa(void **state) {
    (void)state;
    static const struct {
        const char *core;
        enum pdnn_isa isa;
        const char *asked;
    } rows[] = {
        {"SkylakeX", PDNN_ISA_AVX2, "Haswell"},
        {"Cooperlake", PDNN_ISA_AVX512_CORE, "SkylakeX"},
        {"SapphireRapids", PDNN_ISA_AVX512_CORE_BF16, "Cooperlake"},
        {"Zen", PDNN_ISA_AVX2, ""},
        {"Haswell", PDNN_ISA_SSE41, "Penryn"},
        {"Zen5", PDNN_ISA_AVX, "Sandybridge"}, /* unknown: it might not stay within */
        {"neoversev1", PDNN_ISA_ASIMD, "ARMV8"},
        {"neoversen1", PDNN_ISA_ASIMD, ""},
        {"neoversen2", PDNN_ISA_SVE_128, ""},
        {"SkylakeX", PDNN_ISA_SVE_128, "ARMV8SVE"},
    };
    struct pdnn_host host = {0};
    snprintf(host.isa, sizeof host.isa, "%s", processors[PROCESSORS - 1]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *asked = pdnn_openblas_core_for(rows[i].core, &host, rows[i].isa);
        assert_string_equal(asked ? asked : "", rows[i].asked);
        assert_int_equal(pdnn_openblas_core_is_within(rows[i].core, rows[i].isa), !*rows[i].asked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_for_the_processor),
        cmocka_unit_test(test_core_for_an_isa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
