#define _POSIX_C_SOURCE 200809L
#include "base/paths/target.h"
#include "base/file.h"
#include "tests/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 128 };

static char directory[] = "/tmp/pdnn_test_target_XXXXXX";
static const char *const names[] = {"file", "link", "second", "pipe", "inner/file"};

static const char *path_of(const char *name, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
    return path;
}

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state) {
    char path[PATH_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i], path));
    rmdir(path_of("inner", path));
    return rmdir(directory); /* fails if anything else was left */
}

static void expect_text(const char *path, const char *expected) {
    char *text;
    assert_int_equal(pdnn_file_read(path, 100, &text, NULL, NULL), PDNN_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void write_target(const char *path, const char *text) {
    struct pdnn_err err = {0};
    struct pdnn_target target;
    if (pdnn_target_open(&target, path, &err) != PDNN_OK ||
        pdnn_target_write(&target, text, strlen(text), &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_target_close(&target);
}

static void expect_refused(const char *path, const char *cause) {
    struct pdnn_err err = {0};
    struct pdnn_target target;
    assert_int_equal(pdnn_target_open(&target, path, &err), PDNN_INVALID);
    if (!strstr(err.text, path) || !strstr(err.text, cause))
        fail_msg("'%s' lacks '%s' or '%s'", err.text, path, cause);
    pdnn_target_close(&target);
}

static bool is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/* One link leads to another, relative to its own directory; the file is there or not. */
static void test_target_goes_through_links(void **state) {
    char file[PATH_ROOM], link[PATH_ROOM], second[PATH_ROOM], inner[PATH_ROOM];
    (void)state;
    assert_int_equal(mkdir(path_of("inner", inner), 0700), 0);
    assert_int_equal(symlink("second", path_of("link", link)), 0);
    assert_int_equal(symlink("inner/file", path_of("second", second)), 0);
    for (int i = 0; i < 2; i++) {
        write_target(link, i ? "again" : "new");
        assert_true(is_link(link) && is_link(second));
        expect_text(path_of("inner/file", file), i ? "again" : "new");
        assert_false(pdnn_target_is_stream(link));
    }
    struct pdnn_target target;
    assert_int_equal(pdnn_target_open_own(&target, link, NULL), PDNN_OK);
    assert_int_equal(pdnn_target_write(&target, "own", 3, NULL), PDNN_OK);
    assert_false(is_link(link));
    expect_text(file, "again");
    expect_text(link, "own");
}

static void test_target_is_tried_first(void **state) {
    char path[PATH_ROOM], link[PATH_ROOM];
    (void)state;
    expect_refused(directory, "is a directory, expected a file");
    expect_refused(path_of("none/file", path), "cannot be written: No such file");
    expect_refused("/dev/fd/999", "cannot be written: Bad file");
    assert_int_equal(symlink(directory, path_of("link", link)), 0);
    expect_refused(link, "is a directory, expected a file");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("link", link), 0);
    expect_refused(link, "goes in circles");
}

/* Appended to what is there, as a shell's redirection would be; through a link, too. */
static void test_target_is_an_own_descriptor(void **state) {
    char file[PATH_ROOM], link[PATH_ROOM], path[PATH_ROOM];
    (void)state;
    int fd = open(path_of("file", file), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(symlink(path, path_of("link", link)), 0);
    assert_true(pdnn_target_is_stream(path) && pdnn_target_is_stream(link));
    write_target(path, "two ");
    write_target(link, "three ");
    assert_int_equal(write(fd, "four", 4), 4);
    expect_text(file, "one two three four");
    close(fd);
    fd = open(file, O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    expect_refused(path, "is not open for writing");
    close(fd);
}

static void test_target_is_a_device_or_a_pipe(void **state) {
    char path[PATH_ROOM], got[8] = "";
    struct stat info;
    (void)state;
    assert_true(pdnn_target_is_stream("/dev/null"));
    write_target("/dev/null", "text");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(mkfifo(path_of("pipe", path), 0600), 0);
    assert_true(pdnn_target_is_stream(path));
    expect_refused(path, "nobody reads this pipe");
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    write_target(path, "text");
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(fd);
    struct pdnn_target target;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_target_open(&target, "/dev/full", &err), PDNN_OK);
    assert_int_equal(pdnn_target_write(&target, "text", 4, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "/dev/full: "));
    pdnn_target_close(&target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_target_goes_through_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_target_is_tried_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_target_is_an_own_descriptor, setup, teardown),
        cmocka_unit_test_setup_teardown(test_target_is_a_device_or_a_pipe, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
