/* Instruction sets as the run setting `isa` names them: a cap on what may be used. What a processor or a
 * library supports is not known here. */
#ifndef MODELS_ISA_H
#define MODELS_ISA_H

/* The values of the run setting `isa`: x86-64's, then Arm's, each in growing order. A sweep may name all of
 * them; a processor of the other architecture has none. */
enum pdnn_isa {
    PDNN_ISA_DEFAULT, /* no limit beyond the library's own */
    PDNN_ISA_SSE41,
    PDNN_ISA_AVX,
    PDNN_ISA_AVX2,
    PDNN_ISA_AVX2_VNNI,
    PDNN_ISA_AVX2_VNNI_2,
    PDNN_ISA_AVX512_CORE,
    PDNN_ISA_AVX512_CORE_VNNI,
    PDNN_ISA_AVX512_CORE_BF16,
    PDNN_ISA_AVX512_CORE_FP16,
    PDNN_ISA_AVX512_CORE_AMX,
    PDNN_ISA_AVX512_CORE_AMX_FP16,
    PDNN_ISA_ASIMD,
    PDNN_ISA_SVE_128, /* SVE with vectors of at least 128 bit */
    PDNN_ISA_SVE_256,
    PDNN_ISA_SVE_512,
    PDNN_ISA_COUNT
};

/* oneDNN's names, indexed by enum pdnn_isa, then NULL. */
extern const char *const pdnn_isa_names[PDNN_ISA_COUNT + 1];

#endif
