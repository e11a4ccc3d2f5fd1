/* Runs a group of tests once for each instruction-set level that this processor has, since every kernel has a
 * version for each level. */
#ifndef TESTS_RUNTIME_LEVELS_H
#define TESTS_RUNTIME_LEVELS_H

#include "runtime/kernels/simd/level.h"

/* Adds the number of failed tests to `failed`. */
#define RUN_AT_EVERY_LEVEL(tests, failed)                                                                    \
    do {                                                                                                     \
        for (int level_ = 0; level_ <= (int)pdnn_level_of_machine; level_++) {                               \
            pdnn_level_limit(4 << level_);                                                                   \
            (failed) += cmocka_run_group_tests_name(pdnn_level_name(), tests, NULL, NULL);                   \
        }                                                                                                    \
    } while (0)

#endif
