#include "runtime/kernels/simd/level.h"

#include <stdbool.h>

enum pdnn_level pdnn_level_in_force = PDNN_LEVEL_BASELINE;
enum pdnn_level pdnn_level_of_machine = PDNN_LEVEL_BASELINE;

const char *const pdnn_level_names[PDNN_LEVEL_COUNT] = {
#if defined(__aarch64__)
    [PDNN_LEVEL_BASELINE] = "asimd",
#else
    [PDNN_LEVEL_BASELINE] = "baseline",
#endif
    [PDNN_LEVEL_AVX2] = "avx2",
    [PDNN_LEVEL_AVX512] = "avx512",
};

static const int lanes_of[PDNN_LEVEL_COUNT] = {
    [PDNN_LEVEL_BASELINE] = 4,
    [PDNN_LEVEL_AVX2] = 8,
    [PDNN_LEVEL_AVX512] = 16,
};

/* A level needs everything its -march lets the compiler use. */
static bool has_level(enum pdnn_level level) {
#if defined(__x86_64__)
    if (level == PDNN_LEVEL_AVX512)
        return __builtin_cpu_supports("x86-64-v4");
    if (level == PDNN_LEVEL_AVX2)
        return __builtin_cpu_supports("x86-64-v3");
#endif
    return level == PDNN_LEVEL_BASELINE;
}

/* Runs before main, so that the level is set before any kernel call. */
__attribute__((constructor)) static void choose(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    for (int level = PDNN_LEVEL_COUNT - 1; level > 0 && pdnn_level_of_machine == 0; level--) {
        if (has_level((enum pdnn_level)level))
            pdnn_level_of_machine = (enum pdnn_level)level;
    }
    pdnn_level_in_force = pdnn_level_of_machine;
}

const char *pdnn_level_name(void) {
    return pdnn_level_names[pdnn_level_in_force];
}

void pdnn_level_limit(int lanes) {
    int level = pdnn_level_of_machine;
    while (level > 0 && lanes_of[level] > lanes)
        level--;
    pdnn_level_in_force = (enum pdnn_level)level;
}
