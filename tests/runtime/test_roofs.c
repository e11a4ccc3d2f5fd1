/* Which roofs are measured on which machine with which backends. Values are only checked for plausibility. */
#include "tests/cmocka_all.h"

#include "runtime/backend/backend.h"
#include "runtime/roofs/ladder.h"
#include "runtime/measure/probe.h"
#include "runtime/roofs/roof_job.h"
#include "runtime/protocol/protocol.h"
#include "runtime/roofs/roofs.h"
#include "runtime/host/host.h"

#include <math.h>
#include <string.h>

/* A backend whose ops only count. */
struct fake {
    uint64_t opened, closed, runs;
    int code; /* what a run returns */
};

static struct fake fake;

static void bind(void *state, void *const *memory) {
    (void)state, (void)memory;
}

static int run(void *state) {
    ((struct fake *)state)->runs++;
    return fake.code;
}

static const char *version(void) {
    return "1";
}

static enum pdnn_status open_fake(const struct pdnn_call_options *options, void **state,
                                  struct pdnn_err *err) {
    (void)err;
    assert_int_equal(options->threads, 1);
    assert_true(options->cache_bytes == options->reported_bytes); /* not yet known */
    fake.opened++;
    *state = &fake;
    return PDNN_OK;
}

static void close_fake(void *state) {
    assert_ptr_equal(state, &fake);
    fake.closed++;
}

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    (void)err;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_call call = {.node = i, .tensor = PDNN_NONE, .implementation = "fake"};
        call.work = (struct pdnn_work){.state = state, .bind = bind, .run = run};
        for (int k = 0; k < graph->nodes[i].n_inputs; k++)
            call.slot[call.n_slots++] = graph->nodes[i].input[k];
        call.slot[call.n_slots++] = graph->nodes[i].output[0];
        pdnn_program_call(program, &call);
    }
    return PDNN_OK;
}

static enum pdnn_status refuse(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                               struct pdnn_err *err) {
    (void)state, (void)graph, (void)program;
    return pdnn_fail(err, PDNN_UNSUPPORTED, "nothing is supported");
}

static enum pdnn_status must_not_open(const struct pdnn_call_options *options, void **state,
                                      struct pdnn_err *err) {
    (void)options, (void)state;
    return pdnn_fail(err, PDNN_INTERNAL, "the oracle was opened");
}

static const struct pdnn_backend_def good = {
    .name = "good", .version = version, .open = open_fake, .close = close_fake, .compile = compile};
static const struct pdnn_backend_def picky = {
    .name = "picky", .version = version, .open = open_fake, .close = close_fake, .compile = refuse};
static const struct pdnn_backend_def oracle = {.name = "reference",
                                               .is_reference = true,
                                               .version = version,
                                               .open = must_not_open,
                                               .close = close_fake,
                                               .compile = compile};

static const struct pdnn_backend_def *const all[] = {&oracle, &picky, &good, NULL};
static const struct pdnn_backend_def *const refusing[] = {&oracle, &picky, NULL};

/* Each roof is measured a few times, however little time there is. */
static const struct pdnn_roofs_request usual = {1, 1e-4, 1e9}, probes = {1, 0, 1e9};

/* Little memory keeps the DRAM buffer small. */
static struct pdnn_host small_host(uint64_t l3_bytes) {
    return (struct pdnn_host){.threads = 1,
                              .memory_limit_bytes = 64 << 20,
                              .cache_bytes = {32 << 10, 512 << 10, l3_bytes},
                              .cache_cores = {1, 1, l3_bytes ? 2 : 0}};
}

/* True for rows that depend on the machine: its levels, and the types that have a peak of their own. */
static bool is_for_the_machine(const struct pdnn_roof_row *row) {
    bool is_peak = strcmp(row->kind, "compute") == 0 && strcmp(row->pattern, "fma") != 0 &&
                   strncmp(row->pattern, "gemm-", 5) != 0;
    return is_peak || strcmp(row->kind, "ladder") == 0 || strcmp(row->kind, "bandwidth") == 0;
}

