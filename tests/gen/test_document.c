#define _POSIX_C_SOURCE 200809L
/* The YAML tree: positions, limits, and inputs that are not YAML at all. */
#include "gen/yaml/document.h"
#include "tests/gen/spec_file.h"

#include <fcntl.h>
#include <sys/stat.h>

static enum pdnn_status parse(const char *text, size_t length, struct pdnn_arena *arena,
                              struct pdnn_yaml **root, struct pdnn_err *err) {
    const struct pdnn_yaml_input input = {.file = "t.yaml", .text = text, .length = length};
    return pdnn_yaml_parse(&input, arena, root, err);
}

static void must_fail(const char *text, size_t length, const char *message) {
    struct pdnn_arena arena = {0};
    struct pdnn_yaml *root = NULL;
    struct pdnn_err err = {0};
    assert_int_equal(parse(text, length, &arena, &root, &err), PDNN_INVALID);
    assert_string_equal(err.text, message);
    assert_null(root);
    pdnn_arena_finish(&arena);
}

static void test_parse_places(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a: 1\nb:\n  - x\n  - {c: 'two'}\n",
        "a: 1\r\nb:\r\n  - x\r\n  - {c: 'two'}\r\n",
        "a: &n 1\nb:\n  - x\n  - {c: \"two\"}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_yaml *root = NULL;
        struct pdnn_err err = {0};
        if (parse(texts[i], strlen(texts[i]), &arena, &root, &err) != PDNN_OK)
            fail_msg("%zu: %s", i, err.text);
        assert_int_equal(root->kind, PDNN_YAML_MAP);
        assert_int_equal(root->count, 2);
        assert_string_equal(pdnn_yaml_find(root, "a")->text, "1");
        const struct pdnn_yaml *list = pdnn_yaml_find(root, "b");
        assert_int_equal(list->kind, PDNN_YAML_LIST);
        assert_int_equal(list->line, 3);
        assert_int_equal(list->column, 3);
        const struct pdnn_yaml *value = pdnn_yaml_find(list->last, "c");
        assert_string_equal(value->text, "two");
        assert_int_equal(value->line, 4);
        assert_int_equal(value->column, 9);
        assert_int_equal(value->text_offset, 1);
        assert_null(pdnn_yaml_find(root, "c"));
        pdnn_arena_finish(&arena);
    }
}

static void test_parse_aliases_are_copies(void **state) {
    (void)state;
    static const char text[] = "a: &x [1, 2]\nb: *x\n";
    struct pdnn_arena arena = {0};
    struct pdnn_yaml *root = NULL;
    assert_int_equal(parse(text, strlen(text), &arena, &root, NULL), PDNN_OK);
    struct pdnn_yaml *a = pdnn_yaml_find(root, "a"), *b = pdnn_yaml_find(root, "b");
    assert_int_equal(b->count, 2);
    assert_ptr_not_equal(a->first, b->first);
    assert_string_equal(b->last->text, "2");
    pdnn_arena_finish(&arena);
}

static void test_parse_not_text(void **state) {
    (void)state;
    static const char nul[] = "a: 1\nb: \0", binary[] = "a: 1\n\xff\xfe\x80", control[] = "a: \x01";
    must_fail(nul, sizeof nul, "t.yaml:2:4: not a text file: a NUL byte");
    must_fail(binary, sizeof binary - 1, "t.yaml:2:1: not a text file: invalid leading UTF-8 octet");
    must_fail(control, sizeof control - 1, "t.yaml:1:4: not a text file: control characters are not allowed");
}

static void test_parse_ends_at_its_length(void **state) {
    (void)state;
    static const char tab[] = "a: {\n\tb", mark[] = "a: 1\n%b", tag[] = "a: 1 # \xc3\xa4";
    struct pdnn_arena arena = {0};
    struct pdnn_yaml *root = NULL;
    must_fail(tab, 5, "t.yaml:2:1: not YAML: while parsing a flow node, did not find expected node content");
    assert_int_equal(parse(mark, 5, &arena, &root, NULL), PDNN_OK);
    must_fail(tag, sizeof tag - 2, "t.yaml:1:8: not a text file: incomplete UTF-8 octet sequence");
    pdnn_arena_finish(&arena);
}

static void test_parse_nested_too_deep(void **state) {
    (void)state;
    enum { DEEP = 10000 };
    char *text = malloc(DEEP);
    assert_non_null(text);
    memset(text, '[', DEEP);
    must_fail(text, DEEP - 1, "t.yaml:1:34: nested deeper than 32 levels");
    for (size_t i = 0; i < DEEP; i++)
        text[i] = i % 2 ? ' ' : '-';
    must_fail(text, DEEP - 1, "t.yaml:1:67: nested deeper than 32 levels");
    free(text);
}

static void test_parse_long_scalar(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'x', LONG);
    memcpy(text, "a: ", 3);
    must_fail(text, LONG, "t.yaml:1:4: a value of 1048573 bytes, the limit is 4096");
    free(text);
}

static void test_load_unreadable_files(void **state) {
    (void)state;
    char path[SPEC_FILE_PATH], expected[2 * SPEC_FILE_PATH];
    spec_file_write("", 0, path);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 100000000), 0);
    close(fd);
    struct pdnn_spec spec;
    struct pdnn_err err = {0};
    const char *arguments[] = {path};
    assert_int_equal(pdnn_spec_load(arguments, 1, NULL, 0, &spec, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "16777216"));
    unlink(path);
    assert_int_equal(pdnn_spec_load(arguments, 1, NULL, 0, &spec, &err), PDNN_INVALID);
    snprintf(expected, sizeof expected, "%s: No such file or directory", path);
    assert_string_equal(err.text, expected);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pdnn_spec_load(arguments, 1, NULL, 0, &spec, &err), PDNN_INVALID);
    snprintf(expected, sizeof expected, "%s: is a directory, expected a file", path);
    assert_string_equal(err.text, expected);
    rmdir(path);
}

/* 4096 files of random bytes and of random YAML punctuation: each is read or refused, and none crashes. */
static void test_parse_random_bytes(void **state) {
    (void)state;
    static const char marks[] = "[]{}:-,&*?|>'\"#%@`! \n\tab01";
    unsigned seed = 1;
    for (int round = 0; round < 4096; round++) {
        char text[129] = "";
        for (size_t i = 0; i + 1 < sizeof text; i++) {
            seed = seed * 1103515245u + 12345u;
            unsigned value = seed >> 16;
            text[i] = round % 2 ? (char)(value & 0xff) : marks[value % (sizeof marks - 1)];
        }
        struct pdnn_arena arena = {0};
        struct pdnn_yaml *root = NULL;
        struct pdnn_err err = {0};
        enum pdnn_status status = parse(text, sizeof text - 1, &arena, &root, &err);
        assert_true(status == PDNN_OK ? root != NULL : root == NULL && *err.text);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_places),       cmocka_unit_test(test_parse_aliases_are_copies),
        cmocka_unit_test(test_parse_not_text),     cmocka_unit_test(test_parse_nested_too_deep),
        cmocka_unit_test(test_parse_long_scalar),  cmocka_unit_test(test_load_unreadable_files),
        cmocka_unit_test(test_parse_random_bytes), cmocka_unit_test(test_parse_ends_at_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
