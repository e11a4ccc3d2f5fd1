/* Element types: a table of names and sizes, and how plain arrays of them store numbers. What a processor or
 * a library can do with them is not known here. */
#ifndef MODELS_DTYPE_H
#define MODELS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_dtype { PDNN_F32, PDNN_BF16, PDNN_F16, PDNN_INT8, PDNN_S32, PDNN_U8, PDNN_DTYPE_COUNT };

/* "f32". A spec may ask for the first four; s32 holds class labels and sums of int8 products. No tensor is
 * u8, but a backend may store int8 that way. */
const char *pdnn_dtype_name(enum pdnn_dtype dtype);

extern const uint8_t pdnn_dtype_sizes[PDNN_DTYPE_COUNT]; /* bytes */

static inline size_t pdnn_dtype_bytes(enum pdnn_dtype dtype) {
    return pdnn_dtype_sizes[dtype];
}

/* bf16 or f16. */
bool pdnn_dtype_is_half(enum pdnn_dtype dtype);

/* The distance from 1 to the next larger number; 0 for whole numbers. */
double pdnn_dtype_epsilon(enum pdnn_dtype dtype);

/* Element i of a plain array; store rounds to nearest. */
double pdnn_dtype_load(enum pdnn_dtype dtype, const void *array, int64_t i);
void pdnn_dtype_store(enum pdnn_dtype dtype, void *array, int64_t i, double value);

#endif
