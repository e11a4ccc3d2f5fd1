/* JSON files in the form that ParaDnn shipped, and CSV by a mapping of its columns, whichever the importer
 * takes them for: what is imported is a whole result directory, with a row for each model that ran; what is
 * not leaves nothing behind. */
#include "tests/fuzz/common.h"

#include "results/query/selection.h"
#include "results/import/import.h"

#include <stdio.h>
#include <unistd.h>

static const char *const written[] = {"out/results.csv", "out/ops.csv", "out/imported.csv",
                                      "out/environment.yaml", "out/ceilings.csv"};
enum { WRITTEN = sizeof written / sizeof *written, ROOF_ROWS = WRITTEN - 1 /* only with roofs */ };

static void check_written(const char *output, size_t ran) {
    struct pdnn_selection selection;
    struct pdnn_err err = {0};
    if (ran) {
        fuzz_must(pdnn_selection_open_all(&selection, &(const char *){output}, 1, NULL, 0, &err), &err);
        FUZZ_CHECK(selection.count == ran);
        pdnn_selection_close(&selection);
    }
    for (size_t i = 0; i < WRITTEN; i++)
        FUZZ_CHECK(unlink(fuzz_path(written[i])) == 0 || i == ROOF_ROWS);
    FUZZ_CHECK(rmdir(output) == 0);
}

static void check(struct pdnn_import_request request) {
    char output[256];
    snprintf(output, sizeof output, "%s", fuzz_path("out"));
    request.path = fuzz_path("in");
    request.output = output;
    request.version = "1";
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
    static const char *const map[] = {"model=net", "batch=batch",     "threads=threads", "time=time:ms",
                                      "state=why", "params=params:M", "gflops=gflops"};
    fuzz_write("in", bytes, length);
    if (length && bytes[0] != '{' && bytes[0] != '[')
        check((struct pdnn_import_request){
            .map = map, .n_map = sizeof map / sizeof *map, .shards = 1, .peak = "100", .bandwidth_gbs = 10});
    else if (fuzz_split(bytes, length, "filtersz").second_length)
        check((struct pdnn_import_request){.set = cnn, .n_set = 2, .shards = 8});
    else if (fuzz_split(bytes, length, "maxlength").second_length)
        check((struct pdnn_import_request){.set = rnn, .n_set = 2, .shards = 8});
    else
        check((struct pdnn_import_request){.shards = 8});
    return 0;
}
