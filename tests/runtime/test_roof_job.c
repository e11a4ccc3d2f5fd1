/* One roof being measured, by a clock of the test's own: it stands still, but for what is run. */
#include "tests/cmocka_all.h"

#include "base/clock.h"
#include "runtime/roofs/roof_job.h"

static uint64_t now_ns;
static uint64_t start_ns, unit_ns; /* what a run takes: to start the threads, and for each unit */
static uint64_t held_up_ns;        /* and what the next one takes besides */

uint64_t __wrap_pdnn_clock_ns(void);

uint64_t __wrap_pdnn_clock_ns(void) {
    return now_ns;
}

static int take_time(struct pdnn_roof_job *job, uint64_t units, double *work) {
    (void)job;
    now_ns += start_ns + units * unit_ns + held_up_ns;
    held_up_ns = 0;
    *work = (double)units;
    return 0;
}

/* Threads that take a hundred times as long to start as a pass takes are a small part of a repetition; what
 * takes longer than one is cut; and a pass that was held up is no long one. */
static void test_repetitions_are_long(void **state) {
    (void)state;
    static const struct {
        uint64_t start_ns, unit_ns, parts;
        bool is_stream;
    } rows[] = {{0, 1000, 0, true},       {30000, 300, 0, true},      {30000, 1, 0, true},
                {30000, 600000, 0, true}, {30000, 7000000, 10, true}, {30000, 1000, 0, false},
                {0, 3000000, 0, false}};
    const struct pdnn_stream stream = {.threads = 1, .slice_bytes = 64 << 20};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct pdnn_roof_job job;
        struct pdnn_err err = {0};
        uint64_t least_ns = rows[i].is_stream ? 700000 : 2000000;
        start_ns = rows[i].start_ns, unit_ns = rows[i].unit_ns, held_up_ns = 50000000;
        job = (struct pdnn_roof_job){.run = take_time,
                                     .stream = rows[i].is_stream ? &stream : NULL,
                                     .pass = {.slice_bytes = 64 << 20}};
        assert_int_equal(pdnn_roof_calibrate(&job, &err), PDNN_OK);
        assert_true(start_ns + job.units * unit_ns >= least_ns);
        assert_true(job.units == 1 || start_ns + job.units * unit_ns < 2 * least_ns);
        assert_int_equal(job.pass.parts, rows[i].parts);
    }
}

/* What a single repetition reached, by luck or by a clock that jumped, is no roof. */
static void test_a_roof_was_reached_twice(void **state) {
    (void)state;
    static struct pdnn_roof_job job;
    const struct pdnn_roof_job rates = {.value = {90, 300, 99, 100, 40}, .n_values = 5};
    job = rates;
    pdnn_roof_summarize(&job);
    assert_true(job.row.value == 100 && job.row.low == 40 && job.row.high == 300 && job.row.median == 99);
    job = rates;
    job.rate = PDNN_RATE_NS_PER_WORK;
    pdnn_roof_summarize(&job);
    assert_true(job.row.value == 90);
    job = rates;
    job.n_values = 1;
    pdnn_roof_summarize(&job);
    assert_true(job.row.value == 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repetitions_are_long),
        cmocka_unit_test(test_a_roof_was_reached_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
