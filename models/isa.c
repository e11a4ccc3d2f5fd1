#include "models/isa.h"

const char *const pdnn_isa_names[PDNN_ISA_COUNT + 1] = {
    [PDNN_ISA_DEFAULT] = "default",
    [PDNN_ISA_SSE41] = "sse41",
    [PDNN_ISA_AVX] = "avx",
    [PDNN_ISA_AVX2] = "avx2",
    [PDNN_ISA_AVX2_VNNI] = "avx2_vnni",
    [PDNN_ISA_AVX2_VNNI_2] = "avx2_vnni_2",
    [PDNN_ISA_AVX512_CORE] = "avx512_core",
    [PDNN_ISA_AVX512_CORE_VNNI] = "avx512_core_vnni",
    [PDNN_ISA_AVX512_CORE_BF16] = "avx512_core_bf16",
    [PDNN_ISA_AVX512_CORE_FP16] = "avx512_core_fp16",
    [PDNN_ISA_AVX512_CORE_AMX] = "avx512_core_amx",
    [PDNN_ISA_AVX512_CORE_AMX_FP16] = "avx512_core_amx_fp16",
    [PDNN_ISA_ASIMD] = "asimd",
    [PDNN_ISA_SVE_128] = "sve_128",
    [PDNN_ISA_SVE_256] = "sve_256",
    [PDNN_ISA_SVE_512] = "sve_512",
};
