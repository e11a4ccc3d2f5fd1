/* JSON files in the form that ParaDnn shipped: what is imported is a whole result directory, with a row for
 * each model that ran; what is not leaves nothing behind. */
#include "tests/fuzz/common.h"

#include "results/query/selection.h"
#include "results/import/import.h"

#include <stdio.h>
#include <unistd.h>

static const char *const written[] = {"out/results.csv", "out/ops.csv", "out/imported.csv",
                                      "out/environment.yaml"};
enum { WRITTEN = sizeof written / sizeof *written };

static void check_written(const char *output, size_t ran) {
    struct pdnn_selection selection;
    struct pdnn_err err = {0};
    if (ran) {
        fuzz_must(pdnn_selection_open_all(&selection, &(const char *){output}, 1, NULL, 0, &err), &err);
        FUZZ_CHECK(selection.count == ran);
        pdnn_selection_close(&selection);
    }
    for (size_t i = 0; i < WRITTEN; i++)
        FUZZ_CHECK(unlink(fuzz_path(written[i])) == 0);
    FUZZ_CHECK(rmdir(output) == 0);
}

/* set: what the labels may not say. */
static void check(const char *const *set, size_t n_set) {
    char output[256];
    snprintf(output, sizeof output, "%s", fuzz_path("out"));
    const struct pdnn_import_request request = {.path = fuzz_path("in.json"),
                                                .output = output,
                                                .set = set,
                                                .n_set = n_set,
                                                .shards = 8,
                                                .version = "1"};
    struct pdnn_import_result result;
    struct pdnn_err err = {0};
    if (!fuzz_is_ok(pdnn_import(&request, &result, &err), &err)) {
        FUZZ_CHECK(access(output, F_OK) != 0);
        return;
    }
    check_written(output, result.counts[PDNN_OUTCOME_OK]);
    pdnn_str_finish(&result.reasons);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char *const cnn[] = {"block=bottleneck", "pool=7x7"}, *const rnn[] = {"cell=gru",
                                                                                       "dtype=bf16"};
    fuzz_write("in.json", bytes, length);
    if (fuzz_split(bytes, length, "filtersz").second_length)
        check(cnn, 2);
    else if (fuzz_split(bytes, length, "maxlength").second_length)
        check(rnn, 2);
    else
        check(NULL, 0);
    return 0;
}
