/* The frame that every chart has. */
#include "results/report/html.h"
#include "results/table/csv.h"

#include <math.h>
#include <string.h>

void pdnn_html_number(struct pdnn_str *out, double value, int digits, const char *absent) {
    if (isfinite(value))
        pdnn_number_format(out, value, digits);
    else
        pdnn_str_append(out, absent, strlen(absent));
}

void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, struct pdnn_table_writer writer) {
    writer.out = out;
    writer.format = PDNN_FORMAT_HTML;
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
