/* Roofs kept between sweeps: which are used, which are measured again, and what the rows and the note say.
 * The clock, the probes and the roofs are this test's. */
#define _DEFAULT_SOURCE
#include "session/roof_cache.h"
#include "tests/cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], waits[] = "OMP_WAIT_POLICY=passive";
static char *variables[] = {waits, NULL}, *none[] = {NULL};

static const struct pdnn_host host = {.name = "here",
                                      .cpu = "A",
                                      .isa = "avx2",
                                      .kernel = "Linux 1",
                                      .governor = "performance",
                                      .threads = 2,
                                      .core_pu = {0, 1},
                                      .memory_bytes = UINT64_C(16) << 30,
                                      .memory_limit_bytes = UINT64_C(9) << 30};
static const struct pdnn_software software = {.count = 2,
                                              .row = {{"openblas", "OpenBLAS 1"}, {"onednn", "oneDNN 1"}}};

/* A machine, and what was asked of it. */
struct machine {
    double gflops, gbs, handoff_ns; /* the last: 0: none */
    int64_t now_ms;
    int probes, measurements;
    bool is_cut, fails;
};

enum { HOUR_MS = 3600 * 1000 };

static void add_row(struct pdnn_roof_rows *roof_rows, const char *kind, const char *pattern, double value) {
    struct pdnn_roof_row *row = &roof_rows->row[roof_rows->count++];
    *row = (struct pdnn_roof_row){
        .threads = 2, .value = value, .low = value / 3, .high = value, .median = value, .repetitions = 9};
    snprintf(row->kind, sizeof row->kind, "%s", kind);
    snprintf(row->pattern, sizeof row->pattern, "%s", pattern);
}

static void add_probes(const struct machine *machine, struct pdnn_roof_rows *roof_rows) {
    add_row(roof_rows, "probe", "fma", machine->gflops);
    add_row(roof_rows, "probe", "read", machine->gbs);
    if (machine->handoff_ns > 0)
        add_row(roof_rows, "probe", "handoff", machine->handoff_ns);
}

static enum pdnn_status probe(void *user, struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    struct machine *machine = user;
    machine->probes++;
    if (machine->fails)
        return pdnn_fail(err, PDNN_IO, "the probe failed");
    add_probes(machine, roof_rows);
    return PDNN_OK;
}

static enum pdnn_status measure(void *user, double seconds, struct pdnn_roof_rows *roof_rows,
                                struct pdnn_err *err) {
    struct machine *machine = user;
    if (seconds == 0)
        return probe(user, roof_rows, err);
    machine->measurements++;
    if (machine->fails)
        return pdnn_fail(err, PDNN_IO, "the measurement failed");
    add_row(roof_rows, "compute", "fma", machine->gflops + 1.0 / 3);
    add_probes(machine, roof_rows);
    if (!machine->is_cut)
        add_row(roof_rows, "bandwidth", "read", machine->gbs);
    return PDNN_OK;
}

static const struct machine quiet = {.gflops = 100, .gbs = 50, .now_ms = 1000};

static struct pdnn_roofs_job plain_job(void) {
    return (struct pdnn_roofs_job){
        .directory = folder,
        .context = {.host = &host, .build = "1 (a)", .isa = "default", .threads = 2, .variables = variables},
        .software = &software,
        .seconds = 5,
        .measure = measure};
}

/* The rows of a sweep on the machine; its note is in `note`. */
static char note[512];

