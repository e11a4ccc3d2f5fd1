#define _POSIX_C_SOURCE 200809L
/* The record of a spec is the spec as it ran: read again, it gives the same instances in the same order, and
 * the same rules. The directory given as argument holds more specs to try. */
#include "base/str.h"
#include "gen/expansion/expand.h"
#include "tests/gen/spec_file.h"

#include <dirent.h>

enum { SETS_MAX = 3, FILES_MIN = 3, PATH_TEXT = 300 };

static const char *sweeps;

/* One line per instance: its id, and what filters it. */
static void list_instances(const struct pdnn_spec *spec, struct pdnn_str *lines) {
    struct pdnn_expand *expand = NULL;
    struct pdnn_err err = {0};
    expand = pdnn_expand_create(spec, 2, false);
    for (;;) {
        struct pdnn_expanded item;
        bool done;
        char id[PDNN_ID_TEXT];
        if (pdnn_expand_next(expand, &item, &done, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        if (done)
            break;
        pdnn_str_printf(lines, "%s %s\n", pdnn_instance_format(&item.instance, id), item.reason);
    }
    assert_true(lines->length > 0);
    pdnn_expand_destroy(expand);
}

static void must_load(const char *const *arguments, size_t n_arguments, const char *const *sets,
                      size_t n_sets, struct pdnn_spec *spec) {
    struct pdnn_err err = {0};
    if (pdnn_spec_load(arguments, n_arguments, sets, n_sets, spec, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static void assert_same_rules(const struct pdnn_spec *a, const struct pdnn_spec *b) {
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->measure.rounds, b->measure.rounds);
    assert_true(a->measure.precision == b->measure.precision);
    assert_int_equal(a->measure.min_samples, b->measure.min_samples);
    assert_int_equal(a->measure.max_time_ns, b->measure.max_time_ns);
    assert_int_equal(a->measure.probe, b->measure.probe);
    assert_int_equal(a->measure.order, b->measure.order);
    assert_true(a->limits.memory_fraction == b->limits.memory_fraction);
    assert_int_equal(a->limits.memory_bytes, b->limits.memory_bytes);
    assert_int_equal(a->limits.time_ns, b->limits.time_ns);
    assert_int_equal(a->limits.budget_ns, b->limits.budget_ns);
}

/* Loads the spec, writes the record to a file, loads that, and compares. If text is
 * not NULL, it gets the record. */
static void check_round_trip(const char *const *arguments, size_t n_arguments, const char *const *sets,
                             size_t n_sets, struct pdnn_str *text) {
    struct pdnn_spec spec, again;
    struct pdnn_str lines = {0}, lines_again = {0};
    char path[SPEC_FILE_PATH];
    must_load(arguments, n_arguments, sets, n_sets, &spec);
    spec_file_write(spec.text, strlen(spec.text), path);
    must_load(&(const char *){path}, 1, NULL, 0, &again);
    unlink(path);
    list_instances(&spec, &lines);
    list_instances(&again, &lines_again);
    assert_string_equal(lines_again.text, lines.text);
    assert_same_rules(&again, &spec);
    assert_string_equal(strstr(again.text, "\n---\n"), strstr(spec.text, "\n---\n"));
    if (text)
        pdnn_str_printf(text, "%s", spec.text);
    pdnn_str_finish(&lines);
    pdnn_str_finish(&lines_again);
    pdnn_spec_finish(&spec);
    pdnn_spec_finish(&again);
}

static void test_record_shipped_sweeps(void **state) {
    (void)state;
    static const char *const sets[][SETS_MAX] = {
        {NULL},
        {"run.mode=infer", NULL},
        {"measure.cache=[cold, warm]", "limits.budget=2h", "models.0.where=not batch == 64"},
        {"models.0.sample={count: 5, method: sobol}", "seed=9", NULL},
        {"models.0.where=batch > 1 and params > 2e5", "run.threads=[1, all]", "run.optimizer=sgd"},
    };
    DIR *directory = opendir(sweeps);
    assert_non_null(directory);
    int n_files = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".yaml") != 0)
            continue;
        char path[PATH_TEXT];
        snprintf(path, sizeof path, "%s/%s", sweeps, entry->d_name);
        /* As it is, and with one of the others, which all sweeps together go through. */
        const size_t others = sizeof sets / sizeof *sets - 1,
                     picked[] = {0, 1 + strlen(entry->d_name) % others};
        for (size_t k = 0; k < 2; k++) {
            size_t n_sets = 0, i = picked[k];
            while (n_sets < SETS_MAX && sets[i][n_sets])
                n_sets++;
            check_round_trip(&(const char *){path}, 1, sets[i], n_sets, NULL);
        }
        n_files++;
    }
    closedir(directory);
    assert_true(n_files >= FILES_MIN);
}

/* Table 2 of the paper: as many points as it says for each kind of model, in both modes. */
static void test_record_table2_has_the_published_points(void **state) {
    static const struct {
        const char *kind; /* what all its ids begin with */
        size_t points;
    } kinds[] = {{"fc/", 9720},          {"cnn/block=residual,", 1080}, {"cnn/block=bottleneck,", 1080},
                 {"rnn/cell=rnn,", 720}, {"rnn/cell=lstm,", 720},       {"rnn/cell=gru,", 720}};
    char path[PATH_TEXT];
    struct pdnn_spec spec;
    struct pdnn_str lines = {0};
    size_t all = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/table2.yaml", sweeps);
    must_load(&(const char *){path}, 1, NULL, 0, &spec);
    list_instances(&spec, &lines);
    /* A text of its own for each line: sanitizers look for the end of what is searched. */
    for (size_t i = 0; i < lines.length; i++)
        lines.text[i] = lines.text[i] == '\n' ? '\0' : lines.text[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t trained = 0, inferred = 0;
        for (const char *line = lines.text; line < lines.text + lines.length; line += strlen(line) + 1) {
            bool is_kind = strncmp(line, kinds[i].kind, strlen(kinds[i].kind)) == 0;
            bool infers = strstr(line, "mode=infer");
            trained += is_kind && !infers;
            inferred += is_kind && infers;
            all += i == 0;
        }
        assert_int_equal(trained, kinds[i].points);
        assert_int_equal(inferred, kinds[i].points);
    }
    assert_int_equal(all, 2 * 14040);
    pdnn_str_finish(&lines);
    pdnn_spec_finish(&spec);
}

static void test_record_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *set; /* set may be NULL */
    } rows[] = {
        {"models: [{fc: }]", NULL},
        {"models:\n  - fc: ~\n  - {fc: null, where: 'layers == 4'}\n", "models.1.fc.batch=2"},
        {"models:\n  - fc: &m {batch: [1, 2], nodes: &n [5]}\n  - fc: *m\n", "models.0.fc.nodes=7"},
        {"sweep: 'quoted'\nseed: \"3\"\nmodels: [{fc: {batch: '1', activation: \"tanh\"}}]", NULL},
        {"models:\n  - fc: {batch: [1, 2, 3]}\n    where: >\n      batch > 1\n      and batch < 3\n", NULL},
        {"models:\n  - fc: {batch: [1, 2, 3]}\n    where: |\n      batch > 1\n      or batch < 3\n", NULL},
        {"models:\n  - fc: {batch: [1, 2]}\n    where: 'batch > 1 ? 1 : 0'\n", NULL},
        {"models:\n  - fc: {input: [1, 2], nodes: {from: 4, to: 64, times: 2}, output: [3, 4]}\n"
         "    zip: [[input, output]]\n    sample: {count: 3, method: random}\n",
         "models.0.where=mod(nodes, 8) == 0"},
        {"limits: {memory: 50%, budget: none}\nmeasure: {precision: 0.5%, order: cost, probe: off}\n"
         "models: [{fc: {preset: paper-min}}]",
         "measure.rounds=9"},
        {"run: {mode: infer}\nmodels: [{fc: {batch: 1}}]\n---\nseed: 4\nmodels: [{fc: {batch: 2}}]\n...\n",
         "models.1.fc.nodes=3"},
        {"models: [{fc: {batch: 1}}]", "run={mode: [infer, train], optimizer: sgd}"},
        {"run: {algorithm: [auto, direct]}\n"
         "models:\n  - cnn: {preset: resnet50, blocks: [[3, 4, 6, 3], [2], 1-2-1-1], image: 64}\n",
         "models.0.cnn.filters=[16, 32]"},
        {"models: [{cnn: {block: [plain, residual], padding: [same, 1, [0, 1]], image: 64}}]",
         "models.0.cnn.blocks=[[1, 2], 3-1]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[SPEC_FILE_PATH];
        spec_file_write(rows[i].text, strlen(rows[i].text), path);
        check_round_trip(&(const char *){path}, 1, &rows[i].set, rows[i].set ? 1 : 0, NULL);
        unlink(path);
    }
}

