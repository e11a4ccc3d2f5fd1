/* What is kept between processes: only intact lines of the same context come back, whatever is in the files.
 */
#define _DEFAULT_SOURCE
#include "base/file.h"
#include "base/paths/kept.h"
#include "base/str.h"
#include "tests/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[PDNN_KEPT_PATH];

static void collect(void *user, const char *text) {
    pdnn_str_printf(user, "%s|", text);
}

static void check_entries(const struct pdnn_kept *kept, const char *expected) {
    struct pdnn_str found = {0};
    pdnn_kept_read(kept, collect, &found);
    assert_string_equal(pdnn_str_text(&found), expected);
    pdnn_str_finish(&found);
}

static void test_directory_of_environment(void **state) {
    (void)state;
    char cache[] = "XDG_CACHE_HOME=/c", relative[] = "XDG_CACHE_HOME=c", empty[] = "XDG_CACHE_HOME=";
    char home[] = "HOME=/h", nowhere[] = "HOME=", huge[2 * PDNN_KEPT_PATH] = "HOME=/";
    memset(huge + 6, 'x', sizeof huge - 7);
    const struct {
        char *variables[3];
        const char *expected;
    } rows[] = {{{home, cache}, "/c/paradnn"},
                {{home, relative}, "/h/.cache/paradnn"},
                {{home, empty}, "/h/.cache/paradnn"},
                {{home}, "/h/.cache/paradnn"},
                {{nowhere}, ""},
                {{NULL}, ""},
                {{huge}, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char directory[PDNN_KEPT_PATH];
        pdnn_kept_directory(rows[i].variables, directory);
        assert_string_equal(directory, rows[i].expected);
    }
}

static void test_entries_come_back_in_their_context(void **state) {
    (void)state;
    struct pdnn_kept one, same, other;
    pdnn_kept_open(&one, folder, "a", "build 1");
    pdnn_kept_add(&one, "x 1");
    pdnn_kept_add(&one, "y 2");
    pdnn_kept_open(&same, folder, "a", "build 1");
    check_entries(&same, "x 1|y 2|");
    pdnn_kept_open(&other, folder, "a", "build 2");
    check_entries(&other, "");
    /* Not even if the file of another context is put in the place of this one's. */
    assert_int_equal(rename(one.path, other.path), 0);
    check_entries(&other, "");
    unlink(other.path);
}

static void test_damage_costs_only_its_line(void **state) {
    (void)state;
    struct pdnn_kept kept;
    char *text;
    size_t length;
    pdnn_kept_open(&kept, folder, "b", "context");
    pdnn_kept_add(&kept, "first 1");
    pdnn_kept_add(&kept, "second 2");
    assert_int_equal(pdnn_file_read(kept.path, 1 << 20, &text, &length, NULL), PDNN_OK);
    strstr(text, "first")[6] = '7'; /* another value under the old seal */
    int fd = open(kept.path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, text, length - 4), length - 4); /* and a torn end */
    static const char hostile[] = "\0\xff %s%n \n\n0123456789abcdef\n0123456789abcdef \n";
    close(fd);
    check_entries(&kept, "");
    pdnn_kept_add(&kept, "third 3"); /* on a line of its own */
    check_entries(&kept, "third 3|");
    fd = open(kept.path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, hostile, sizeof hostile), sizeof hostile);
    close(fd);
    pdnn_kept_add(&kept, "fourth 4");
    check_entries(&kept, "third 3|fourth 4|");
    free(text);
    unlink(kept.path);
}

/* A directory, a pipe and a link in the file's place, and a folder that cannot be made. */
static void test_odd_places_are_harmless(void **state) {
    (void)state;
    struct pdnn_kept kept;
    char target[PDNN_KEPT_FILE + 8];
    pdnn_kept_open(&kept, folder, "c", "context");
    unlink(kept.path);
    assert_int_equal(mkdir(kept.path, 0700), 0);
    pdnn_kept_open(&kept, folder, "c", "context");
    pdnn_kept_add(&kept, "x");
    check_entries(&kept, "");
    rmdir(kept.path);
    assert_int_equal(mkfifo(kept.path, 0600), 0);
    pdnn_kept_add(&kept, "x");
    check_entries(&kept, "");
    unlink(kept.path);
    snprintf(target, sizeof target, "%s.target", kept.path);
    assert_int_equal(symlink(target, kept.path), 0);
    pdnn_kept_add(&kept, "x");
    assert_int_equal(access(target, F_OK), -1);
    unlink(kept.path);
    pdnn_kept_open(&kept, "/proc/self/no/such", "c", "context");
    pdnn_kept_add(&kept, "x");
    check_entries(&kept, "");
    pdnn_kept_open(&kept, "", "c", "context");
    pdnn_kept_add(&kept, "x");
    check_entries(&kept, "");
    assert_string_equal(kept.path, "");
}

static size_t count_files(const char *kind) {
    DIR *entries = opendir(folder);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(entries));)
        count += strncmp(entry->d_name, kind, strlen(kind)) == 0;
    closedir(entries);
    return count;
}

static void test_files_and_bytes_are_bounded(void **state) {
    (void)state;
    struct pdnn_kept kept;
    struct stat info;
    for (int i = 0; i < PDNN_KEPT_FILES + 8; i++) {
        char context[32];
        snprintf(context, sizeof context, "context %d", i);
        pdnn_kept_open(&kept, folder, "d", context);
    }
    assert_true(count_files("d-") <= PDNN_KEPT_FILES + 1);
    enum { LONG = 1 << 16 };
    char *text = calloc(LONG + 1, 1);
    memset(text, 'x', LONG);
    for (int i = 0; i < 2 * PDNN_KEPT_BYTES / LONG; i++)
        pdnn_kept_add(&kept, text);
    assert_int_equal(stat(kept.path, &info), 0);
    assert_true(info.st_size <= PDNN_KEPT_BYTES && info.st_size > PDNN_KEPT_BYTES / 2);
    pdnn_kept_open(&kept, folder, "d", "context 71"); /* full: starts over */
    assert_int_equal(stat(kept.path, &info), 0);
    assert_true(info.st_size < LONG);
    free(text);
}

static void count_line(void *user, const char *text) {
    int a, b, *count = user;
    assert_int_equal(sscanf(text, "%d of %d", &a, &b), 2);
    (*count)++;
}

static void test_processes_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 4, LINES = 500 };
    struct pdnn_kept kept;
    int count = 0;
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            pdnn_kept_open(&kept, folder, "e", "context");
            for (int k = 0; k < LINES; k++) {
                char text[64];
                snprintf(text, sizeof text, "%d of %d ........................", k, i);
                pdnn_kept_add(&kept, text);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
    pdnn_kept_open(&kept, folder, "e", "context");
    pdnn_kept_read(&kept, count_line, &count);
    assert_int_equal(count, PROCESSES * LINES);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s/paradnn-kept-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory_of_environment),
        cmocka_unit_test(test_entries_come_back_in_their_context),
        cmocka_unit_test(test_damage_costs_only_its_line),
        cmocka_unit_test(test_odd_places_are_harmless),
        cmocka_unit_test(test_files_and_bytes_are_bounded),
        cmocka_unit_test(test_processes_at_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
