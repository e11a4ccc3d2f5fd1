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

static void test_file_read_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 65534, 65535, 65536, 200000};
    static char bytes[200000];
    char path[PATH_ROOM];
    path_of("file", path);
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pdnn_err err = {0};
        char *text = NULL;
        size_t length;
        assert_int_equal(pdnn_file_replace(path, bytes, sizes[i], &err), PDNN_OK);
        assert_int_equal(pdnn_file_read(path, sizes[i], &text, &length, &err), PDNN_OK);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(text, bytes, length);
        assert_int_equal(text[length], 0);
        free(text);
        if (sizes[i])
            assert_int_equal(pdnn_file_read(path, sizes[i] - 1, &text, &length, &err), PDNN_INVALID);
    }
}

/* A byte order mark is not a part of the text, but only a whole one, once, in front. */
static void test_file_read_skips_a_byte_order_mark(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"\xef\xbb\xbf", ""},
                                          {"\xef\xbb\xbfx", "x"},
                                          {"\xef\xbb", "\xef\xbb"},
                                          {"x\xef\xbb\xbf", "x\xef\xbb\xbf"},
                                          {"\xef\xbb\xbf\xef\xbb\xbf", "\xef\xbb\xbf"}};
    char path[PATH_ROOM];
    path_of("file", path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text;
        size_t length;
        assert_int_equal(pdnn_file_replace(path, rows[i][0], strlen(rows[i][0]), NULL), PDNN_OK);
        assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, &length, NULL), PDNN_OK);
        assert_string_equal(text, rows[i][1]);
        assert_int_equal(length, strlen(rows[i][1]));
        free(text);
    }
}

/* Without a writer, opening or reading the pipe would wait forever. */
static void test_file_read_refuses_what_is_no_file(void **state) {
    (void)state;
    char pipe_path[PATH_ROOM], link[PATH_ROOM];
    assert_int_equal(mkfifo(path_of("pipe", pipe_path), 0600), 0);
    assert_int_equal(symlink(pipe_path, path_of("link", link)), 0);
    expect_refused(pipe_path, "is a pipe, expected a file");
    expect_refused(link, "is a pipe, expected a file");
    expect_refused("/dev/zero", "is a device, expected a file");
    expect_refused(directory, "is a directory, expected a file");
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
    char other[PATH_ROOM];
    snprintf(other, sizeof other, "/dev/fd/%d", ends[1]);
    expect_refused(other, "is a pipe, expected a file");
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

static void test_file_replace_replaces_a_link(void **state) {
    (void)state;
    char target[PATH_ROOM], link[PATH_ROOM];
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_replace(path_of("target", target), "old", 3, &err), PDNN_OK);
    assert_int_equal(symlink(target, path_of("link", link)), 0);
    assert_int_equal(pdnn_file_replace(link, "own", 3, &err), PDNN_OK);
    expect_text(target, "old");
    expect_text(link, "own");
}

static void test_file_add_keeps_what_is_there(void **state) {
    (void)state;
    char path[PATH_ROOM];
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_add_at(AT_FDCWD, path_of("file", path), path, "one", 3, &err), PDNN_OK);
    assert_int_equal(pdnn_file_add_at(AT_FDCWD, path, path, "two", 3, &err), PDNN_BUSY);
    expect_text(path, "one");
    assert_int_equal(count_files(false), 1);
    assert_int_equal(pdnn_file_add_at(AT_FDCWD, path_of("none/file", path), path, "x", 1, &err), PDNN_IO);
    assert_non_null(strstr(err.text, path));
}

static void test_file_try_changes_nothing(void **state) {
    (void)state;
    char path[PATH_ROOM], link[PATH_ROOM];
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_try_at(AT_FDCWD, path_of("file", path), path, &err), PDNN_OK);
    assert_int_equal(count_files(false), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pdnn_file_try_at(AT_FDCWD, path, path, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "is a directory, expected a file"));
    assert_int_equal(symlink(path, path_of("link", link)), 0);
    assert_int_equal(pdnn_file_try_at(AT_FDCWD, link, link, &err), PDNN_OK);
    assert_int_equal(count_files(false), 2);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(pdnn_file_try_at(AT_FDCWD, path_of("none/file", path), path, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, path));
}

static void test_file_descriptor(void **state) {
    static const struct {
        const char *path;
        int fd;
    } cases[] = {{"/dev/stdin", 0},           {"/dev/stdout", 1},   {"/dev/stderr", 2}, {"/dev/fd/63", 63},
                 {"/proc/self/fd/1", 1},      {"/dev/fd/", -1},     {"/dev/fd/x", -1},  {"/dev/fd/-1", -1},
                 {"/dev/fd/99999999999", -1}, {"/dev/stdout2", -1}, {"/dev/null", -1},  {"fd/1", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pdnn_file_descriptor(cases[i].path), cases[i].fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_read_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_read_skips_a_byte_order_mark, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_read_refuses_what_is_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_read_takes_an_inherited_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_leaves_neighbors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_that_fails_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_replace_replaces_a_link, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_add_keeps_what_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_try_changes_nothing, setup, teardown),
        cmocka_unit_test(test_file_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
