/* Choices kept between processes: what was measured is not measured again, unless anything it depends on has
 * changed or its entry is no entry. */
#define _DEFAULT_SOURCE
#include "runtime/worker/choices.h"
#include "tests/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], waits[] = "OMP_WAIT_POLICY=passive", library[] = "ONEDNN_CPU_ISA_HINTS=PREFER_YMM",
                        irrelevant[] = "ONEDNN_VERBOSE=1", places[] = "OMP_PLACES=cores";
static char *two[] = {waits, irrelevant, NULL}, *swapped[] = {places, waits, NULL},
            *more[] = {waits, irrelevant, library, NULL};

static const struct pdnn_host host = {.cpu = "A", .isa = "avx2", .threads = 2, .core_pu = {0, 1}};
static const struct pdnn_environment_key plain = {
    .host = &host, .build = "1 (a)", .library = "lib 1", .isa = "default", .threads = 2, .variables = two};

struct process {
    struct pdnn_tune tune;
    struct pdnn_kept kept;
    int calls;
    uint64_t cpu_ns, wall_ns; /* of each measurement */
};

static enum pdnn_status measure(void *state, bool is_guess, double *ns, struct pdnn_err *err) {
    struct process *process = state;
    (void)err;
    assert_false(is_guess);
    ns[0] = 10.0 / 3 + process->calls;
    ns[1] = INFINITY;
    process->calls++;
    process->tune.share.cpu_ns += process->cpu_ns;
    process->tune.share.wall_ns += process->wall_ns;
    return PDNN_OK;
}

static void begin(struct process *process, const struct pdnn_environment_key *context) {
    *process = (struct process){.calls = 0};
    pdnn_choices_keep(&process->tune, &process->kept, folder, context);
}

static const double *ask(struct process *process, const char *key, int n, int compilations) {
    struct pdnn_tune_question question = {
        .n = n, .compilations = compilations, .measure = measure, .state = process};
    static double ns[4];
    pdnn_tune_key_add(&question.key, "%s", key);
    pdnn_tune_begin(&process->tune);
    assert_int_equal(pdnn_tune_ask(&process->tune, &question, ns, NULL), PDNN_OK);
    return ns;
}

static void clear(void) {
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
}

static void test_another_process_does_not_measure(void **state) {
    (void)state;
    struct process first, second;
    clear();
    begin(&first, &plain);
    ask(&first, "op N=1", 2, 2);
    ask(&first, "op N=1", 2, 2);
    assert_int_equal(first.calls, 2);
    assert_int_equal(first.tune.n_measured, 2);
    begin(&second, &plain);
    const double *ns = ask(&second, "op N=1", 2, 2);
    assert_true(ns[0] == 10.0 / 3 && isinf(ns[1])); /* exactly what was measured */
    assert_int_equal(second.calls, 0);
    ask(&second, "op N=1", 2, 2);
    assert_int_equal(second.tune.n_recalled, 1);
    ask(&second, "op N=2", 2, 1);
    assert_int_equal(second.calls, 1);
    pdnn_tune_finish(&first.tune);
    pdnn_tune_finish(&second.tune);
}

static void test_half_measured_goes_on(void **state) {
    (void)state;
    struct process first, second;
    clear();
    begin(&first, &plain);
    ask(&first, "op", 2, 2);
    begin(&second, &plain);
    ask(&second, "op", 2, 2);
    ask(&second, "op", 2, 2);
    assert_int_equal(second.calls, 1);
    pdnn_tune_finish(&first.tune);
    pdnn_tune_finish(&second.tune);
}

