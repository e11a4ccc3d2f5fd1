/* Includes the kernel file PDNN_KERNEL once per instruction set of isa.h, with
 *   PDNN_NAME(x)       x_avx2: the name of this instance of x
 *   PDNN_TARGET        the attribute that goes before each function
 *   PDNN_LANES         floats in a vector
 *   PDNN_FLOATS        the type of such a vector
 *   PDNN_STREAM(p, v)  stores an aligned vector past the caches, where the processor can
 * Meant to be included more than once, hence without a guard. */
#include "runtime/kernels/simd/isa.h"

#define PDNN_FLOATS float __attribute__((vector_size(4 * PDNN_LANES)))

#if defined(__x86_64__)

#define PDNN_NAME(x)      x##_avx512
#define PDNN_TARGET       __attribute__((target("avx512f")))
#define PDNN_LANES        16
#define PDNN_STREAM(p, v) _mm512_stream_ps(p, v)
#include PDNN_KERNEL
#undef PDNN_NAME
#undef PDNN_TARGET
#undef PDNN_LANES
#undef PDNN_STREAM

#define PDNN_NAME(x)      x##_avx2
#define PDNN_TARGET       __attribute__((target("avx2,fma")))
#define PDNN_LANES        8
#define PDNN_STREAM(p, v) _mm256_stream_ps(p, v)
#include PDNN_KERNEL
#undef PDNN_NAME
#undef PDNN_TARGET
#undef PDNN_LANES
#undef PDNN_STREAM

#define PDNN_STREAM(p, v) _mm_stream_ps(p, v)
#else
#define PDNN_STREAM(p, v) __builtin_memcpy(p, &(v), sizeof(v))
#endif

#define PDNN_NAME(x) x##_baseline
#define PDNN_TARGET
#define PDNN_LANES 4
#include PDNN_KERNEL
#undef PDNN_NAME
#undef PDNN_TARGET
#undef PDNN_LANES
#undef PDNN_STREAM
#undef PDNN_FLOATS
#undef PDNN_KERNEL
