/* Every <name>.yaml in the directory given as argument must be refused with the line in <name>.txt. */
#include "gen/expansion/expand.h"
#include "tests/cmocka_all.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MIN = 25, NAME_TEXT = 300 };

/* The error that reading and expanding ends with; "" if there is none. */
static void first_error(const char *path, struct pdnn_err *err) {
    struct pdnn_spec spec;
    struct pdnn_expand *expand = NULL;
    if (pdnn_spec_load(&path, 1, NULL, 0, &spec, err) != PDNN_OK)
        return;
    enum pdnn_status status = PDNN_OK;
    expand = pdnn_expand_create(&spec, 2, false);
    bool done = false;
    while (status == PDNN_OK && !done) {
        struct pdnn_expanded item;
        status = pdnn_expand_next(expand, &item, &done, err);
    }
    pdnn_expand_destroy(expand);
    pdnn_spec_finish(&spec);
}

static int check(const char *yaml) {
    char path[NAME_TEXT], line[PDNN_ERR_TEXT + 1];
    char *expected = NULL;
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%.*s.txt", (int)(strlen(yaml) - strlen(".yaml")), yaml);
    assert_int_equal(pdnn_file_read(path, PDNN_ERR_TEXT, &expected, NULL, NULL), PDNN_OK);
    first_error(yaml, &err);
    snprintf(line, sizeof line, "%s\n", err.text);
    int bad = strcmp(line, expected) != 0;
    if (bad)
        print_error("%s\n  expected: %s  but was:  %s", yaml, expected, line);
    free(expected);
    return bad;
}

static void test_bad_specs_messages(void **state) {
    (void)state;
    DIR *directory = opendir(".");
    assert_non_null(directory);
    int n_files = 0, n_bad = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".yaml") != 0)
            continue;
        n_files++;
        n_bad += check(entry->d_name);
    }
    closedir(directory);
    assert_int_equal(n_bad, 0);
    assert_true(n_files >= FILES_MIN);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_specs_messages)};
    if (argc != 2 || chdir(argv[1]) != 0)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