static void test_any_change_is_a_miss(void **state) {
    (void)state;
    struct pdnn_host model = host, features = host, core = host, cache = host, cores = host, nodes = host;
    struct pdnn_environment_key rows[13];
    struct process process;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i] = plain;
    snprintf(model.cpu, sizeof model.cpu, "B");
    snprintf(features.isa, sizeof features.isa, "avx2 fma");
    core.core_pu[1] = 2;
    cache.cache_bytes[2] = 1;
    cores.threads = 3;
    nodes.numa_nodes = 2;
    rows[0].host = &model;
    rows[1].host = &features;
    rows[2].host = &core;
    rows[3].host = &cache;
    rows[4].host = &cores;
    rows[5].host = &nodes;
    rows[6].build = "1 (b)";
    rows[7].library = "lib 2";
    rows[8].isa = "avx2";
    rows[9].threads = 1;
    rows[10].variables = more;
    rows[11].variables = &two[1]; /* without OMP_WAIT_POLICY */
    rows[12].variables = swapped; /* the same, where it matters */
    clear();
    begin(&process, &plain);
    ask(&process, "op", 2, 1);
    pdnn_tune_finish(&process.tune);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&process, &rows[i]);
        ask(&process, "op", 2, 1);
        if (process.calls != (i < 12))
            fail_msg("row %zu: %d measurements", i, process.calls);
        pdnn_tune_finish(&process.tune);
    }
}

/* Sides that load their libraries from different directories know what either measured. */
static void test_any_library(void **state) {
    (void)state;
    static char old[] = "LD_LIBRARY_PATH=/old", new[] = "LD_LIBRARY_PATH=/new";
    char *variables[][4] = {
        {waits, old, NULL}, {new, waits, NULL}, {waits, NULL}, {waits, old, library, NULL}};
    static const int calls[][4] = {{1, 1, 1, 1}, {1, 0, 0, 1}}; /* where the path counts, where it does not */
    struct process process;
    for (int is_any = 0; is_any < 2; is_any++) {
        clear();
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
            struct pdnn_environment_key key = plain;
            key.variables = variables[i];
            key.is_any_library = is_any;
            begin(&process, &key);
            ask(&process, "op", 2, 1);
            assert_int_equal(process.calls, calls[is_any][i]);
            pdnn_tune_finish(&process.tune);
        }
    }
}

static void test_odd_entries_are_measured(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "1",
                                        "1 2",
                                        "1 2 5 6",
                                        "0 2 5 6 op",
                                        "-1 2 5 6 op",
                                        "1 -2 5 op",
                                        "1 2 -5 6 op",
                                        "1 2 nan 6 op",
                                        "1 2 inf inf op",
                                        "1 3 5 6 7 op",
                                        "1 2 5 op",
                                        "1 9999999999999999999 op",
                                        "x 2 5 6 op",
                                        "1 2 5 6 another"};
    struct process process;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        clear();
        begin(&process, &plain);
        pdnn_kept_add(&process.kept, texts[i]);
        pdnn_tune_finish(&process.tune);
        begin(&process, &plain);
        ask(&process, "op", 2, 1);
        if (process.calls != 1)
            fail_msg("'%s' is taken for an entry", texts[i]);
        pdnn_tune_finish(&process.tune);
    }
}

/* What was measured beside another program, or while the process was stopped, serves the process that
 * measured it, and so does what is measured under the same key later. */
