/* Arrays of tests of kernels: as aligned as those of plans, and freed together. Include after cmocka_all.h.
 */
#ifndef TESTS_RUNTIME_ARRAYS_H
#define TESTS_RUNTIME_ARRAYS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS_MAX = 64, ARRAYS_ALIGNMENT = 64 };

static void *arrays[ARRAYS_MAX];
static size_t n_arrays;

/* Filled with NaN. */
static inline void *new_array(int64_t count, size_t size) {
    const size_t bytes = (size_t)count * size, room = bytes / ARRAYS_ALIGNMENT + 2;
    void *array = aligned_alloc(ARRAYS_ALIGNMENT, room * ARRAYS_ALIGNMENT);
    assert_true(array && n_arrays < ARRAYS_MAX);
    return arrays[n_arrays++] = memset(array, 0xff, bytes);
}

static inline void *new_zeros(int64_t count, size_t size) {
    return memset(new_array(count, size), 0, (size_t)count * size);
}

/* Frees the array and all that were made after it. */
static inline void free_from(const void *first) {
    size_t kept = n_arrays;
    do
        assert_true(kept > 0);
    while (arrays[--kept] != first);
    while (n_arrays > kept)
        free(arrays[--n_arrays]);
}

static inline float *new_floats(int64_t count) {
    return new_array(count, sizeof(float));
}

static inline double *new_doubles(int64_t count) {
    return new_array(count, sizeof(double));
}

/* Pseudo-random in [-1, 1). */
static inline float random_float(void) {
    static uint32_t seed = 12345;
    seed = seed * 1664525U + 1013904223U;
    return (float)(seed >> 8) * 0x1p-23F - 1.0F;
}

/* In [-scale, scale), other values each time. */
static inline float *new_random(int64_t count, float scale) {
    float *array = new_floats(count);
    for (int64_t i = 0; i < count; i++)
        array[i] = scale * random_float();
    return array;
}

static inline float *new_copy(const float *values, int64_t count) {
    return memcpy(new_floats(count), values, (size_t)count * sizeof *values);
}

static inline float *new_rounded(const double *values, int64_t count) {
    float *array = new_floats(count);
    for (int64_t i = 0; i < count; i++)
        array[i] = (float)values[i];
    return array;
}

#endif
