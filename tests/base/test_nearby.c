/* The file that a mistyped path means. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "tests/cmocka_all.h"

#include "base/paths/nearby.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"fc.yaml", "cnn.yml", "notes.txt", "fc.results", ".hidden"};

static void test_nearby_rows(void **state) {
    (void)state;
    char folder[] = "/tmp/paradnn-nearby-XXXXXX", path[128], expected[256], buffer[PDNN_NEARBY_TEXT];
    static const char *const endings[] = {".yaml", ".yml", NULL}, *const results[] = {".results", NULL};
    static const struct {
        const char *name;
        const char *const *endings;
        const char *meant;
    } rows[] = {
        {"fc.yml", endings, "fc.yaml"},
        {"fc", endings, "fc.yaml"},
        {"FC.yaml", endings, "fc.yaml"},
        {"cn.yaml", endings, "cnn.yml"},
        {"notes", endings, NULL},
        {"something.yaml", endings, NULL},
        {"fc.result", results, "fc.results"},
        {"cnn.results", results, NULL},
        {"", endings, NULL},
    };
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].name);
        expected[0] = 0;
        if (rows[i].meant)
            snprintf(expected, sizeof expected, ", did you mean '%s/%s'?", folder, rows[i].meant);
        assert_string_equal(pdnn_nearby(buffer, path, rows[i].endings), expected);
    }
    assert_string_equal(pdnn_nearby(buffer, "/nowhere/at/all.yaml", endings), "");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearby_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