static const struct pdnn_roof_rows *sweep(const struct pdnn_roofs_job *job, struct machine *machine) {
    static struct pdnn_roof_rows roof_rows;
    struct pdnn_roofs_job now = *job;
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    now.now_unix_ms = machine->now_ms;
    now.user = machine;
    machine->probes = machine->measurements = 0;
    roof_rows.count = 0;
    assert_int_equal(pdnn_roof_cache_get(&now, &roof_rows, &text, &err), PDNN_OK);
    snprintf(note, sizeof note, "%s", pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return &roof_rows;
}

static void clear(void) {
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
}

/* Measures on a machine with an empty cache. */
static void begin(void) {
    struct machine machine = quiet;
    const struct pdnn_roofs_job job = plain_job();
    clear();
    const struct pdnn_roof_rows *rows = sweep(&job, &machine);
    assert_int_equal(machine.probes, 0);
    assert_int_equal(machine.measurements, 1);
    assert_int_equal(rows->count, 4);
    assert_true(rows->row[0].measured_unix_ms == 1000 && rows->row[0].checked_unix_ms == 0);
    assert_string_equal(note, "");
}

static void test_kept_roofs_are_used_and_say_so(void **state) {
    (void)state;
    const struct pdnn_roofs_job job = plain_job();
    struct machine machine = {.gflops = 103, .gbs = 48, .now_ms = HOUR_MS};
    begin();
    const struct pdnn_roof_rows *rows = sweep(&job, &machine);
    assert_int_equal(machine.probes, 1);
    assert_int_equal(machine.measurements, 0);
    assert_int_equal(rows->count, 4);
    assert_true(rows->row[0].value == 100 + 1.0 / 3); /* exactly what was measured */
    for (size_t i = 0; i < rows->count; i++)
        assert_true(rows->row[i].measured_unix_ms == 1000 && rows->row[i].checked_unix_ms == HOUR_MS);
    assert_string_equal(note,
                        "roofs for 2 threads: those of 1970-01-01T00:00Z, confirmed by probes within 4 %");
}

static void test_roofs_of_another_state_are_measured_again(void **state) {
    (void)state;
    static const struct {
        double gflops, gbs;
        bool is_kept;
    } rows[] = {{100, 50, true},  {114, 50, true},    {116, 50, false},  {87, 50, true},
                {86, 50, false},  {100, 57, true},    {100, 58, false},  {100, 44, true},
                {100, 43, false}, {1e300, 50, false}, {100, 1e-9, false}};
    const struct pdnn_roofs_job job = plain_job();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine = {.gflops = rows[i].gflops, .gbs = rows[i].gbs, .now_ms = HOUR_MS};
        begin();
        const struct pdnn_roof_rows *got = sweep(&job, &machine);
        if (machine.measurements != !rows[i].is_kept)
            fail_msg("row %zu: %d measurements", i, machine.measurements);
        assert_true((got->row[0].checked_unix_ms != 0) == rows[i].is_kept);
        assert_true((strstr(note, "since the probes differ by") != NULL) == !rows[i].is_kept);
    }
}

/* The rows of one pattern of compute, by state. */
static const struct pdnn_roof_row *peak_in(const struct pdnn_roof_rows *rows, const char *state) {
    const struct pdnn_roof_row *found = NULL;
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->row[i].kind, "compute") == 0 && strcmp(rows->row[i].state, state) == 0) {
            assert_null(found);
            found = &rows->row[i];
        }
    assert_non_null(found);
    return found;
}

/* A measurement on a slower machine joins the first: there is one set, with what both say, and the next two
 * sweeps take it on either machine. */
static void test_measurements_are_one_set(void **state) {
    (void)state;
    const struct pdnn_roofs_job job = plain_job();
    struct machine slow = {.gflops = 50, .gbs = 25, .now_ms = 2000}, between = {.gflops = 75, .gbs = 28},
                   fast = quiet;
    struct machine *next[] = {&slow, &between, &fast};
    begin();
    sweep(&job, &slow);
    assert_int_equal(slow.measurements, 1);
    assert_string_equal(note, "roofs for 2 threads: measured and joined with those kept, since the probes "
                              "differ by 100 % from those beside them, more than 15 %");
    for (size_t i = 0; i < 3; i++) {
        next[i]->now_ms = 3000 + (int64_t)i;
        const struct pdnn_roof_rows *rows = sweep(&job, next[i]);
        assert_int_equal(next[i]->measurements, 0);
        assert_int_equal(rows->count, 4);
        const struct pdnn_roof_row *peak = peak_in(rows, "");
        assert_true(peak->low == 50 + 1.0 / 3 && peak->high == 100 + 1.0 / 3);
        assert_true(fabs(peak->value - (75 + 1.0 / 3)) < 1e-9 && peak->measurements == 2 &&
                    peak->repetitions == 18);
        assert_true(peak->measured_unix_ms == 2000 && peak->checked_unix_ms == next[i]->now_ms);
        assert_string_equal(note, "roofs for 2 threads: those of 1970-01-01T00:00Z and before, confirmed by "
                                  "probes within 0 %");
    }
}

