#include "results/table/escape.h"

#include "base/visible.h"

#include <stdarg.h>
#include <string.h>

void pdnn_html_text(struct pdnn_str *out, const char *text) {
    static const char letters[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    struct pdnn_str visible = {0};
    pdnn_visible_append(&visible, text, strlen(text), "");
    for (const char *at = pdnn_str_text(&visible); *at; at++) {
        const char *letter = strchr(letters, *at);
        if (letter)
            pdnn_str_append(out, entities[letter - letters], strlen(entities[letter - letters]));
        else
            pdnn_str_append(out, at, 1);
    }
    pdnn_str_finish(&visible);
}

void pdnn_html_put(struct pdnn_str *out, const char *markup, ...) {
    va_list texts;
    va_start(texts, markup);
    for (const char *end; (end = strstr(markup, "%s")); markup = end + 2) {
        pdnn_str_append(out, markup, (size_t)(end - markup));
        pdnn_html_text(out, va_arg(texts, const char *));
    }
    va_end(texts);
    pdnn_str_append(out, markup, strlen(markup));
}

/* What pdnn_visible_letter takes for none: control characters, of which those of Latin-1 are two bytes of
 * UTF-8, and bytes that are not UTF-8. */
static size_t append_escape(struct pdnn_str *out, const char *text) {
    const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
    const bool is_latin = first == 0xc2 && second >= 0x80 && second < 0xa0;
    if (first == '"' || first == '\\')
        pdnn_str_printf(out, "\\%c", first);
    else if (first == '\n')
        pdnn_str_append(out, "\\n", 2);
    else if (first < 0x80 || is_latin)
        pdnn_str_printf(out, "\\u%04x", is_latin ? second : first);
    else
        pdnn_str_append(out, "\\ufffd", 6);
    return is_latin ? 2 : 1;
}

/* Besides what must be, what is in `more` is escaped. */
static void append_json(struct pdnn_str *out, const char *text, const char *more) {
    pdnn_str_append(out, "\"", 1);
    size_t length = strlen(text), run = 0;
    for (size_t at = 0; at < length;) {
        bool is_plain = text[at] != '"' && text[at] != '\\' && !strchr(more, text[at]);
        size_t letter = is_plain ? pdnn_visible_letter(text + at, length - at) : 0;
        at += letter;
        if (letter)
            continue;
        pdnn_str_append(out, text + run, at - run);
        at += append_escape(out, text + at);
        run = at;
    }
    pdnn_str_append(out, text + run, length - run);
    pdnn_str_append(out, "\"", 1);
}

void pdnn_json_text(struct pdnn_str *out, const char *text) {
    append_json(out, text, "");
}

void pdnn_html_json_text(struct pdnn_str *out, const char *text) {
    struct pdnn_str visible = {0};
    pdnn_visible_append(&visible, text, strlen(text), "");
    append_json(out, pdnn_str_text(&visible), "<>&");
    pdnn_str_finish(&visible);
}

void pdnn_shell_quote(struct pdnn_str *out, const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@%-";
    if (*text && strspn(text, plain) == strlen(text)) {
        pdnn_str_printf(out, "%s", text);
        return;
    }
    pdnn_str_append(out, "'", 1);
    for (; *text; text++) {
        if (*text == '\'')
            pdnn_str_printf(out, "'\\''");
        else
            pdnn_str_append(out, text, 1);
    }
    pdnn_str_append(out, "'", 1);
}
