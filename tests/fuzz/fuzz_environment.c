/* environment.yaml: any file can be asked for any key, and any text that is written as a fact is read back as
 * it was. The input is the file; its first line also serves as the text. */
#include "tests/fuzz/common.h"

#include "results/tables/tables.h"

#include <stdlib.h>
#include <string.h>

static const struct pdnn_fact known[] = {
    {.key = "host", .type = PDNN_FACT_TEXT, .text = "node", .identity = true},
    {.key = "threads", .type = PDNN_FACT_WHOLE, .whole = 2},
    {.key = "limit", .type = PDNN_FACT_NUMBER, .number = 0.1},
    {.key = "quiet", .type = PDNN_FACT_BOOL, .whole = 1}};
enum { KNOWN = sizeof known / sizeof *known };

static void read_given(const uint8_t *bytes, size_t length) {
    struct pdnn_str value = {0};
    struct pdnn_err err = {0};
    fuzz_write("environment.yaml", bytes, length);
    for (size_t i = 0; i < KNOWN; i++) {
        pdnn_str_clear(&value);
        pdnn_environment_get(fuzz_directory(), known[i].key, &value);
        FUZZ_CHECK(value.length <= length && !value.failed);
    }
    fuzz_is_ok(pdnn_environment_check(fuzz_directory(), known, KNOWN, &err), &err);
    pdnn_str_finish(&value);
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
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    read_given(bytes, length);
    char *text = fuzz_text(bytes, length);
    check_written(text);
    free(text);
    fuzz_remove("environment.yaml");
    return 0;
}
