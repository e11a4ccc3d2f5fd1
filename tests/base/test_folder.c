#define _POSIX_C_SOURCE 200809L
#include "base/paths/folder.h"
#include "base/file.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 128 };

/* A directory, and the path to which a test moves it. */
struct place {
    char path[PATH_ROOM], away[PATH_ROOM + 8];
    struct pdnn_folder folder;
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->path, "/tmp/pdnn_test_folder_XXXXXX");
    if (!mkdtemp(place->path) || pdnn_folder_open(&place->folder, place->path, NULL) != PDNN_OK)
        return -1;
    snprintf(place->away, sizeof place->away, "%s.away", place->path);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    pdnn_folder_close(&place->folder);
    rmdir(place->path);
    rmdir(place->away);
    free(place);
    return 0;
}

static void expect_text(const char *directory, const char *name, const char *expected) {
    char path[2 * PATH_ROOM], *text;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(pdnn_file_read(path, 100, &text, NULL, NULL), PDNN_OK);
    assert_string_equal(text, expected);
    free(text);
    unlink(path);
}

static void test_folder_open_refuses_what_is_no_directory(void **state) {
    static const char *const paths[] = {"/nonexistent", "/dev/null"};
    char deep[PDNN_FOLDER_TEXT];
    struct pdnn_folder folder;
    struct pdnn_err err = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pdnn_folder_open(&folder, paths[i], &err), PDNN_INVALID);
        assert_non_null(strstr(err.text, paths[i]));
        pdnn_folder_close(&folder);
    }
    memset(deep, '/', sizeof deep - 1);
    deep[sizeof deep - 10] = 0;
    assert_int_equal(pdnn_folder_open(&folder, deep, &err), PDNN_INVALID);
    pdnn_folder_close(&folder);
}

static void test_folder_replace_stays_in_the_directory(void **state) {
    struct place *place = *state;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_folder_try(&place->folder, "table", &err), PDNN_OK);
    assert_int_equal(pdnn_folder_replace(&place->folder, "table", "one", 3, &err), PDNN_OK);
    assert_int_equal(rename(place->path, place->away), 0);
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_int_equal(pdnn_folder_replace(&place->folder, "table", "two", 3, &err), PDNN_OK);
    expect_text(place->away, "table", "two");
}

static void test_folder_check_names_the_path(void **state) {
    struct place *place = *state;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_folder_check(&place->folder, &err), PDNN_OK);
    assert_int_equal(rename(place->path, place->away), 0);
    assert_int_equal(pdnn_folder_check(&place->folder, &err), PDNN_IO);
    assert_non_null(strstr(err.text, place->path));
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_int_equal(pdnn_folder_check(&place->folder, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "replaced"));
    assert_int_equal(rmdir(place->away), 0);
    assert_int_equal(pdnn_folder_try(&place->folder, "table", &err), PDNN_INVALID);
    assert_int_equal(pdnn_folder_replace(&place->folder, "table", "one", 3, &err), PDNN_IO);
}

static void test_folder_clean_removes_only_temporaries(void **state) {
    static const char *const kept[] = {"paradnn-0123456789abcde.tmp", "paradnn-0123456789abcdef.csv",
                                       "results.csv"};
    static const char temporary[] = "paradnn-0123456789abcdef.tmp";
    struct place *place = *state;
    char path[PDNN_FOLDER_TEXT];
    assert_int_equal(pdnn_folder_replace(&place->folder, temporary, "torn", 4, NULL), PDNN_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pdnn_folder_replace(&place->folder, kept[i], "mine", 4, NULL), PDNN_OK);
    pdnn_folder_clean(&place->folder);
    pdnn_folder_clean(&place->folder);
    assert_int_equal(access(pdnn_folder_path(&place->folder, temporary, path), F_OK), -1);
    for (size_t i = 0; i < 3; i++)
        expect_text(place->path, kept[i], "mine");
}

/* Below $TMPDIR unless its path is too long for that of a socket in it; its own files go with it. */
static void test_folder_make_own(void **state) {
    static const struct {
        const char *temporary, *expected;
    } rows[] = {{"/tmp/", "/tmp//paradnn-"},
                {"", "/tmp/paradnn-"},
                {"/tmp/a-directory-whose-path-is-so-long-that-no-socket-fits-in-it", "/tmp/paradnn-"}};
    char path[PDNN_FOLDER_OWN_TEXT], file[PDNN_FOLDER_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("TMPDIR", rows[i].temporary, 1);
        assert_true(pdnn_folder_make_own(path));
        assert_int_equal(strncmp(path, rows[i].expected, strlen(rows[i].expected)), 0);
        assert_true(pdnn_path_join(file, path, "choices.txt"));
        assert_int_equal(pdnn_file_replace(file, "mine", 4, NULL), PDNN_OK);
        pdnn_folder_remove_own(path);
        assert_int_equal(access(path, F_OK), -1);
    }
    setenv("TMPDIR", "/nowhere", 1);
    assert_false(pdnn_folder_make_own(path));
    assert_string_equal(path, "");
    pdnn_folder_remove_own(path);
    unsetenv("TMPDIR");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder_open_refuses_what_is_no_directory),
        cmocka_unit_test(test_folder_make_own),
        cmocka_unit_test_setup_teardown(test_folder_replace_stays_in_the_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_check_names_the_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_clean_removes_only_temporaries, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