static void format_rows(const struct pdnn_roof_rows *roof_rows, size_t from, char *text, size_t room) {
    size_t used = 0;
    for (size_t i = from; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (is_for_the_machine(row))
            continue;
        used += (size_t)snprintf(text + used, room - used, "%s %s %s%s\n", row->kind, row->pattern,
                                 row->dtype, row->level);
        assert_true(used < room);
    }
}

/* Each level has three patterns; levels are nearest to the core first, each larger than
 * the one before; DRAM is last. */
static void check_levels(const struct pdnn_roof_rows *roof_rows, size_t from) {
    static const char *const patterns[] = {"read", "copy", "triad", "update"};
    enum { PATTERNS = sizeof patterns / sizeof *patterns };
    const struct pdnn_roof_row *level[PDNN_LADDER_LEVELS * PATTERNS];
    size_t count = 0;
    for (size_t i = from; i < roof_rows->count; i++) {
        if (strcmp(roof_rows->row[i].kind, "bandwidth") == 0)
            level[count++] = &roof_rows->row[i];
    }
    assert_true(count >= PATTERNS && count % PATTERNS == 0);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(level[i]->pattern, patterns[i % PATTERNS]);
        assert_string_equal(level[i]->level, level[i - i % PATTERNS]->level);
        assert_true(i + PATTERNS >= count || level[i]->capacity_bytes > 0);
        assert_true(i < PATTERNS || !level[i]->capacity_bytes ||
                    level[i]->capacity_bytes > level[i - PATTERNS]->capacity_bytes);
    }
    assert_string_equal(level[count - 1]->level, "DRAM");
    assert_true(level[count - 1]->capacity_bytes == 0);
    uint64_t last = count > PATTERNS ? level[count - PATTERNS - 1]->capacity_bytes : 0;
    assert_true(pdnn_roof_rows_cache_bytes(roof_rows, 1) >= last);
}

/* Every working set has each pattern, and those that caches do not hold easily have copies and triads with
 * either kind of store. */
static void check_ladder(const struct pdnn_roof_rows *roof_rows, size_t from, const struct pdnn_host *host) {
    static const char *const patterns[] = {"read",  "copy", "copy-streaming", "triad", "triad-streaming",
                                           "update"};
    uint64_t sizes[PDNN_LADDER_POINTS],
        last = host->cache_bytes[2] ? host->cache_bytes[2] : host->cache_bytes[1];
    size_t count = pdnn_ladder_sizes(host, 1, sizes), at = from, streaming = 0;
    for (size_t i = 0; i < count * sizeof patterns / sizeof *patterns; i++) {
        const char *pattern = patterns[i % 6];
        bool is_streaming = strstr(pattern, "-streaming") != NULL;
        if (is_streaming && sizes[i / 6] < last / 4)
            continue;
        while (at < roof_rows->count && strcmp(roof_rows->row[at].kind, "ladder") != 0)
            at++;
        assert_true(at < roof_rows->count);
        assert_string_equal(roof_rows->row[at].pattern, pattern);
        assert_true(roof_rows->row[at].capacity_bytes == sizes[i / 6]);
        assert_true(roof_rows->row[at++].level[0]);
        streaming += is_streaming;
    }
    assert_true(streaming > 0 && streaming < 2 * count);
    for (; at < roof_rows->count; at++)
        assert_string_not_equal(roof_rows->row[at].kind, "ladder");
}

static void check_values(const struct pdnn_roof_rows *roof_rows, size_t from) {
    for (size_t i = from; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        assert_int_equal(row->threads, 1);
        assert_true(row->repetitions >= PDNN_ROOF_REPETITIONS_MIN);
        assert_true(isfinite(row->high) && row->low > 0);
        assert_true(row->low <= row->median && row->median <= row->high);
        assert_true(strcmp(row->kind, "overhead") == 0
                        ? row->low <= row->value && row->value <= row->median
                        : row->median <= row->value && row->value <= row->high);
    }
}

/* Progress rises to one. */
static void watch(void *user, double fraction) {
    double *last = user;
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
}

#if defined(__x86_64__) || defined(__aarch64__)
#define CLOCK "probe clock \n"
enum { HAS_CLOCK = 1 };
#else
#define CLOCK ""
enum { HAS_CLOCK = 0 };
#endif

