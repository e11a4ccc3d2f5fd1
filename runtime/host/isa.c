#include "runtime/host/isa.h"

#include "base/str.h"

/* needs: words that struct pdnn_host's isa must contain. lanes: floats in a vector with multiply-adds, since
 * our kernels do not use AVX without them, and SVE not at all. */
static const struct {
    const char *needs;
    int lanes;
} rows[PDNN_ISA_COUNT] = {
    [PDNN_ISA_DEFAULT] = {"", 16},
    [PDNN_ISA_SSE41] = {"sse4_1", 4},
    [PDNN_ISA_AVX] = {"sse4_1 avx", 4},
    [PDNN_ISA_AVX2] = {"avx2 fma", 8},
    [PDNN_ISA_AVX2_VNNI] = {"avx2 fma avx_vnni", 8},
    [PDNN_ISA_AVX2_VNNI_2] = {"avx2 fma avx_vnni avx_ne_convert", 8},
    [PDNN_ISA_AVX512_CORE] = {"fma avx512f avx512bw", 16},
    [PDNN_ISA_AVX512_CORE_VNNI] = {"fma avx512f avx512bw avx512_vnni", 16},
    [PDNN_ISA_AVX512_CORE_BF16] = {"avx512f avx512bw avx512_vnni avx512_bf16", 16},
    [PDNN_ISA_AVX512_CORE_FP16] = {"avx512f avx512bw avx512_vnni avx512_bf16 avx512_fp16", 16},
    [PDNN_ISA_AVX512_CORE_AMX] = {"avx512f avx512bw avx512_vnni avx512_bf16 amx_bf16 amx_int8", 16},
    [PDNN_ISA_AVX512_CORE_AMX_FP16] = {"avx512f avx512bw avx512_fp16 amx_bf16 amx_int8 amx_fp16", 16},
    [PDNN_ISA_ASIMD] = {"asimd", 4},
    [PDNN_ISA_SVE_128] = {"asimd sve", 4},
    [PDNN_ISA_SVE_256] = {"asimd sve sve_256", 4},
    [PDNN_ISA_SVE_512] = {"asimd sve sve_256 sve_512", 4},
};

bool pdnn_isa_is_here(const struct pdnn_host *host, enum pdnn_isa isa) {
    const char *needs = rows[isa].needs, *word;
    bool is_here = true;
    for (size_t length; (word = pdnn_part_next(&needs, " ", &length));)
        is_here = is_here && (!length || pdnn_parts_have(host->isa, " ", word, length));
    return is_here;
}

enum pdnn_isa pdnn_isa_widest(const struct pdnn_host *host) {
    int isa = PDNN_ISA_COUNT - 1;
    while (!pdnn_isa_is_here(host, (enum pdnn_isa)isa))
        isa--;
    return (enum pdnn_isa)isa;
}

int pdnn_isa_lanes(enum pdnn_isa isa) {
    return rows[isa].lanes;
}