static void test_busy_machines_keep_nothing(void **state) {
    (void)state;
    static const uint64_t ms = 1000000;
    static const struct {
        uint64_t cpu_ns, wall_ns;
        int64_t threads;
        bool is_kept;
    } rows[] = {{1900000, 1000000, 2, true},
                {1500000, 1000000, 2, false},
                {1500000, 1000000, 0, true}, /* threads that sleep: nothing can be told */
                {ms, 1000 * ms, 2, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct process first, second;
        clear();
        begin(&first, &plain);
        first.tune.threads = rows[i].threads;
        first.cpu_ns = rows[i].cpu_ns;
        first.wall_ns = rows[i].wall_ns;
        ask(&first, "op", 2, 1);
        ask(&first, "op", 2, 1);
        assert_int_equal(first.calls, 1);
        first.cpu_ns = 2 * first.wall_ns;
        ask(&first, "op", 2, 2);
        assert_int_equal(first.calls, 2);
        ask(&first, "other", 2, 1);
        begin(&second, &plain);
        ask(&second, "op", 2, 1);
        ask(&second, "other", 2, 1);
        if (second.calls != !rows[i].is_kept)
            fail_msg("row %zu: %d measurements", i, second.calls);
        pdnn_tune_finish(&first.tune);
        pdnn_tune_finish(&second.tune);
    }
}

static void test_later_entries_win(void **state) {
    (void)state;
    struct process process;
    clear();
    begin(&process, &plain);
    pdnn_kept_add(&process.kept, "1 2 5 6 op");
    pdnn_kept_add(&process.kept, "2 2 4 6 op");
    pdnn_tune_finish(&process.tune);
    begin(&process, &plain);
    assert_true(ask(&process, "op", 2, 2)[0] == 4);
    assert_int_equal(process.calls, 0);
    pdnn_tune_finish(&process.tune);
}

static void test_no_directory_keeps_nothing(void **state) {
    (void)state;
    struct process process = {.calls = 0};
    pdnn_choices_keep(&process.tune, &process.kept, "", &plain);
    ask(&process, "op", 2, 1);
    assert_int_equal(process.calls, 1);
    assert_null(process.tune.keep);
    pdnn_tune_finish(&process.tune);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%.30s/paradnn-choices-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    clear();
    return rmdir(folder);
}

/* Within one comparison, what was measured once is final in all processes, also beside other programs. */
static void test_choices_final(void **state) {
    struct process first, second;
    (void)state;
    clear();
    begin(&first, &plain);
    first.tune.is_final = true;
    first.tune.threads = 1;
    first.cpu_ns = 1000000;
    first.wall_ns = 4000000; /* a quarter of a core */
    const double once = ask(&first, "a", 2, 3)[0];
    assert_true(ask(&first, "a", 2, 3)[0] == once && first.calls == 1);
    begin(&second, &plain);
    second.tune.is_final = true;
    assert_true(ask(&second, "a", 2, 3)[0] == once && second.calls == 0);
    pdnn_tune_finish(&first.tune);
    pdnn_tune_finish(&second.tune);
    /* Elsewhere, another compilation measures again. */
    begin(&second, &plain);
    ask(&second, "a", 2, 3);
    assert_int_equal(second.calls, 1);
    pdnn_tune_finish(&second.tune);
}

/* Sides of a comparison that differ in isa or library have the same questions under one instruction set in
 * effect; what they picked is theirs. */
static void test_choices_made(void **state) {
    static const struct {
        const char *id, *effective;
        int pick;
        bool asks_alike, answers_alike;
    } rows[] = {
        {"fc/layers=4,threads=1", "avx2", 1, true, true},
        {"fc/layers=4,threads=1,isa=avx2", "avx2", 1, true, true},
        {"fc/layers=4,threads=1,library=old", "avx2", 1, true, true},
        {"fc/layers=4,threads=1,library=new", "avx2", 2, true, false},
        {"fc/layers=4,threads=1,isa=avx2", "avx", 1, false, true},
        {"fc/layers=4,threads=1,fuse=post-ops", "avx2", 1, false, true},
        {"fc/layers=5,threads=1", "avx2", 1, false, true},
    };
    const struct pdnn_tune_key key = {.text = "op"};
    struct pdnn_visit_choices first = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_tune tune = {0};
        struct pdnn_instance instance;
        assert_int_equal(pdnn_instance_parse(rows[i].id, &instance, NULL), PDNN_OK);
        pdnn_tune_note(&tune, &key, &rows[i].pick, 1);
        const struct pdnn_visit_choices made = pdnn_choices_made(&tune, &instance, rows[i].effective);
        first = i ? first : made;
        assert_int_equal(made.questions == first.questions, rows[i].asks_alike);
        assert_int_equal(made.answers == first.answers, rows[i].answers_alike);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_process_does_not_measure),
        cmocka_unit_test(test_half_measured_goes_on),
        cmocka_unit_test(test_any_change_is_a_miss),
        cmocka_unit_test(test_any_library),
        cmocka_unit_test(test_odd_entries_are_measured),
        cmocka_unit_test(test_busy_machines_keep_nothing),
        cmocka_unit_test(test_later_entries_win),
        cmocka_unit_test(test_no_directory_keeps_nothing),
        cmocka_unit_test(test_choices_final),
        cmocka_unit_test(test_choices_made),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