/* Roofs of both states of the threads' distance stand side by side; a third sweep confirms those of its own.
 * At 1.45 times the distance it is still one state. */
static void test_states_join(void **state) {
    (void)state;
    const struct pdnn_roofs_job job = plain_job();
    struct machine near = {.gflops = 100, .gbs = 50, .handoff_ns = 105, .now_ms = 1000}, far = near,
                   third = near, apart = near;
    clear();
    assert_int_equal(sweep(&job, &near)->count, 5);
    assert_int_equal(peak_in(sweep(&job, &near), "")->measurements, 1);
    apart.handoff_ns = 152;
    sweep(&job, &apart);
    assert_int_equal(apart.measurements, 0);
    far.handoff_ns = 410;
    far.gflops = 98;
    far.now_ms = 2000;
    const struct pdnn_roof_rows *rows = sweep(&job, &far);
    assert_string_equal(note,
                        "roofs for 2 threads: measured and joined with those kept, since the threads are "
                        "farther apart than they were then");
    assert_int_equal(rows->count, 10);
    assert_true(peak_in(rows, "near")->value == 100 + 1.0 / 3 && peak_in(rows, "far")->value == 98 + 1.0 / 3);
    assert_true(peak_in(rows, "far")->low == (98 + 1.0 / 3) / 3); /* of its repetitions */
    third.now_ms = 3000;
    rows = sweep(&job, &third);
    assert_int_equal(third.measurements, 0);
    assert_int_equal(rows->count, 10);
    assert_true(peak_in(rows, "near")->checked_unix_ms == 3000 && peak_in(rows, "far")->checked_unix_ms == 0);
    assert_true(peak_in(rows, "near")->measured_unix_ms == 1000 &&
                peak_in(rows, "far")->measured_unix_ms == 2000);
}

/* The far one came first. */
static void test_near_joins_far(void **state) {
    (void)state;
    const struct pdnn_roofs_job job = plain_job();
    struct machine near = {.gflops = 100, .gbs = 50, .handoff_ns = 105, .now_ms = 2000}, far = near;
    far.handoff_ns = 410;
    far.now_ms = 1000;
    clear();
    sweep(&job, &far);
    assert_int_equal(sweep(&job, &near)->count, 10);
    assert_non_null(strstr(note, "since the threads are closer together than they were then"));
}

/* What must be measured joins as well, unless what is kept took less time. */
static void test_a_measurement_that_must_be_joins(void **state) {
    (void)state;
    struct pdnn_roofs_job job = plain_job();
    struct machine machine = {.gflops = 90, .gbs = 50, .now_ms = 2000};
    begin();
    job.must_measure = true;
    assert_int_equal(peak_in(sweep(&job, &machine), "")->measurements, 2);
    assert_int_equal(machine.measurements, 1);
    assert_int_equal(machine.probes, 0);
    assert_string_equal(
        note, "roofs for 2 threads: measured and joined with those kept, the last of 1970-01-01T00:00Z");
    job.seconds = 6;
    assert_int_equal(peak_in(sweep(&job, &machine), "")->measurements, 1);
}

/* What has no bandwidths counts for this sweep, says so, and is not kept. */
static void test_what_was_cut_short_is_not_kept(void **state) {
    (void)state;
    const struct pdnn_roofs_job job = plain_job();
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        struct machine busy = quiet, next = quiet;
        busy.is_cut = is_cut;
        clear();
        assert_int_equal(peak_in(sweep(&job, &busy), "")->measurements, 1);
        assert_string_equal(note,
                            is_cut ? "roofs for 2 threads: the machine is so busy that there was no time for "
                                     "bandwidths: rows are not placed, and nothing is kept"
                                   : "");
        sweep(&job, &next);
        assert_int_equal(next.measurements, is_cut);
    }
}

