/* How a function becomes a kernel: its file is compiled once per instruction-set level (level.h), with
 * PDNN_LEVEL as the level's name and PDNN_LANES as the floats in its vectors; so are the rows
 * of ops in runtime/steps, which may have loops of their own.
 *
 *   PDNN_KERNEL(pdnn_x_run, (const struct pdnn_x *job, int64_t threads), (job, threads)) { ... }
 *
 * defines pdnn_x_run_avx2 and so on, and, in the baseline's compilation, the pdnn_x_run that the header
 * declares: it calls the one of the level in force. What kernel files share with each other has the level in
 * its name, PDNN_HERE(pdnn_x_row); everything else in such a file, and in the headers it includes, is static,
 * so that the linker cannot take one level's code for another's. */
#ifndef RUNTIME_KERNELS_SIMD_KERNEL_H
#define RUNTIME_KERNELS_SIMD_KERNEL_H

#include "runtime/kernels/simd/level.h"

/* For what kernels call with constants, which make a loop of their own. */
#define PDNN_INLINE static inline __attribute__((always_inline))

#define PDNN_PASTE(name, level)    name##_##level
#define PDNN_AT_LEVEL(name, level) PDNN_PASTE(name, level)
#define PDNN_HERE(name)            PDNN_AT_LEVEL(name, PDNN_LEVEL)

/* Where vectors have sixteen floats, the version of those with eight, which such a processor has as well. */
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

/* One that returns a value. */
#define PDNN_KERNEL_VALUE(type, name, parameters, arguments)                                                 \
    PDNN_DECLARE(type, name, parameters)                                                                     \
    PDNN_DISPATCH(type, name, parameters, return, pdnn_level_in_force, arguments)                            \
    type PDNN_HERE(name) parameters

/* One that measures the machine: at its widest level, whatever the limit. */
#define PDNN_ROOF(type, name, parameters, arguments)                                                         \
    PDNN_DECLARE(type, name, parameters)                                                                     \
    PDNN_DISPATCH(type, name, parameters, return, pdnn_level_of_machine, arguments)                          \
    type PDNN_HERE(name) parameters

#endif
