/* How a function becomes a kernel. Its file is compiled once per instruction-set level (level.h), with
 * PDNN_LEVEL as the level's name and PDNN_LANES as the floats in a vector.
 *
 *   PDNN_KERNEL(pdnn_x_run, (const struct pdnn_x *job, int64_t threads), (job, threads)) { ... }
 *
 * defines pdnn_x_run_avx2 and so on. The baseline's compilation also defines the pdnn_x_run that the header
 * declares, which calls the version of the level in force. Functions shared between kernel files carry the
 * level in their name: PDNN_HERE(pdnn_x_row). Everything else in such a file, and in the headers it includes,
 * is static, so that the linker cannot mix up the code of two levels. */
#ifndef RUNTIME_KERNELS_SIMD_KERNEL_H
#define RUNTIME_KERNELS_SIMD_KERNEL_H

#include "runtime/kernels/simd/level.h"

/* For helpers that kernels call with constants, so that each call gets its own specialized loop. */
#define PDNN_INLINE static inline __attribute__((always_inline))

#define PDNN_PASTE(name, level)    name##_##level
#define PDNN_AT_LEVEL(name, level) PDNN_PASTE(name, level)
#define PDNN_HERE(name)            PDNN_AT_LEVEL(name, PDNN_LEVEL)

/* At the level with vectors of 16, the version for vectors of 8, which every such processor can run. */
#if defined(PDNN_LANES) && PDNN_LANES == 16
#define PDNN_EIGHTS(name) name##_avx2
#else
#define PDNN_EIGHTS(name) PDNN_HERE(name)
#endif

/* In the order of enum pdnn_level. */
#if defined(__x86_64__)
#define PDNN_DECLARE(type, name, parameters)                                                                 \
    type name##_baseline parameters;                                                                         \
    type name##_avx2 parameters;                                                                             \
    type name##_avx512 parameters;
#define PDNN_OF_LEVELS(name)                                                                                 \
    { name##_baseline, name##_avx2, name##_avx512 }
#else
#define PDNN_DECLARE(type, name, parameters) type name##_baseline parameters;
#define PDNN_OF_LEVELS(name)                                                                                 \
    { name##_baseline }
#endif

#ifdef PDNN_DISPATCHES
#define PDNN_DISPATCH(type, name, parameters, gives, level, arguments)                                       \
    type name parameters {                                                                                   \
        static type(*const pdnn_of_levels[]) parameters = PDNN_OF_LEVELS(name);                              \
        gives pdnn_of_levels[level] arguments;                                                               \
    }
#else
#define PDNN_DISPATCH(type, name, parameters, gives, level, arguments)
#endif

#define PDNN_KERNEL(name, parameters, arguments)                                                             \
    PDNN_DECLARE(void, name, parameters)                                                                     \
    PDNN_DISPATCH(void, name, parameters, , pdnn_level_in_force, arguments)                                  \
    void PDNN_HERE(name) parameters

/* A kernel that returns a value. */
#define PDNN_KERNEL_VALUE(type, name, parameters, arguments)                                                 \
    PDNN_DECLARE(type, name, parameters)                                                                     \
    PDNN_DISPATCH(type, name, parameters, return, pdnn_level_in_force, arguments)                            \
    type PDNN_HERE(name) parameters

/* A kernel that measures the machine: runs at the processor's widest level, whatever the limit. */
#define PDNN_ROOF(type, name, parameters, arguments)                                                         \
    PDNN_DECLARE(type, name, parameters)                                                                     \
    PDNN_DISPATCH(type, name, parameters, return, pdnn_level_of_machine, arguments)                          \
    type PDNN_HERE(name) parameters

#endif
