#include "results/report/page.h"

#include <stdarg.h>

void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) {
    struct pdnn_str text = {0};
    struct pdnn_table_writer writer = {
        .out = out, .format = PDNN_FORMAT_HTML, .columns = columns, .n_columns = n_columns};
    va_list words;
    if (rows && !rows->count)
        return;
    va_start(words, caption);
    if (caption)
        pdnn_str_vprintf(&text, caption, words);
    va_end(words);
    writer.caption = caption ? pdnn_str_text(&text) : NULL;
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\">");
    pdnn_table_write(&writer, table, rows);
    pdnn_table_write_end(&writer);
    pdnn_str_printf(out, "</div>\n");
    pdnn_str_finish(&text);
}
