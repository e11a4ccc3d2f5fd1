/* Instruction-set levels. Every kernel is compiled once per level and runs at the widest one that
 * the processor has and the limit allows. kernel.h defines how kernels are dispatched; this header
 * is for everyone else. */
#ifndef RUNTIME_KERNELS_SIMD_LEVEL_H
#define RUNTIME_KERNELS_SIMD_LEVEL_H

/* Vectors of 4, 8 and 16 floats. meson.build has the compiler flags of each level. */
enum pdnn_level { PDNN_LEVEL_BASELINE, PDNN_LEVEL_AVX2, PDNN_LEVEL_AVX512, PDNN_LEVEL_COUNT };

/* The level that kernels run at. Read-only outside level.c; set with pdnn_level_limit. */
extern enum pdnn_level pdnn_level_in_force;

/* The processor's widest level, whatever the limit: for loops that measure the machine. */
extern enum pdnn_level pdnn_level_of_machine;

/* "baseline", "avx2" or "avx512"; on aarch64 the only level is the baseline, called "asimd". */
extern const char *const pdnn_level_names[PDNN_LEVEL_COUNT];

/* The name of the level in force. */
const char *pdnn_level_name(void);

/* Caps kernels at vectors of `lanes` floats. Call at start-up, before the first kernel runs. */
void pdnn_level_limit(int lanes);

#endif
