#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "tests/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 20 };

static char directory[] = "/tmp/pdnn_test_file_XXXXXX";

static const char *path_of(const char *name, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
    return path;
}

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static size_t count_files(bool remove) {
    size_t count = 0;
    DIR *files = opendir(directory);
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[PATH_ROOM + 256];
        if (entry->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (remove)
            unlink(path);
    }
    closedir(files);
    return count;
}

static int teardown(void **state) {
    (void)state;
    count_files(true);
    return rmdir(directory);
}

static void expect_text(const char *path, const char *expected) {
    struct pdnn_err err = {0};
    char *text;
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void expect_refused(const char *path, const char *kind) {
    struct pdnn_err err = {0};
    char *text = NULL;
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, NULL, &err), PDNN_INVALID);
    assert_null(text);
    if (!strstr(err.text, path) || !strstr(err.text, kind))
        fail_msg("'%s' lacks '%s' or '%s'", err.text, path, kind);
}

/* Without a writer, opening or reading the pipe would wait forever. */
static void test_file_read_refuses_what_is_no_file(void **state) {
    (void)state;
    char pipe_path[PATH_ROOM], link[PATH_ROOM];
    assert_int_equal(mkfifo(path_of("pipe", pipe_path), 0600), 0);
    assert_int_equal(symlink(pipe_path, path_of("link", link)), 0);
    alarm(20);
    expect_refused(pipe_path, "is a pipe, expected a file");
    expect_refused(link, "is a pipe, expected a file");
    expect_refused("/dev/zero", "is a device, expected a file");
    expect_refused(directory, "is a directory, expected a file");
    alarm(0);
}

/* What `list <(command)` passes; but not a link of another name to it. */
static void test_file_read_takes_an_inherited_pipe(void **state) {
    (void)state;
    int ends[2];
    char path[PATH_ROOM], link[PATH_ROOM];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "text", 4), 4);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(symlink(path, path_of("link", link)), 0);
    expect_refused(link, "is a pipe, expected a file");
    close(ends[1]);
    expect_text(path, "text");
    close(ends[0]);
}

static void test_file_replace_leaves_neighbors(void **state) {
    (void)state;
    char path[PATH_ROOM], planted[PATH_ROOM], victim[PATH_ROOM];
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_replace(path_of("victim", victim), "mine", 4, &err), PDNN_OK);
    assert_int_equal(symlink(victim, path_of("table.tmp", planted)), 0);
    assert_int_equal(pdnn_file_replace(path_of("table", path), "one", 3, &err), PDNN_OK);
    assert_int_equal(pdnn_file_replace(path, "two", 3, &err), PDNN_OK);
    expect_text(path, "two");
    expect_text(victim, "mine");
    expect_text(planted, "mine");
    assert_int_equal(count_files(false), 3);
}

static void test_file_replace_that_fails_leaves_nothing(void **state) {
    (void)state;
    char path[PATH_ROOM];
    struct pdnn_err err = {0};
    assert_int_equal(mkdir(path_of("directory", path), 0700), 0);
    assert_int_equal(pdnn_file_replace(path, "one", 3, &err), PDNN_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(count_files(false), 1);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(pdnn_file_replace(path_of("none/file", path), "one", 3, &err), PDNN_IO);
    assert_non_null(strstr(err.text, path));
}

static void test_file_replace_replaces_a_link_and_write_follows_it(void **state) {
    (void)state;
    char target[PATH_ROOM], link[PATH_ROOM];
    struct pdnn_err err = {0};
    struct stat info;
    assert_int_equal(pdnn_file_replace(path_of("target", target), "old", 3, &err), PDNN_OK);
    assert_int_equal(symlink(target, path_of("link", link)), 0);
    assert_int_equal(pdnn_file_write(link, "new", 3, &err), PDNN_OK);
    expect_text(target, "new");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(pdnn_file_replace(link, "own", 3, &err), PDNN_OK);
    expect_text(target, "new");
    expect_text(link, "own");
}

static void test_file_clean_removes_only_temporaries(void **state) {
    static const char *const kept[] = {"paradnn-0123456789abcde.tmp", "paradnn-0123456789abcdef.csv",
                                       "results.csv"};
    char path[PATH_ROOM];
    struct pdnn_err err = {0};
    (void)state;
    assert_int_equal(pdnn_file_replace(path_of("paradnn-0123456789abcdef.tmp", path), "torn", 4, &err),
                     PDNN_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pdnn_file_replace(path_of(kept[i], path), "mine", 4, &err), PDNN_OK);
    pdnn_file_clean(directory);
    assert_int_equal(access(path_of("paradnn-0123456789abcdef.tmp", path), F_OK), -1);
    for (size_t i = 0; i < 3; i++)
        expect_text(path_of(kept[i], path), "mine");
    pdnn_file_clean("/nonexistent");
}

static void test_file_write_into_a_pipe(void **state) {
    (void)state;
    char path[PATH_ROOM], got[8] = "";
    struct pdnn_err err = {0};
    assert_int_equal(mkfifo(path_of("pipe", path), 0600), 0);
    alarm(20);
    assert_int_equal(pdnn_file_write(path, "text", 4, &err), PDNN_IO);
    assert_non_null(strstr(err.text, path));
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(pdnn_file_write(path, "text", 4, &err), PDNN_OK);
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(fd);
    assert_int_equal(pdnn_file_write("/dev/null", "text", 4, &err), PDNN_OK);
    alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_read_refuses_what_is_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_read_takes_an_inherited_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_clean_removes_only_temporaries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_leaves_neighbors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_that_fails_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_replaces_a_link_and_write_follows_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_file_write_into_a_pipe, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
