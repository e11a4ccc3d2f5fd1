/* For tests that want more memory than there is, which the address sanitizer would end. */
#ifndef TESTS_ASAN_LETS_FAIL_H
#define TESTS_ASAN_LETS_FAIL_H

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

#endif
