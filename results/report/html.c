#include "results/report/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pdnn_html_number(struct pdnn_str *out, double value, int digits, const char *absent) {
    if (isfinite(value))
        pdnn_str_printf(out, "%.*f", (int)fmax(0, digits - 1 - floor(log10(value != 0 ? fabs(value) : 1))),
                        value);
    else
        pdnn_str_append(out, absent, strlen(absent));
}

void pdnn_html_say(struct pdnn_str *out, const char *format, ...) {
    struct pdnn_str text = {0};
    va_list words;
    va_start(words, format);
    pdnn_str_vprintf(&text, format, words);
    va_end(words);
    pdnn_str_printf(out, "<p>");
    pdnn_html_text(out, pdnn_str_text(&text));
    pdnn_str_printf(out, "</p>\n");
    pdnn_str_finish(&text);
}

void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) {
    struct pdnn_str text = {0};
    struct pdnn_table_writer writer = {
        .out = out, .format = PDNN_FORMAT_HTML, .columns = columns, .n_columns = n_columns};
    va_list words;
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

void pdnn_html_cell(struct pdnn_str *out, const char *text) {
    pdnn_str_printf(out, "<td>");
    pdnn_html_text(out, text);
    pdnn_str_printf(out, "</td>");
}

void pdnn_html_table(struct pdnn_str *out, const char *css, const char *caption, const char *const *titles) {
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\"><caption>", css);
    pdnn_html_text(out, caption);
    pdnn_str_printf(out, "</caption><thead><tr>");
    for (; *titles; titles++) {
        pdnn_str_printf(out, "<th scope=\"col\">");
        pdnn_html_text(out, *titles);
        pdnn_str_printf(out, "</th>");
    }
    pdnn_str_printf(out, "</tr></thead><tbody>\n");
}

void pdnn_html_table_end(struct pdnn_str *out) {
    pdnn_str_printf(out, "</tbody></table></div>\n");
}
