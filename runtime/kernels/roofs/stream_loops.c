#include "runtime/kernels/roofs/stream_loops.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"

/* Streaming store of an aligned vector. */
PDNN_INLINE void store_past(float *to, const pdnn_floats *v) {
#if PDNN_LANES == 16
    _mm512_stream_ps(to, *v);
#elif PDNN_LANES == 8
    _mm256_stream_ps(to, *v);
#else
    pdnn_bypass_vector(to, (const float *)v);
#endif
}

enum {
    CHAINS = 8, /* an addition has a latency of 3 or 4 cycles, and two can start per cycle */
    PLACES = 4, /* streams of a read; one line of each per iteration */
};

/* count is a multiple of PDNN_STREAM_UNIT_FLOATS; arrays are vector-aligned. The loop over passes is inside,
 * because combining the chains costs as much as half a pass over L1. Reads PLACES streams at once: with a
 * single one, a core gets at most two thirds of the memory bandwidth. */
static float read_all(const float *a, size_t count, uint64_t passes) {
    pdnn_floats chain[CHAINS] = {{0}}, v;
    const size_t apart = count / PLACES;
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < apart; i += CHAINS / PLACES * PDNN_LANES) {
            for (size_t k = 0; k < CHAINS; k++) {
                size_t place = k % PLACES * apart, at = k / PLACES * PDNN_LANES;
                __builtin_memcpy(&v, a + place + i + at, sizeof v);
                chain[k] += v;
            }
        }
    }
    float sum = 0;
    for (size_t k = 0; k < CHAINS; k++) {
        for (size_t lane = 0; lane < PDNN_LANES; lane++)
            sum += chain[k][lane];
    }
    return sum;
}

static void copy(const float *a, float *b, size_t count) {
    pdnn_floats v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&v, a + i, sizeof v);
        __builtin_memcpy(b + i, &v, sizeof v);
    }
}

static void copy_bypass(const float *a, float *b, size_t count) {
    pdnn_floats v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&v, a + i, sizeof v);
        store_past(b + i, &v);
    }
    pdnn_bypass_fence();
}

static void triad(const float *a, const float *b, float *c, size_t count) {
    pdnn_floats u, v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&u, a + i, sizeof u);
        __builtin_memcpy(&v, b + i, sizeof v);
        u += v * 0.5f;
        __builtin_memcpy(c + i, &u, sizeof u);
    }
}

static void triad_bypass(const float *a, const float *b, float *c, size_t count) {
    pdnn_floats u, v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&u, a + i, sizeof u);
        __builtin_memcpy(&v, b + i, sizeof v);
        u += v * 0.5f;
        store_past(c + i, &u);
    }
    pdnn_bypass_fence();
}

/* b stays within the range of a. */
static void update(const float *a, float *b, size_t count) {
    pdnn_floats u, v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&u, a + i, sizeof u);
        __builtin_memcpy(&v, b + i, sizeof v);
        u = (u + v) * 0.5f;
        __builtin_memcpy(b + i, &u, sizeof u);
    }
}

/* Called through pointers, so that the compiler cannot merge passes. */
static void (*const copies[2])(const float *a, float *b, size_t count) = {copy, copy_bypass};
static void (*const triads[2])(const float *a, const float *b, float *c, size_t count) = {triad,
                                                                                          triad_bypass};
static void (*const updates)(const float *a, float *b, size_t count) = update;

PDNN_ROOF(float, pdnn_stream_passes,
          (const struct pdnn_stream_job *job, const struct pdnn_stream_arrays *arrays), (job, arrays)) {
    float *a = arrays->first, *b = a + arrays->step, *c = b + arrays->step;
    if (job->pattern == PDNN_STREAM_READ)
        return read_all(a, arrays->count, job->passes);
    for (uint64_t pass = 0; pass < job->passes; pass++) {
        if (job->pattern == PDNN_STREAM_COPY)
            copies[job->bypass](a, b, arrays->count);
        else if (job->pattern == PDNN_STREAM_UPDATE)
            updates(a, b, arrays->count);
        else
            triads[job->bypass](a, b, c, arrays->count);
    }
    return 0;
}
