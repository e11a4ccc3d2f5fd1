/* Visits of the worker with scripted counters: what is counted in a step and in each of its ops. */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "runtime/worker/visit.h"

#include <errno.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference;
const struct pdnn_backend_def *const pdnn_backends[] = {&pdnn_backend_reference, NULL};

/* The first readings tell what an empty part costs. */
enum { EMPTY_READINGS = 4, EMPTY_CYCLES = 100, EMPTY_INSTRUCTIONS = 200, EMPTY_NS = 50 };
static const uint64_t part_cycles = 2000000000, part_instructions = 6000000000;

static struct {
    int code;         /* of openings; 0: they do not fail */
    uint64_t part_ns; /* that a part runs */
    uint64_t lost_ns; /* of each reading, in which the counters were not there */
    uint64_t readings;
    struct pdnn_counter_reading now;
} perf;

static int open_event(const struct perf_event_attr *event, pid_t thread, int group) {
    (void)event, (void)thread, (void)group;
    errno = perf.code;
    return perf.code ? -1 : 100;
}

static ssize_t read_group(int fd, void *buffer, size_t bytes) {
    const uint64_t parts = ++perf.readings > EMPTY_READINGS;
    (void)fd;
    perf.now.cycles += EMPTY_CYCLES + parts * part_cycles;
    perf.now.instructions += EMPTY_INSTRUCTIONS + parts * part_instructions;
    perf.now.running_ns += EMPTY_NS + parts * perf.part_ns;
    perf.now.enabled_ns += EMPTY_NS + parts * perf.part_ns + perf.lost_ns;
    memcpy(buffer, &perf.now, bytes);
    return (ssize_t)bytes;
}

static int close_event(int fd) {
    (void)fd;
    return 0;
}

static const struct pdnn_perf scripted = {open_event, read_group, close_event};

static void visit(const struct pdnn_request *request, struct pdnn_visit *visit) {
    struct pdnn_process process = {.fd = -1, .counters = {.perf = &scripted}};
    struct pdnn_err err = {0};
    memset(&perf.now, 0, sizeof perf.now);
    perf.readings = 0;
    assert_int_equal(pdnn_host_read(&process.host, &err), PDNN_OK);
    pdnn_visit_run(&process, request, visit);
    if (visit->outcome != PDNN_OUTCOME_OK)
        fail_msg("%s", visit->reason);
    pdnn_process_finish(&process);
}

static const struct pdnn_request usual = {
    .id = "fc/layers=3,nodes=16,input=16,output=16,batch=2,mode=infer,backend=reference,threads=1",
    .rules = {.min_samples = 2, .max_visit_ns = 1, .precision = 1},
    .counters = true};

/* A whole step is one part, and each execution of an op is one. */
static void test_counts(void **state) {
    (void)state;
    struct pdnn_visit made = {0};
    uint64_t executions = 0;
    perf.part_ns = 1000000000;
    visit(&usual, &made);
    assert_int_equal(made.counted.counters, PDNN_COUNTERS_ALL);
    assert_near(made.counted.of.ipc, 3, 1e-9);
    assert_near(made.counted.of.effective_ghz, 2, 1e-9);
    assert_near((double)made.counted.of.instructions * (double)made.steps_per_sample,
                (double)part_instructions, (double)made.steps_per_sample);
    assert_true(made.n_ops > 1);
    for (size_t i = 0; i < made.n_ops; i++) {
        const struct pdnn_counted *op = &made.ops[i].counted;
        executions += made.ops[i].count;
        assert_int_equal(op->instructions, made.ops[i].count * part_instructions);
        assert_near(op->ipc, 3, 1e-9);
        assert_near(op->effective_ghz, 2, 1e-9);
    }
    assert_int_equal(perf.readings, EMPTY_READINGS + 4 + 1 + executions);
    pdnn_visit_finish(&made);
}

static void assert_nothing_counted(const struct pdnn_visit *made, enum pdnn_counters counters) {
    assert_int_equal(made->counted.counters, counters);
    assert_true(made->samples > 0 && made->median_ns > 0);
    assert_int_equal(made->counted.of.instructions, 0);
    assert_true(made->counted.of.ipc == 0 && made->counted.of.effective_ghz == 0);
    for (size_t i = 0; i < made->n_ops; i++)
        assert_true(made->ops[i].counted.instructions == 0 && made->ops[i].counted.ipc == 0 &&
                    made->ops[i].counted.effective_ghz == 0);
}

static void test_nothing_to_count_with(void **state) {
    (void)state;
    struct pdnn_request off = usual;
    struct pdnn_visit made = {0};
    perf.part_ns = 1000000000;
    off.counters = false;
    visit(&off, &made);
    assert_nothing_counted(&made, PDNN_COUNTERS_OFF);
    assert_int_equal(perf.readings, 0);
    pdnn_visit_finish(&made);
    perf.code = ENOENT;
    visit(&usual, &made);
    assert_nothing_counted(&made, PDNN_COUNTERS_ABSENT);
    pdnn_visit_finish(&made);
    perf.code = 0;
    perf.lost_ns = 1;
    visit(&usual, &made);
    assert_nothing_counted(&made, PDNN_COUNTERS_SHARED);
    pdnn_visit_finish(&made);
    perf.lost_ns = 0;
}

/* No processor has a clock of 2000 GHz, and where the probe can tell, it says so. */
static void test_clock_that_the_probe_contradicts(void **state) {
    (void)state;
    struct pdnn_request probed = usual;
    struct pdnn_visit made = {0};
    perf.part_ns = 1000000;
    probed.probe = true;
    probed.cache_bytes = 1 << 20;
    visit(&probed, &made);
    if (made.hardware.clock_ghz > 0)
        assert_nothing_counted(&made, PDNN_COUNTERS_APART);
    else
        assert_int_equal(made.counted.counters, PDNN_COUNTERS_ALL);
    pdnn_visit_finish(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_nothing_to_count_with),
        cmocka_unit_test(test_clock_that_the_probe_contradicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