static void test_old_or_hasty_ones_are_measured_again(void **state) {
    (void)state;
    static const struct {
        int64_t now_ms;
        double seconds;
        bool is_kept;
    } rows[] = {{1000 + 24 * (int64_t)HOUR_MS, 5, true},
                {1001 + 24 * (int64_t)HOUR_MS, 5, false},
                {999, 5, false}, /* the clock was set back */
                {1000, 2, true},
                {1000, 5.1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_roofs_job job = plain_job();
        struct machine machine = quiet;
        begin();
        machine.now_ms = rows[i].now_ms;
        job.seconds = rows[i].seconds;
        sweep(&job, &machine);
        if (machine.measurements != !rows[i].is_kept || machine.probes != rows[i].is_kept)
            fail_msg("row %zu: %d measurements, %d probes", i, machine.measurements, machine.probes);
        assert_true((strstr(note, "more than a day old or were measured in less time") != NULL) ==
                    !rows[i].is_kept);
    }
}

static void test_any_change_is_a_miss(void **state) {
    (void)state;
    struct pdnn_host name = host, cpu = host, kernel = host, governor = host, memory = host, usable = host,
                     core = host;
    struct pdnn_software library = software;
    struct pdnn_roofs_job rows[12];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i] = plain_job();
    snprintf(name.name, sizeof name.name, "there");
    snprintf(cpu.cpu, sizeof cpu.cpu, "B");
    snprintf(kernel.kernel, sizeof kernel.kernel, "Linux 2");
    snprintf(governor.governor, sizeof governor.governor, "powersave");
    memory.memory_bytes *= 2;
    usable.memory_limit_bytes /= 2;
    core.core_pu[1] = 2;
    snprintf(library.row[1].version, sizeof library.row[1].version, "oneDNN 2");
    rows[0].context.host = &name;
    rows[1].context.host = &cpu;
    rows[2].context.host = &kernel;
    rows[3].context.host = &governor;
    rows[4].context.host = &memory;
    rows[5].context.host = &usable;
    rows[6].context.host = &core;
    rows[7].software = &library;
    rows[8].context.build = "1 (b)";
    rows[9].context.threads = 1;
    rows[10].context.variables = none;
    rows[11].directory = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine = quiet;
        begin();
        sweep(&rows[i], &machine);
        if (machine.measurements != 1 || machine.probes)
            fail_msg("row %zu: %d measurements, %d probes", i, machine.measurements, machine.probes);
    }
}

/* A little more or less free memory is no change. */
static void test_free_memory_may_differ(void **state) {
    (void)state;
    struct pdnn_host other = host;
    struct pdnn_roofs_job job = plain_job();
    struct machine machine = quiet;
    other.memory_limit_bytes = (UINT64_C(16) << 30) - 1;
    job.context.host = &other;
    begin();
    sweep(&job, &machine);
    assert_int_equal(machine.measurements, 0);
}

