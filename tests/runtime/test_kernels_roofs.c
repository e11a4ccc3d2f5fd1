/* The kernels that tell how the machine is: finite on two threads, and nothing where there is nothing to
 * tell. How fast it is, is nobody's verdict. */
#include "tests/cmocka_all.h"

#include "base/clock.h"
#include "runtime/kernels/roofs/chain.h"
#include "runtime/kernels/roofs/handoff.h"

#include <math.h>

static void test_chain_ghz(void **state) {
    (void)state;
    for (int64_t threads = 1; threads <= 2; threads++) {
        const double ghz = pdnn_chain_ghz(threads, pdnn_clock_read_cost_ns());
#if defined(__x86_64__) || defined(__aarch64__)
        assert_true(isfinite(ghz) && ghz > 0);
#else
        assert_true(ghz == 0);
#endif
    }
}

static void test_handoff_ns(void **state) {
    (void)state;
    assert_true(pdnn_handoff_ns(1) == 0);
    for (int64_t threads = 2; threads <= 3; threads++) {
        const double ns = pdnn_handoff_ns(threads);
        assert_true(isfinite(ns) && ns > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain_ghz), cmocka_unit_test(test_handoff_ns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
