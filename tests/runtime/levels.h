/* The instruction-set levels that this processor has; every kernel has a version for each. Tests of kernels
 * run at each of them, tests of what calls kernels take turns. */
#ifndef TESTS_RUNTIME_LEVELS_H
#define TESTS_RUNTIME_LEVELS_H

#include "runtime/kernels/simd/level.h"

#include <stddef.h>

/* Adds the number of failed tests to `failed`. */
#define RUN_AT_EVERY_LEVEL(tests, failed)                                                                    \
    do {                                                                                                     \
        for (int level_ = 0; level_ <= (int)pdnn_level_of_machine; level_++) {                               \
            pdnn_level_limit(4 << level_);                                                                   \
            (failed) += cmocka_run_group_tests_name(pdnn_level_name(), tests, NULL, NULL);                   \
        }                                                                                                    \
    } while (0)

/* What comes after runs at another level than what comes after the turns before and behind it. */
static inline void take_level(size_t turn) {
    pdnn_level_limit(4 << turn % ((size_t)pdnn_level_of_machine + 1));
}

#endif
