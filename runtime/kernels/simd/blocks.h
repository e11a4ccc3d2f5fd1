/* Blocks of elements for loops on floats: f32 elements where they lie, 16-bit ones widened into a room in L1
 * and narrowed from it. */
#ifndef RUNTIME_KERNELS_SIMD_BLOCKS_H
#define RUNTIME_KERNELS_SIMD_BLOCKS_H

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/half_lanes.h"

/* Elements that are narrowed at a time before they are streamed. */
enum { PDNN_BLOCK_MOST = 512 };

/* n elements from number `at` on: in their place if they are f32, else in `room`. Those `ahead` behind are
 * read later. */
PDNN_INLINE const float *pdnn_block_read_ahead(const void *from, int64_t at, int64_t n, float *room,
                                               enum pdnn_stored in, int64_t ahead) {
    const uint16_t *halves = (const uint16_t *)from + at;
    if (in == PDNN_STORED_F32)
        return (const float *)from + at;
    if (in == PDNN_STORED_F16)
        pdnn_widen(halves, room, n, PDNN_HALF_F16, ahead);
    else
        pdnn_widen(halves, room, n, PDNN_HALF_BF16, ahead);
    return room;
}

/* The same of arrays that are read in their order. */
PDNN_INLINE const float *pdnn_block_read(const void *from, int64_t at, int64_t n, float *room,
                                         enum pdnn_stored in) {
    return pdnn_block_read_ahead(from, at, n, room, in, PDNN_HALF_AHEAD);
}

/* Where results from number `at` on are made: in their place if they are f32 and not streamed, else in
 * `room`. */
PDNN_INLINE float *pdnn_block_place(void *to, int64_t at, float *room, enum pdnn_stored in, bool bypass) {
    return in == PDNN_STORED_F32 && !bypass ? (float *)to + at : room;
}

/* Whether elements from number `at` on may be streamed, if rows begin there that many apart. */
PDNN_INLINE bool pdnn_block_streams(int64_t at, enum pdnn_stored in) {
    return at * pdnn_stored_bytes(in) % (PDNN_BYPASS_FLOATS * (int64_t)sizeof(float)) == 0;
}

/* Stores what was made where pdnn_block_place said. If it is streamed, `at` and n are pdnn_block_streams. */
PDNN_INLINE void pdnn_block_write(void *to, int64_t at, const float *made, int64_t n, enum pdnn_stored in,
                                  bool bypass) {
    const int64_t pair = 2;
    uint16_t narrowed[PDNN_BLOCK_MOST], *place = (uint16_t *)to + at;
    if (in == PDNN_STORED_F32 && bypass)
        pdnn_bypass_copy((float *)to + at, made, n);
    for (int64_t i = 0; in != PDNN_STORED_F32 && i < n; i += PDNN_BLOCK_MOST) {
        const int64_t now = n - i < PDNN_BLOCK_MOST ? n - i : PDNN_BLOCK_MOST;
        uint16_t *halves = bypass ? narrowed : place + i;
        if (in == PDNN_STORED_F16)
            pdnn_narrow(made + i, halves, now, PDNN_HALF_F16);
        else
            pdnn_narrow(made + i, halves, now, PDNN_HALF_BF16);
        if (bypass)
            pdnn_bypass_copy((float *)(void *)(place + i), (const float *)(const void *)narrowed, now / pair);
    }
}

#endif
