/* What the fuzz targets share. A target is one LLVMFuzzerTestOneInput, which hands the bytes to code of ours
 * that reads text from outside and checks what must hold for any bytes. libFuzzer drives it, or
 * tests/fuzz/replay.c with the seeds alone. */
#ifndef TESTS_FUZZ_COMMON_H
#define TESTS_FUZZ_COMMON_H

#include "base/paths/folder.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the process with what did not hold, which counts as a crash on this input. */
#define FUZZ_CHECK(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fuzz_die(__FILE__, __LINE__, #condition, "");                                                    \
    } while (0)

_Noreturn void fuzz_die(const char *file, int line, const char *condition, const char *detail);

/* What must hold for whatever a function returned: an error has a message without a line break at its end, a
 * success has none. True for a success. */
bool fuzz_is_ok(enum pdnn_status status, const struct pdnn_err *err);

/* The same for what must be a success; dies with the message. */
void fuzz_must(enum pdnn_status status, const struct pdnn_err *err);

/* A copy on the heap with a NUL after it, so that a read past the end is seen. */
char *fuzz_text(const uint8_t *bytes, size_t length);

/* The same without a NUL, for what is given a length. */
void *fuzz_bytes(const uint8_t *bytes, size_t length);

/* An empty directory of this process, in memory if the machine has such a file system. */
const char *fuzz_directory(void);

/* The same, held open. */
const struct pdnn_folder *fuzz_folder(void);

/* The path of a file in it, borrowed until the next call for that name's slot: there are four. */
const char *fuzz_path(const char *name);

/* Writes a file in it, which stays open for the next input: where the code under test replaces the file, it
 * must be removed first. The name is a literal. */
void fuzz_write(const char *name, const void *bytes, size_t length);

/* Removes it. */
void fuzz_remove(const char *name);

/* The bytes before the first `separator`, and what comes after it (empty if there is none). */
struct fuzz_halves {
    const uint8_t *first, *second;
    size_t first_length, second_length;
};
struct fuzz_halves fuzz_split(const uint8_t *bytes, size_t length, const char *separator);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
