#include "cli/output.h"

#include "results/tables/csv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool pdnn_wants_csv(const struct pdnn_arguments *arguments) {
    const char *format = pdnn_argument(arguments, "format");
    return format && strcmp(format, "csv") == 0;
}

static void append_csv(const struct pdnn_table *table, struct pdnn_str *out) {
    struct pdnn_csv_writer writer = {.out = out};
    for (size_t c = 0; c < table->n_columns; c++)
        pdnn_csv_put_text(&writer, table->columns[c].title);
    for (size_t i = 0; i < table->n_cells; i++) {
        if (i % table->n_columns == 0)
            pdnn_csv_end_row(&writer);
        pdnn_csv_put_text(&writer, table->cells[i]);
    }
    pdnn_csv_end_row(&writer);
}

enum pdnn_status pdnn_table_print(const struct pdnn_table *table, bool csv, struct pdnn_err *err) {
    struct pdnn_str out = {0};
    if (csv)
        append_csv(table, &out);
    else
        pdnn_table_format(table, pdnn_terminal_width(STDOUT_FILENO), &out);
    out.failed = out.failed || table->failed;
    return pdnn_text_print(&out, err);
}

enum pdnn_status pdnn_text_print(struct pdnn_str *text, struct pdnn_err *err) {
    bool failed = text->failed;
    if (!failed)
        fwrite(pdnn_str_text(text), 1, text->length, stdout);
    pdnn_str_finish(text);
    return failed ? pdnn_fail(err, PDNN_NO_MEMORY, "out of memory") : PDNN_OK;
}
