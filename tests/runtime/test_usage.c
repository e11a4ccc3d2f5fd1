#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, CLOCK_PROCESS_CPUTIME_ID */
/* What the kernel counts of this process: exactly the pages that were touched. */
#include "tests/cmocka_all.h"

#include "runtime/measure/usage.h"

#include <math.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The address sanitizer touches pages of its own, for memory that is allocated meanwhile, too. */
#if defined(__SANITIZE_ADDRESS__)
static const bool is_exact = false;
#else
static const bool is_exact = true;
#endif

static void touch(volatile char *pages, size_t count, size_t page) {
    for (size_t k = 0; k < count; k++)
        pages[k * page] = 1;
}

static void test_usage_counts_touched_pages(void **state) {
    static const size_t counts[] = {0, 1, 100, 4096};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct pdnn_team_thread thread = {.clock = CLOCK_PROCESS_CPUTIME_ID, .unit = 0};
    const struct pdnn_thread_team team = {.count = 1, .thread = &thread};
    struct pdnn_usage before, after;
    (void)state;
    pdnn_usage_read(&team, &before); /* the pages that reading itself needs */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *pages = mmap(NULL, 4096 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(pages != MAP_FAILED);
        madvise(pages, 4096 * page, MADV_NOHUGEPAGE);
        pdnn_usage_read(&team, &before);
        touch(pages, counts[i], page);
        pdnn_usage_read(&team, &after);
        const uint64_t faults = after.page_faults - before.page_faults;
        assert_true(is_exact ? faults == counts[i] : faults >= counts[i]);
        assert_true(after.cpu_ns > before.cpu_ns && after.context_switches >= before.context_switches);
        assert_true(isnan(after.steal_ns) || after.steal_ns >= before.steal_ns);
        munmap(pages, 4096 * page);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_usage_counts_touched_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