static void test_roof_rows_measure_rows(void **state) {
    (void)state;
    static const struct {
        uint64_t l3_bytes;
        const struct pdnn_backend_def *const *backends;
        const char *expected;
    } rows[] = {
        {8 << 20, all,
         "compute fma f32\ncompute gemm-good f32\ncompute gemm-good bf16\ncompute gemm-good f16\n"
         "compute gemm-good int8\noverhead op \nprobe fma \nprobe read \n" CLOCK},
        {0, refusing, "compute fma f32\nprobe fma \nprobe read \n" CLOCK},
    };
    static struct pdnn_roof_rows roof_rows;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_host host = small_host(rows[i].l3_bytes);
        struct pdnn_err err = {0};
        char text[1024] = "";
        size_t from = roof_rows.count;
        memset(&fake, 0, sizeof fake);
        double last = 0;
        if (pdnn_roof_rows_measure(&host, rows[i].backends, &usual, watch, &last, &roof_rows, &err) !=
            PDNN_OK)
            fail_msg("%s", err.text);
        assert_true(last == 1);
        format_rows(&roof_rows, from, text, sizeof text);
        assert_string_equal(text, rows[i].expected);
        check_values(&roof_rows, from);
        check_levels(&roof_rows, from);
        check_ladder(&roof_rows, from, &host);
        assert_true(fake.opened > 0);
        assert_int_equal(fake.opened, fake.closed);
    }
}

static void test_roof_rows_measure_failing_op(void **state) {
    (void)state;
    static struct pdnn_roof_rows roof_rows;
    struct pdnn_host host = small_host(0);
    struct pdnn_err err = {0};
    fake = (struct fake){.code = 7};
    assert_int_equal(pdnn_roof_rows_measure(&host, all, &usual, NULL, NULL, &roof_rows, &err), PDNN_INTERNAL);
    assert_non_null(strstr(err.text, "code 7"));
    assert_int_equal(roof_rows.count, 0);
    assert_int_equal(fake.opened, fake.closed);
}

static void test_roof_rows_measure_full_table(void **state) {
    (void)state;
    static struct pdnn_roof_rows roof_rows = {.count = PDNN_ROOF_ROWS_MAX - 1};
    struct pdnn_host host = small_host(0);
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_roof_rows_measure(&host, refusing, &usual, NULL, NULL, &roof_rows, &err),
                     PDNN_OVERFLOW);
    assert_int_equal(roof_rows.count, PDNN_ROOF_ROWS_MAX - 1);
}

/* Where time is over from the start, there are all roofs but bandwidths. */
static void test_roof_rows_measure_what_there_is(void **state) {
    (void)state;
    static struct pdnn_roof_rows roof_rows;
    struct pdnn_host host = small_host(8 << 20);
    struct pdnn_err err = {0};
    struct pdnn_roofs_request request = usual;
    request.limit_seconds = 0;
    request.seconds = 1e6; /* never over */
    memset(&fake, 0, sizeof fake);
    assert_int_equal(pdnn_roof_rows_measure(&host, refusing, &request, NULL, NULL, &roof_rows, &err),
                     PDNN_OK);
    assert_true(roof_rows.count >= 3 + HAS_CLOCK);
    check_values(&roof_rows, 0);
    for (size_t i = 0; i < roof_rows.count; i++) {
        assert_true(strcmp(roof_rows.row[i].kind, "compute") == 0 ||
                    strcmp(roof_rows.row[i].kind, "probe") == 0);
    }
}

static void test_probe_more_and_fewer_threads(void **state) {
    (void)state;
    static const int64_t threads[] = {1, 1, 2, 1, 2};
    struct pdnn_far_memory memory = {0};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        const struct pdnn_dram_buffer far = {threads[i], i % 2 ? 48 << 20 : 0, 0, &memory};
        struct pdnn_probe_rates rates;
        assert_int_equal(pdnn_probe(&far, &rates, NULL), PDNN_OK);
        assert_true(isfinite(rates.gflops) && rates.gflops > 0);
        assert_true(isfinite(rates.gbs) && rates.gbs > 0);
        assert_true(isfinite(rates.fork_ns) && rates.fork_ns > 0);
    }
    pdnn_stream_destroy(&memory.stream);
}

