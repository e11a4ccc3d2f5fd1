/* seqpoint.csv: what is read is written as a table that reads as the same rows, and can be drawn. */
#include "tests/fuzz/common.h"

#include "results/figures/picture.h"
#include "results/store/seqpoint_table.h"
#include "results/table/write.h"

#include <string.h>

static void write(const struct pdnn_table *table, struct pdnn_str *out) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
}

static void check_picture(size_t rows) {
    const struct pdnn_plot_request request = {.directory = &(const char *){fuzz_directory()},
                                              .n_directories = 1};
    struct pdnn_picture picture = {.drawn = 0};
    struct pdnn_err err = {0};
    fuzz_must(pdnn_picture_draw(&picture, pdnn_plot_find("seqpoint"), &request, &err), &err);
    FUZZ_CHECK(picture.drawn + picture.left_out == rows);
    pdnn_picture_finish(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_table table, again;
    struct pdnn_str text = {0}, rewritten = {0};
    struct pdnn_err err = {0};
    fuzz_write("seqpoint.csv", bytes, length);
    if (!fuzz_is_ok(pdnn_seqpoint_table_read(fuzz_path("seqpoint.csv"), &table, &err), &err))
        return 0;
    check_picture(table.n_rows);
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
