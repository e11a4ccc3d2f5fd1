/* Specs from text, for tests: written to a temporary file, loaded, and removed. */
#ifndef TESTS_GEN_SPEC_FILE_H
#define TESTS_GEN_SPEC_FILE_H

#include "gen/spec.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPEC_FILE_PATH = 64 };

/* Writes the bytes to a new file, and its path to `path`. */
static inline void spec_file_write(const char *bytes, size_t length, char path[SPEC_FILE_PATH]) {
    strcpy(path, "/tmp/paradnn-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    assert_int_equal(close(fd), 0);
}

/* Loads the text with up to one override (NULL: none). */
static inline enum pdnn_status spec_file_load(const char *text, const char *set, struct pdnn_spec *spec,
                                              struct pdnn_err *err) {
    char path[SPEC_FILE_PATH];
    spec_file_write(text, strlen(text), path);
    const char *arguments[] = {path};
    enum pdnn_status status = pdnn_spec_load(arguments, 1, &set, set ? 1 : 0, spec, err);
    unlink(path);
    return status;
}

/* The same for text that must be valid. */
static inline void spec_file_must_load(const char *text, const char *set, struct pdnn_spec *spec) {
    struct pdnn_err err = {0};
    if (spec_file_load(text, set, spec, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

#endif
