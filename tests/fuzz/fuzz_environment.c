/* environment.yaml: any file can be asked for any key, and any text that is written as a fact is read back as
 * it was. The input is the file, which also serves as the text, and after a line `=====` that of another
 * machine. */
#include "tests/fuzz/common.h"

#include "base/file.h"
#include "results/store/tables.h"

#include <stdlib.h>
#include <string.h>

static const struct pdnn_fact known[] = {
    {.key = "host", .type = PDNN_FACT_TEXT, .text = "node", .identity = true},
    {.key = "threads", .type = PDNN_FACT_WHOLE, .whole = 2},
    {.key = "limit", .type = PDNN_FACT_NUMBER, .number = 0.1}};
enum { KNOWN = sizeof known / sizeof *known };

static void read_given(const char *text, size_t length) {
    struct pdnn_str value = {0};
    struct pdnn_err err = {0};
    for (size_t i = 0; i < KNOWN; i++) {
        pdnn_str_clear(&value);
        pdnn_environment_value(text, known[i].key, &value);
        FUZZ_CHECK(value.length <= length);
    }
    fuzz_write("environment.yaml", text, length);
    fuzz_is_ok(pdnn_environment_check(fuzz_directory(), known, KNOWN, &err), &err);
    pdnn_str_finish(&value);
}

/* What `paradnn merge` does with the files of two machines. */
static void merge(const char *one, const char *other) {
    struct pdnn_str key = {0}, values = {0}, joined = {0};
    const char *const texts[] = {one, other};
    bool differs = pdnn_environment_differs(one, other, &key, &values);
    FUZZ_CHECK(differs == (values.length > 0));
    FUZZ_CHECK(!pdnn_environment_differs(one, one, &key, &values));
    pdnn_environment_join(texts, 2, &joined);
    pdnn_str_finish(&key);
    pdnn_str_finish(&values);
    pdnn_str_finish(&joined);
}

/* Facts that are the same on two machines stay as they are. */
static void check_joined(const char *given) {
    struct pdnn_str joined = {0}, value = {0};
    char *text;
    struct pdnn_err err = {0};
    fuzz_must(pdnn_file_read(fuzz_path("environment.yaml"), SIZE_MAX, &text, NULL, &err), &err);
    const char *const texts[] = {text, text};
    pdnn_environment_join(texts, 2, &joined);
    pdnn_environment_value(pdnn_str_text(&joined), "given", &value);
    FUZZ_CHECK(strcmp(pdnn_str_text(&value), given) == 0);
    pdnn_str_finish(&joined);
    pdnn_str_finish(&value);
    free(text);
}

static void check_written(const char *text) {
    struct pdnn_fact facts[KNOWN + 1];
    struct pdnn_str value = {0};
    struct pdnn_err err = {0};
    memcpy(facts, known, sizeof known);
    facts[KNOWN] = (struct pdnn_fact){.key = "given", .type = PDNN_FACT_TEXT, .text = text, .identity = true};
    fuzz_must(pdnn_environment_write(fuzz_folder(), facts, KNOWN + 1, &err), &err);
    fuzz_must(pdnn_environment_check(fuzz_directory(), facts, KNOWN + 1, &err), &err);
    pdnn_environment_get(fuzz_directory(), "given", &value);
    FUZZ_CHECK(strcmp(pdnn_str_text(&value), text) == 0);
    pdnn_str_clear(&value);
    pdnn_environment_get(fuzz_directory(), "host", &value);
    FUZZ_CHECK(strcmp(pdnn_str_text(&value), "node") == 0);
    pdnn_str_finish(&value);
    check_joined(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_halves files = fuzz_split(bytes, length, "=====\n");
    char *one = fuzz_text(files.first, files.first_length);
    char *other = fuzz_text(files.second, files.second_length);
    read_given(one, files.first_length);
    fuzz_remove("environment.yaml"); /* writing it replaces the file */
    merge(one, other);
    check_written(one);
    free(one);
    free(other);
    return 0;
}
