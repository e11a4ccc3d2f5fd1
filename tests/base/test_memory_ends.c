/* Memory from the heap, and what happens without it: a child process asks for more than there is. */
#define _GNU_SOURCE /* fork */
#include "tests/asan_lets_fail.h"
#include "tests/cmocka_all.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than any address space, so that it fails at once with every allocator. */
static const size_t plenty = (size_t)1 << 60;

static bool takes_alloc(void) {
    return pdnn_alloc(plenty, 1);
}

static bool takes_product(void) {
    return pdnn_alloc(SIZE_MAX / 2, 3);
}

static bool takes_resize(void) {
    return pdnn_resize(NULL, SIZE_MAX / 2, 3);
}

static bool takes_grow(void) {
    size_t room = plenty;
    return pdnn_grow(NULL, &room, plenty, 1);
}

static bool takes_arena(void) {
    struct pdnn_arena arena = {0};
    return pdnn_arena_alloc(&arena, plenty, 1);
}

static bool takes_arena_product(void) {
    struct pdnn_arena arena = {0};
    return pdnn_arena_alloc(&arena, SIZE_MAX / 2, 3);
}

static bool takes_str(void) {
    struct pdnn_str str = {0};
    pdnn_str_append(&str, "", plenty);
    return true;
}

static bool (*const takes[])(void) = {takes_alloc, takes_product,       takes_resize, takes_grow,
                                      takes_arena, takes_arena_product, takes_str};
enum { TAKES = sizeof takes / sizeof *takes };

/* The child's exit status, or 100 if the call returned memory and 101 if it failed. Counts its lines that say
 * that memory is out. */
static int run(bool (*take)(void), int *said) {
    int ends[2], status = 0;
    char line[512];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        _exit(take() ? 100 : 101);
    }
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    assert_non_null(output);
    for (*said = 0; fgets(line, sizeof line, output);) {
        size_t bytes = 0;
        int end = 0;
        if (sscanf(line, "paradnn: out of memory for %zu bytes%n", &bytes, &end) != 1)
            continue;
        assert_string_equal(line + end, "\n");
        assert_true(bytes >= plenty);
        ++*said;
    }
    fclose(output);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_none_ends_the_program(void **state) {
    (void)state;
    for (size_t i = 0; i < TAKES; i++) {
        int said;
        assert_int_equal(run(takes[i], &said), EXIT_FAILURE);
        assert_int_equal(said, 1);
    }
}

/* Who asks is told. */
static void test_none_is_told(void **state) {
    struct pdnn_err err = {0};
    (void)state;
    assert_null(pdnn_ask(plenty, "for a test", &err));
    assert_int_equal(err.status, PDNN_NO_MEMORY);
    assert_string_equal(err.text, "cannot allocate 1152921504606846976 bytes for a test");
    assert_null(pdnn_ask(plenty, "for a test", NULL));
    void *none = pdnn_ask(0, "for a test", NULL);
    assert_non_null(none);
    free(none);
}

static void test_memory_is_there(void **state) {
    (void)state;
    size_t room = 0;
    int *items = NULL;
    char *zeros = pdnn_alloc(3, 5), *none = pdnn_alloc(0, 5), *copy = pdnn_strdup("a text");
    assert_memory_equal(zeros, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    assert_non_null(none);
    assert_string_equal(copy, "a text");
    none = pdnn_resize(none, 0, 1);
    assert_non_null(none);
    for (int i = 0; i < 100; i++) {
        items = pdnn_grow(items, &room, (size_t)i, sizeof *items);
        assert_true(room > (size_t)i && room <= 16 + 2 * (size_t)i);
        items[i] = i;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(items[i], i);
    free(zeros);
    free(none);
    free(copy);
    free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_ends_the_program),
        cmocka_unit_test(test_none_is_told),
        cmocka_unit_test(test_memory_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
