/* Eight floats at once, for loops that the compiler does not vectorize by itself: on every instruction-set
 * level of clones.h it makes of them what that level has. They go by address, because how vectors are passed
 * differs from level to level. */
#ifndef RUNTIME_KERNELS_LANES_H
#define RUNTIME_KERNELS_LANES_H

#include "runtime/kernels/clones.h"

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_LANES8 = 8 };
typedef float pdnn_floats8 __attribute__((vector_size(32)));
typedef int32_t pdnn_ints8 __attribute__((vector_size(32)));

/* For what clones call: it gets their target, and constants among its arguments make a loop of their own. */
#define PDNN_INLINE static inline __attribute__((always_inline))

PDNN_INLINE void pdnn_load8(pdnn_floats8 *v, const float *from) {
    __builtin_memcpy(v, from, sizeof *v);
}

/* bypass: past the caches; `to` is then 16-byte aligned. */
PDNN_INLINE void pdnn_store8(float *to, const pdnn_floats8 *v, bool bypass) {
    if (bypass)
        pdnn_bypass_copy(to, (const float *)v, PDNN_LANES8);
    else
        __builtin_memcpy(to, v, sizeof *v);
}

/* *v = mask ? *v : *other, lane by lane; a mask is what a comparison gives. */
PDNN_INLINE void pdnn_select8(pdnn_floats8 *v, const pdnn_ints8 *mask, const pdnn_floats8 *other) {
    *v = (pdnn_floats8)((*mask & (pdnn_ints8)*v) | (~*mask & (pdnn_ints8)*other));
}

PDNN_INLINE void pdnn_max8(pdnn_floats8 *v, const pdnn_floats8 *other) {
    pdnn_ints8 mask = *v > *other;
    pdnn_select8(v, &mask, other);
}

#endif
