#define _DEFAULT_SOURCE /* mkdtemp */
/* A merge of more visits than there is room for: what comes out does not depend on the room. */
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "models/instance.h"
#include "results/store/journal_table.h"
#include "results/table/write.h"
#include "session/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCES = 3, INSTANCES = 8, ROUNDS = 5, VISITS = SOURCES * INSTANCES * ROUNDS };

static const char spec[] = "sweep: batches\nrun: {threads: 2}\nmeasure: {rounds: 5}\nmodels:\n"
                           "  - fc: {layers: [1, 2], nodes: [8, 16], input: 16, output: 8, batch: [1, 2]}\n";
static const char environment[] = "written_utc: \"2026-11-22T10:00:00.000Z\"\nhost: \"node1\" # identity\n"
                                  "cores_usable: 2 # identity\nthreads_all: 2\n"
                                  "limit_memory_bytes: 16000000000\n";

static void put(const char *directory, const char *name, const char *text) {
    char path[256];
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(pdnn_file_replace(path, text, strlen(text), &err), PDNN_OK);
}

static char *get(const char *directory, const char *name) {
    char path[256], *text;
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(pdnn_file_read(path, 1 << 26, &text, NULL, &err), PDNN_OK);
    return text;
}

static const char *id_of(size_t i, char id[PDNN_ID_TEXT]) {
    snprintf(id, PDNN_ID_TEXT, "fc/layers=%zu,nodes=%d,input=16,output=8,batch=%zu,activation=relu,threads=2",
             1 + i / 4, i / 2 % 2 ? 16 : 8, 1 + i % 2);
    return id;
}

/* Sources have their visits in different orders, and the last one is a copy of the first, but for one. */
static void make_source(const char *directory, size_t source) {
    struct pdnn_str visits = {0}, ops = {0};
    size_t seed = source == SOURCES - 1 ? 0 : source;
    pdnn_table_csv_header(&visits, &pdnn_journal_def);
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
    for (size_t k = 0; k < INSTANCES * ROUNDS; k++) {
        char id[PDNN_ID_TEXT];
        size_t round = k / INSTANCES, instance = (k * (2 * seed + 3) + round) % INSTANCES;
        bool differs = source == SOURCES - 1 && k == INSTANCES * ROUNDS - 1;
        id_of(instance, id);
        pdnn_str_printf(&visits,
                        "3,\"%s\",%zu,ok,,2026-01-0%zuT00:%02zu:00.000Z,5,6,5,1,4,%zu,1,2.5,1,1,1,1,5,5,"
                        ",,,,,,,,precision,,2\n",
                        id, round + 1, 1 + seed, k, 1000 + 10 * instance + differs);
        for (int op = 0; op < 2; op++)
            pdnn_str_printf(&ops, "\"%s\",%zu,dense,forward,4x%d:16x4:4x16,,own,1,0,%zu\n", id, round + 1,
                            op + 1, 100 * (seed + 1) + k);
    }
    assert_int_equal(mkdir(directory, 0777), 0);
    put(directory, "spec.yaml", spec);
    put(directory, "environment.yaml", environment);
    put(directory, "journal.csv", pdnn_str_text(&visits));
    put(directory, "journal-ops.csv", pdnn_str_text(&ops));
    pdnn_str_finish(&visits);
    pdnn_str_finish(&ops);
}

static void ignore(void *user, const char *text) {
    (void)user;
    (void)text;
}

static enum pdnn_status merge(const char *root, size_t most_visits, char *output, size_t size,
                              struct pdnn_merge_result *result, struct pdnn_err *err) {
    char paths[SOURCES][128];
    const char *sources[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/source%zu", root, i);
        sources[i] = paths[i];
    }
    snprintf(output, size, "%s/merged%zu", root, most_visits);
    const struct pdnn_merge_request request = {.sources = sources,
                                               .n_sources = SOURCES,
                                               .output = output,
                                               .note = ignore,
                                               .most_visits = most_visits};
    return pdnn_merge(&request, result, err);
}

static void test_merge_batches(void **state) {
    (void)state;
    static const char *const names[] = {"journal.csv", "journal-ops.csv", "results.csv", "ops.csv"};
    /* All at once; one instance after the other; two and three of them; all but one. */
    static const size_t most[] = {VISITS, 15, 16, 30, 31, 45, VISITS - 1};
    char root[] = "/tmp/paradnn-test-batches-XXXXXX", whole[128], output[128], command[128];
    struct pdnn_merge_result expected, result;
    struct pdnn_err err = {0};
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < SOURCES; i++) {
        snprintf(output, sizeof output, "%s/source%zu", root, i);
        make_source(output, i);
    }
    enum pdnn_status status = merge(root, 0, whole, sizeof whole, &expected, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(expected.tally.instances, INSTANCES);
    assert_int_equal(expected.copies, INSTANCES * ROUNDS - 1);
    assert_int_equal(expected.visits, VISITS - expected.copies);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        assert_int_equal(merge(root, most[i], output, sizeof output, &result, &err), PDNN_OK);
        assert_int_equal(result.visits, expected.visits);
        assert_int_equal(result.copies, expected.copies);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            char *one = get(whole, names[k]), *other = get(output, names[k]);
            assert_string_equal(one, other);
            free(one);
            free(other);
        }
    }
    /* An instance has no room. */
    assert_int_equal(merge(root, 14, output, sizeof output, &result, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, ": more than 14 visits"));
    assert_int_not_equal(access(output, F_OK), 0);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