static void test_odd_entries_are_measured_again(void **state) {
    (void)state;
#define LIBRARIES "OpenBLAS 1, oneDNN 1\t"
#define HEADER    LIBRARIES "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\t"
    static const char *const texts[] = {
        "", "1000", "1000 5", "1000 5 ", "1000 5 " HEADER,
        "x 5 " HEADER "probe,fma,,,2,0,100,1,1,1\tprobe,read,,,2,0,50,1,1,1\t",
        "1000 x " HEADER "probe,fma,,,2,0,100,1,1,1\tprobe,read,,,2,0,50,1,1,1\t",
        "1000 nan " HEADER "probe,fma,,,2,0,100,1,1,1\tprobe,read,,,2,0,50,1,1,1\t",
        "1000 5 " HEADER "probe,fma,,,1,0,100,1,1,1\tprobe,read,,,1,0,50,1,1,1\t",
        "1000 5 " HEADER "probe,fma,,,2,0,-1,1,1,1\tprobe,read,,,2,0,50,1,1,1\t",
        "1000 5 " HEADER "probe,fma,,,2,0,100,1,1,1\t", "1000 5 " HEADER "compute,fma,f32,,2,0,100,1,1,1\t",
        "1000 5 " HEADER "probe,fma,,,2,0,100\t",
        /* torn in the second probe */
        "1000 5 " HEADER "probe,fma,,,2,0,100,1,1,1\tprobe,read,,,2,0,5"};
    const struct pdnn_roofs_job job = plain_job();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct machine machine = quiet;
        struct pdnn_kept file;
        struct pdnn_str context = {0};
        clear();
        pdnn_roof_cache_context(&job, &context);
        pdnn_kept_open(&file, folder, "roofs", pdnn_str_text(&context));
        pdnn_kept_add(&file, texts[i]);
        pdnn_str_finish(&context);
        const struct pdnn_roof_rows *rows = sweep(&job, &machine);
        if (machine.measurements != 1 || rows->count != 4 || rows->row[0].measurements != 1)
            fail_msg("'%s' is taken for roofs", texts[i]);
    }
}

static void test_failures_are_told(void **state) {
    (void)state;
    static struct pdnn_roof_rows roof_rows;
    struct machine machine = {.fails = true};
    struct pdnn_roofs_job job = plain_job();
    job.now_unix_ms = 2000;
    job.user = &machine;
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    begin();
    assert_int_equal(pdnn_roof_cache_get(&job, &roof_rows, &text, &err), PDNN_IO);
    assert_string_equal(err.text, "the probe failed");
    clear();
    assert_int_equal(pdnn_roof_cache_get(&job, &roof_rows, &text, &err), PDNN_IO);
    assert_string_equal(err.text, "the measurement failed");
    assert_int_equal(roof_rows.count, 0);
    pdnn_str_finish(&text);
}

/* For estimates: of whatever libraries, and no machine is asked. */
static void test_recalled_roofs_ask_no_machine(void **state) {
    (void)state;
    static struct pdnn_roof_rows ceilings;
    static const struct {
        int64_t now_ms;
        const char *build;
        int64_t threads;
        size_t count;
    } rows[] = {{1000 + HOUR_MS, "1 (a)", 2, 4},
                {1000 + 25 * (int64_t)HOUR_MS, "1 (a)", 2, 0},
                {1000 + HOUR_MS, "1 (b)", 2, 0},
                {1000 + HOUR_MS, "1 (a)", 1, 0}};
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_roofs_job job = plain_job();
        job.software = NULL;
        job.measure = NULL;
        job.seconds = 0;
        job.now_unix_ms = rows[i].now_ms;
        job.context.build = rows[i].build;
        job.context.threads = rows[i].threads;
        ceilings.count = 0;
        pdnn_roof_cache_recall(&job, &ceilings);
        assert_int_equal(ceilings.count, rows[i].count);
        assert_true(!ceilings.count ||
                    (ceilings.row[0].measured_unix_ms == 1000 && ceilings.row[0].checked_unix_ms == 0));
    }
}

static int setup(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pdnn_test_kept_roofs_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    clear();
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_roofs_are_used_and_say_so),
        cmocka_unit_test(test_roofs_of_another_state_are_measured_again),
        cmocka_unit_test(test_measurements_are_one_set),
        cmocka_unit_test(test_states_join),
        cmocka_unit_test(test_near_joins_far),
        cmocka_unit_test(test_a_measurement_that_must_be_joins),
        cmocka_unit_test(test_what_was_cut_short_is_not_kept),
        cmocka_unit_test(test_old_or_hasty_ones_are_measured_again),
        cmocka_unit_test(test_any_change_is_a_miss),
        cmocka_unit_test(test_free_memory_may_differ),
        cmocka_unit_test(test_odd_entries_are_measured_again),
        cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_recalled_roofs_ask_no_machine),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
