/* Instruction sets as a run setting names them: what a library may use at most. What a processor or a library
 * has of them is not known here. */
#ifndef MODELS_ISA_H
#define MODELS_ISA_H

/* The values of the run setting `isa`. */
enum pdnn_isa {
    PDNN_ISA_DEFAULT, /* no limit but the library's own */
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
    PDNN_ISA_COUNT
};

/* oneDNN's names; by enum pdnn_isa, and a NULL. */
extern const char *const pdnn_isa_names[PDNN_ISA_COUNT + 1];

#endif
