/* The loops of stream.c, once per instruction set (isa_variants.h). count is a multiple of UNIT_FLOATS,
 * arrays are aligned to a vector. */
/* The passes are inside: adding up the chains costs as much as half a pass over L1. From PLACES at once,
 * since from one place alone a core gets no more than two thirds of what the memory can give. */
PDNN_TARGET static float PDNN_NAME(read)(const float *a, size_t count, uint64_t passes) {
    PDNN_FLOATS chain[CHAINS] = {{0}}, v;
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

PDNN_TARGET static void PDNN_NAME(copy)(const float *a, float *b, size_t count) {
    PDNN_FLOATS v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&v, a + i, sizeof v);
        __builtin_memcpy(b + i, &v, sizeof v);
    }
}

PDNN_TARGET static void PDNN_NAME(copy_bypass)(const float *a, float *b, size_t count) {
    PDNN_FLOATS v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&v, a + i, sizeof v);
        PDNN_STREAM(b + i, v);
    }
    pdnn_stream_fence();
}

PDNN_TARGET static void PDNN_NAME(triad)(const float *a, const float *b, float *c, size_t count) {
    PDNN_FLOATS u, v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&u, a + i, sizeof u);
        __builtin_memcpy(&v, b + i, sizeof v);
        u += v * 0.5f;
        __builtin_memcpy(c + i, &u, sizeof u);
    }
}

PDNN_TARGET static void PDNN_NAME(triad_bypass)(const float *a, const float *b, float *c, size_t count) {
    PDNN_FLOATS u, v;
    for (size_t i = 0; i < count; i += PDNN_LANES) {
        __builtin_memcpy(&u, a + i, sizeof u);
        __builtin_memcpy(&v, b + i, sizeof v);
        u += v * 0.5f;
        PDNN_STREAM(c + i, u);
    }
    pdnn_stream_fence();
}
