/* The loop of fma.c, once per instruction set (isa_variants.h). */
PDNN_TARGET static float PDNN_NAME(fma)(uint64_t iterations, float factor, float addend) {
    PDNN_FLOATS chain[CHAINS], m, a;
    for (int lane = 0; lane < PDNN_LANES; lane++) {
        m[lane] = factor;
        a[lane] = addend;
    }
    for (int i = 0; i < CHAINS; i++)
        chain[i] = a * (float)(i + 1);
    for (uint64_t n = 0; n < iterations; n++) {
        for (int i = 0; i < CHAINS; i++)
            chain[i] = chain[i] * m + a;
    }
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) {
        for (int lane = 0; lane < PDNN_LANES; lane++)
            sum += chain[i][lane];
    }
    return sum;
}

static const uint64_t PDNN_NAME(lanes) = PDNN_LANES;
