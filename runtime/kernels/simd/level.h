/* Instruction-set levels: every kernel is compiled once for each, and the widest one that the processor has
 * and the limit allows runs. kernel.h is how a kernel becomes such a one; this is what others ask of it. */
#ifndef RUNTIME_KERNELS_SIMD_LEVEL_H
#define RUNTIME_KERNELS_SIMD_LEVEL_H

/* Floats in a vector: 4, 8 and 16. The build has a row of compiler flags for each (meson.build). */
enum pdnn_level { PDNN_LEVEL_BASELINE, PDNN_LEVEL_AVX2, PDNN_LEVEL_AVX512, PDNN_LEVEL_COUNT };

/* The level that kernels run at. Read it; pdnn_level_limit writes it. */
extern enum pdnn_level pdnn_level_in_force;

/* The widest level that the processor has, whatever the limit is: for the loops that measure the machine. */
extern enum pdnn_level pdnn_level_of_machine;

/* "baseline", "avx2" or "avx512". */
extern const char *const pdnn_level_names[PDNN_LEVEL_COUNT];

/* The name of the level in force. */
const char *pdnn_level_name(void);

/* At start-up, before the first kernel runs: from now on no vectors of more floats than that. */
void pdnn_level_limit(int lanes);

#endif
