#define _POSIX_C_SOURCE 200809L
/* A directory of libraries against what a worker says that it loaded. */
#include "runtime/driver/worker/library_dir.h"
#include "tests/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/paradnn-test-XXXXXX";

static void touch(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void drop(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(unlink(path), 0);
}

/* What a worker loaded, by path; "%s" is the directory. */
static struct pdnn_software loaded_from(const char *onednn, const char *openblas, const char *build) {
    struct pdnn_software software = {.count = 3, .row = {{"onednn"}, {"openblas"}, {"reference"}}};
    snprintf(software.row[0].version, sizeof software.row[0].version, "oneDNN 3 (avx2), build %s", build);
    snprintf(software.row[0].path, sizeof software.row[0].path, "%s%s", *onednn == '/' ? "" : directory,
             *onednn == '/' ? onednn : onednn + 1);
    snprintf(software.row[1].path, sizeof software.row[1].path, "%s%s", *openblas == '/' ? "" : directory,
             *openblas == '/' ? openblas : openblas + 1);
    return software;
}

static void check(struct pdnn_software software, const struct pdnn_software *known, const char *message) {
    const struct pdnn_library_dir library = {1, directory, known};
    struct pdnn_err err = {0};
    char expected[sizeof err.text];
    const enum pdnn_status status = pdnn_library_dir_check(&library, &software, &err);
    assert_int_equal(status, message ? PDNN_INVALID : PDNN_OK);
    snprintf(expected, sizeof expected, "%s%s", message && *message == '~' ? directory : "",
             message ? message + (*message == '~') : "");
    assert_string_equal(err.text, expected);
}

static void test_check(void **state) {
    (void)state;
    static const char lib3[] = "/lib/libdnnl.so.3", blas[] = "/lib/libopenblas.so.0";
    assert_non_null(mkdtemp(directory));
    check(loaded_from(lib3, blas, "a"), NULL,
          "~ has none of the libraries, and workers load libdnnl.so.3 or libopenblas.so.0");
    touch("libdnnl.so.2");
    check(loaded_from(lib3, blas, "a"), NULL,
          "~ has libdnnl.so.2, and workers load libdnnl.so.3 or libopenblas.so.0");
    touch("libopenblas.so.0");
    check(loaded_from(lib3, "~/libopenblas.so.0", "a"), NULL, NULL);
    touch("libdnnl.so.3");
    check(loaded_from("~/libdnnl.so.3", "~/libopenblas.so.0", "a"), NULL, NULL);
    drop("libopenblas.so.0");
    check(loaded_from("~/libdnnl.so.3", blas, "a"), NULL, NULL);
    check(loaded_from("~/sub/libdnnl.so.3", blas, "a"), NULL, NULL); /* of glibc-hwcaps */
    char message[256];
    snprintf(message, sizeof message,
             "the worker loaded /lib/libdnnl.so.3, and not that of %s: is LD_PRELOAD set?", directory);
    check(loaded_from(lib3, blas, "a"), NULL, message);
    snprintf(message, sizeof message,
             "the worker loaded %s2/libdnnl.so.3, and not that of %s: is LD_PRELOAD set?", directory,
             directory);
    check(loaded_from("~2/libdnnl.so.3", blas, "a"), NULL, message); /* beside it */
    const struct pdnn_software known = loaded_from("~/libdnnl.so.3", blas, "a");
    check(loaded_from("~/libdnnl.so.3", blas, "a"), &known, NULL);
    snprintf(
        message, sizeof message,
        "%s/libdnnl.so.3 was replaced meanwhile: it was oneDNN 3 (avx2), build a and is oneDNN 3 (avx2), build b",
        directory);
    check(loaded_from("~/libdnnl.so.3", blas, "b"), &known, message);
    drop("libdnnl.so.3");
    drop("libdnnl.so.2");
    assert_int_equal(rmdir(directory), 0);
}

/* What the user had comes behind it. */
static void test_variable(void **state) {
    (void)state;
    const struct pdnn_library_dir library = {1, "/d", NULL};
    static const struct {
        const char *own, *before, *lines;
    } rows[] = {
        {NULL, "", "LD_LIBRARY_PATH=/d"},
        {"", "A=b", "A=b\nLD_LIBRARY_PATH=/d"},
        {"/own:/more", "", "LD_LIBRARY_PATH=/d:/own:/more"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str lines = {0};
        unsetenv("LD_LIBRARY_PATH");
        if (rows[i].own)
            setenv("LD_LIBRARY_PATH", rows[i].own, 1);
        pdnn_str_printf(&lines, "%s", rows[i].before);
        pdnn_library_dir_variable(&library, &lines);
        assert_string_equal(pdnn_str_text(&lines), rows[i].lines);
        pdnn_str_finish(&lines);
    }
}

static void test_find(void **state) {
    (void)state;
    const struct pdnn_library_dir rows[] = {{3, "/a", NULL}, {7, "/b", NULL}};
    const struct pdnn_library_dirs libraries = {rows, 2};
    assert_ptr_equal(pdnn_library_dir_find(&libraries, 7), &rows[1]);
    assert_null(pdnn_library_dir_find(&libraries, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_variable),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
