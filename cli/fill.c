#include "cli/fill.h"

#include <stdbool.h>
#include <string.h>

void pdnn_fill_text(struct pdnn_str *out, const char *text, size_t indent, size_t width) {
    size_t column = indent;
    bool at_start = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (!at_start && column + 1 + length > width) {
            pdnn_str_printf(out, "\n%*s", (int)indent, "");
            column = indent;
            at_start = true;
        }
        pdnn_str_printf(out, "%s%.*s", at_start ? "" : " ", (int)length, text);
        column += length + !at_start;
        at_start = false;
        text += length;
        text += strspn(text, " ");
    }
    pdnn_str_append(out, "\n", 1);
}
