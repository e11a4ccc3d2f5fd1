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
    char text[1024];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    pdnn_str_printf(out, "<p>");
    pdnn_html_text(out, text);
    pdnn_str_printf(out, "</p>\n");
}

void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) {
    char text[1024];
    struct pdnn_table_writer writer = {.out = out,
                                       .format = PDNN_FORMAT_HTML,
                                       .columns = columns,
                                       .n_columns = n_columns,
                                       .caption = caption ? text : NULL};
    va_list words;
    va_start(words, caption);
    if (caption)
        vsnprintf(text, sizeof text, caption, words);
    va_end(words);
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\">");
    pdnn_table_write(&writer, table, rows);
    pdnn_table_write_end(&writer);
    pdnn_str_printf(out, "</div>\n");
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
