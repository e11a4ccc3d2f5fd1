#include "runtime/core/limit.h"
#include "runtime/facts/isa.h"
#include "runtime/kernels/gemm/tiles.h"
#include "tests/cmocka_all.h"

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
        {"asimd sve sve2", PDNN_ISA_DEFAULT},
        {"sse4_1", PDNN_ISA_SSE41},
        {"sse4_1 avx", PDNN_ISA_AVX},
        {"sse4_1 avx avx2", PDNN_ISA_AVX}, /* without multiply-adds */
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

/* A later isa need not have an earlier one. */
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
}

static void test_limit_reaches_the_tiles(void **state) {
    (void)state;
    const char *own = pdnn_tiles_name();
    pdnn_isa_limit_kernels(PDNN_ISA_AVX2);
    assert_string_not_equal(pdnn_tiles_name(), "avx512");
    pdnn_isa_limit_kernels(PDNN_ISA_AVX);
    assert_string_equal(pdnn_tiles_name(), "baseline");
    assert_int_equal(pdnn_tiles_here()->lanes, 4);
    pdnn_isa_limit_kernels(PDNN_ISA_DEFAULT);
    assert_string_equal(pdnn_tiles_name(), own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widest_of_processors),
        cmocka_unit_test(test_is_here_asks_for_every_word),
        cmocka_unit_test(test_limit_reaches_the_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