/* Ids before a file: the file's rules apply, also after the record is read. */
static void test_record_several(void **state) {
    (void)state;
    static const char text[] =
        "sweep: first\nseed: 3\nrun: {mode: infer}\nmeasure: {rounds: 7, cache: warm}\nlimits: {time: 9s}\n"
        "models:\n  - fc: {nodes: {from: 1, to: 4096, plus: 1}}\n    sample: {count: 4}\n";
    char path[SPEC_FILE_PATH];
    struct pdnn_str record = {0};
    struct pdnn_spec spec;
    spec_file_write(text, strlen(text), path);
    const char *arguments[] = {"fc/batch=3,cache=cold", "fc:paper-min,mode=infer", path, "cnn:vgg16,batch=1"};
    static const char *const sets[] = {"run.dtype=f32", "models.1.fc.nodes=5"};
    must_load(arguments, 4, NULL, 0, &spec);
    assert_int_equal(spec.seed, 3);
    assert_int_equal(spec.measure.rounds, 7);
    assert_int_equal(spec.limits.time_ns, UINT64_C(9000000000));
    pdnn_spec_finish(&spec);
    check_round_trip(arguments, 4, NULL, 0, NULL);
    check_round_trip(arguments, 4, sets, 2, &record);
    assert_non_null(strstr(record.text, "\n#   fc/batch=3,cache=cold\n#   fc:paper-min,mode=infer\n"));
    assert_non_null(strstr(record.text, "\n#   --set models.1.fc.nodes=5\n---\nsweep: first\nseed: 3\n"));
    assert_non_null(strstr(record.text, "\nmeasure: {rounds: 7, cache: cold}\n"));
    check_round_trip(arguments, 2, sets, 2, NULL);
    pdnn_str_finish(&record);
    unlink(path);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_shipped_sweeps),
        cmocka_unit_test(test_record_table2_has_the_published_points),
        cmocka_unit_test(test_record_texts),
        cmocka_unit_test(test_record_several),
    };
    if (argc != 2)
        return 2;
    sweeps = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
