/* seqpoint.csv: what is read is written as a table that reads as the same rows, and can be summarized. */
#include "tests/fuzz/common.h"

#include "results/epochs/seqpoint_summary.h"
#include "results/table/write.h"

#include <string.h>

static void write(const struct pdnn_table *table, struct pdnn_str *out) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
}

static void check_summary(const struct pdnn_table *table) {
    struct pdnn_arena arena = {0};
    struct pdnn_seqpoint_summary summary;
    struct pdnn_str sentence = {0};
    double iterations = 0;
    pdnn_seqpoint_summarize(table, &arena, &summary);
    FUZZ_CHECK(summary.n_bars >= 1 && summary.n_bars <= PDNN_SEQPOINT_BARS_MAX);
    for (size_t i = 0; i < summary.n_bars; i++)
        iterations += summary.bar[i];
    FUZZ_CHECK(iterations == summary.iterations);
    pdnn_seqpoint_sentence(table, &summary, &sentence);
    FUZZ_CHECK(sentence.length > 0);
    pdnn_str_finish(&sentence);
    pdnn_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_table table, again;
    struct pdnn_str text = {0}, rewritten = {0};
    struct pdnn_err err = {0};
    fuzz_write("seqpoint.csv", bytes, length);
    if (!fuzz_is_ok(pdnn_seqpoint_table_read(fuzz_path("seqpoint.csv"), &table, &err), &err))
        return 0;
    check_summary(&table);
    write(&table, &text);
    fuzz_write("seqpoint.csv", (const uint8_t *)text.text, text.length);
    fuzz_must(pdnn_seqpoint_table_read(fuzz_path("seqpoint.csv"), &again, &err), &err);
    write(&again, &rewritten);
    FUZZ_CHECK(strcmp(pdnn_str_text(&text), pdnn_str_text(&rewritten)) == 0);
    pdnn_str_finish(&text);
    pdnn_str_finish(&rewritten);
    pdnn_table_finish(&table);
    pdnn_table_finish(&again);
    return 0;
}
