/* ops.csv: every row that is read is written as a row that reads as the same. */
#include "tests/fuzz/common.h"
#include "tests/fuzz/tables.h"

#include "results/query/shares.h"
#include "results/table/write.h"

#include <string.h>

/* Writes the rows that were read; those of each instance are found by its id. */
static void write_all(struct pdnn_ops_reader *reader, struct pdnn_str *out) {
    enum { IDS_MAX = 8 };
    for (size_t row = 0; row < reader->table.n_rows && row < IDS_MAX; row++) {
        const struct pdnn_op_record *ops;
        const char *id = pdnn_table_text(&reader->table, row, PDNN_OPS_ID);
        FUZZ_CHECK(pdnn_ops_reader_find(reader, id, &ops) >= 1);
    }
    pdnn_table_csv(out, &reader->table);
}

/* What was written reads, and is written as the same. */
static void check_written(const struct pdnn_str *text) {
    struct pdnn_str again = {0};
    struct pdnn_ops_reader reader;
    struct pdnn_err err = {0};
    fuzz_write("ops.csv", text->text, text->length);
    fuzz_must(pdnn_ops_reader_open(&reader, fuzz_directory(), &err), &err);
    write_all(&reader, &again);
    pdnn_ops_reader_close(&reader);
    FUZZ_CHECK(again.length == text->length && memcmp(again.text, text->text, text->length) == 0);
    pdnn_str_finish(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_ops_reader reader;
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    fuzz_write("ops.csv", bytes, length);
    if (fuzz_is_ok(pdnn_ops_reader_open(&reader, fuzz_directory(), &err), &err)) {
        write_all(&reader, &text);
        pdnn_ops_reader_close(&reader);
        check_written(&text);
    }
    pdnn_str_finish(&text);
    return 0;
}