static int count_runs(struct pdnn_roof_job *job, uint64_t units, double *work) {
    (void)job;
    fake.runs += units;
    *work = (double)units;
    return 0;
}

static int count_parts(struct pdnn_roof_job *job, uint64_t units, double *work) {
    job->pass.part++;
    return count_runs(job, units, work);
}

/* What ran before has put other data into the caches, so an op runs once before it is timed; loops in
 * registers do not care. */
static void test_ops_run_warm(void **state) {
    (void)state;
    static struct pdnn_roof_job job;
    const struct pdnn_one_op_plan single = {.flop = 1};
    struct pdnn_err err = {0};
    job = (struct pdnn_roof_job){.run = count_runs, .units = 3, .single = &single};
    fake.runs = 0;
    assert_int_equal(pdnn_roof_repeat(&job, &err), PDNN_OK);
    assert_int_equal(fake.runs, 1 + 3);
    assert_int_equal(job.n_values, 1);
    job = (struct pdnn_roof_job){.run = count_runs, .units = 3};
    fake.runs = 0;
    assert_int_equal(pdnn_roof_repeat(&job, &err), PDNN_OK);
    assert_int_equal(fake.runs, 3);
}

/* Other jobs may have left a part in the caches, all of which hold a quarter of the stream at most: so much
 * of the set is streamed before the part is timed, and parts come in turn. */
static void test_parts_are_not_in_a_cache(void **state) {
    (void)state;
    static const struct {
        uint64_t slice_bytes, parts, before;
    } rows[] = {{4000, 1, 1}, {4000, 2, 1}, {4000, 4, 2}, {4000, 40, 11}, {1200, 3, 2}, {1200, 12, 11}};
    const struct pdnn_stream stream = {.threads = 1, .slice_bytes = 4000};
    struct pdnn_err err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct pdnn_roof_job job;
        job = (struct pdnn_roof_job){.run = count_parts,
                                     .units = 1,
                                     .stream = &stream,
                                     .pass = {.slice_bytes = rows[i].slice_bytes, .parts = rows[i].parts}};
        for (uint64_t k = 0; k < 2 * rows[i].parts; k++) {
            fake.runs = 0;
            assert_int_equal(pdnn_roof_repeat(&job, &err), PDNN_OK);
            assert_int_equal(fake.runs, rows[i].before + 1);
            assert_int_equal((job.pass.part - 1) % rows[i].parts, rows[i].parts > 1 ? k % rows[i].parts : 0);
        }
    }
}

static void test_probe_alone(void **state) {
    (void)state;
    static struct pdnn_roof_rows roof_rows;
    struct pdnn_err err = {0};
    const struct pdnn_host host = {.threads = 1};
    roof_rows.count = 1;
    assert_int_equal(pdnn_roof_rows_measure(&host, all, &probes, NULL, NULL, &roof_rows, &err), PDNN_OK);
    assert_int_equal(roof_rows.count, 3 + HAS_CLOCK);
    for (size_t i = 1; i < roof_rows.count; i++) {
        static const char *const patterns[] = {"fma", "read", "clock"};
        assert_string_equal(roof_rows.row[i].kind, "probe");
        assert_string_equal(roof_rows.row[i].pattern, patterns[i - 1]);
        assert_int_equal(roof_rows.row[i].threads, 1);
        assert_true(roof_rows.row[i].repetitions >= PDNN_ROOF_REPETITIONS_MIN && roof_rows.row[i].value > 0);
        assert_true(roof_rows.row[i].value >= roof_rows.row[i].median);
    }
    roof_rows.count = PDNN_ROOF_ROWS_MAX - 1;
    assert_int_equal(pdnn_roof_rows_measure(&host, all, &probes, NULL, NULL, &roof_rows, &err),
                     PDNN_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roof_rows_measure_rows),
        cmocka_unit_test(test_roof_rows_measure_failing_op),
        cmocka_unit_test(test_roof_rows_measure_full_table),
        cmocka_unit_test(test_roof_rows_measure_what_there_is),
        cmocka_unit_test(test_probe_more_and_fewer_threads),
        cmocka_unit_test(test_ops_run_warm),
        cmocka_unit_test(test_parts_are_not_in_a_cache),
        cmocka_unit_test(test_probe_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
