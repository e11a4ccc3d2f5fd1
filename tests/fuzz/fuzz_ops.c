/* ops.csv: every row that is read is written as a row that reads as the same. */
#include "tests/fuzz/common.h"
#include "tests/fuzz/tables.h"

#include "results/store/columns.h"
#include "results/query/ops_reader.h"

#include <string.h>

/* Ids in a table need not be contiguous; these are few, so that a search for each is cheap. */
enum { IDS_MAX = 8 };

static void read_all(struct pdnn_ops_reader *reader, struct pdnn_str *out) {
    const struct pdnn_op_record *ops;
    size_t n_ops;
    for (size_t row = 0; row < reader->csv.n_rows && row < IDS_MAX; row++) {
        struct pdnn_err err = {0};
        const char *id = pdnn_csv_get(&reader->csv, row, reader->id);
        if (!fuzz_is_ok(pdnn_ops_reader_find(reader, id, &ops, &n_ops, &err), &err))
            continue;
        FUZZ_CHECK(n_ops >= 1);
        for (size_t i = 0; i < n_ops; i++) {
            struct pdnn_op_record op = ops[i];
            op.id = id;
            pdnn_columns_row(&pdnn_ops_columns, &op, out);
        }
    }
}

/* The rows once more, from what was written of them. */
static void check_written(const struct pdnn_str *rows) {
    struct pdnn_str text = {0}, again = {0};
    struct pdnn_ops_reader reader;
    struct pdnn_err err = {0};
    pdnn_columns_header(&pdnn_ops_columns, &text);
    pdnn_str_append(&text, pdnn_str_text(rows), rows->length);
    fuzz_write("ops.csv", text.text, text.length);
    fuzz_must(pdnn_ops_reader_open(&reader, fuzz_directory(), &err), &err);
    read_all(&reader, &again);
    pdnn_ops_reader_close(&reader);
    FUZZ_CHECK(again.length > 0 || !rows->length);
    pdnn_str_finish(&text);
    pdnn_str_finish(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_ops_reader reader;
    struct pdnn_str rows = {0};
    struct pdnn_err err = {0};
    fuzz_write("ops.csv", bytes, length);
    if (fuzz_is_ok(pdnn_ops_reader_open(&reader, fuzz_directory(), &err), &err)) {
        read_all(&reader, &rows);
        pdnn_ops_reader_close(&reader);
        if (rows.length)
            check_written(&rows);
    }
    pdnn_str_finish(&rows);
    return 0;
}
