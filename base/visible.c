/* UTF-8 is checked by the table of well-formed byte sequences of the Unicode standard (table 3-7): no
 * overlong forms, no surrogates, nothing beyond U+10FFFF. */
#include "base/visible.h"

#include <stdio.h>
#include <string.h>

size_t pdnn_visible_letter(const char *text, size_t length) {
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char least, most; /* of the second */
        size_t length;
    } forms[] = {
        {0xc2, 0xc2, 0xa0, 0xbf, 2}, /* without U+0080 to U+009F, the controls of Latin-1 */
        {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *byte = (const unsigned char *)text;
    if (!length || byte[0] < 0x80)
        return length && byte[0] >= 0x20 && byte[0] != 0x7f;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (byte[0] < forms[i].first || byte[0] > forms[i].last)
            continue;
        if (length < forms[i].length || byte[1] < forms[i].least || byte[1] > forms[i].most)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if (byte[k] < 0x80 || byte[k] > 0xbf)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

void pdnn_visible_append(struct pdnn_str *out, const char *text, size_t length, const char *keep) {
    static const char controls[] = "\n\t\r", names[] = "ntr";
    size_t run = 0; /* bytes that need no change */
    while (run < length) {
        unsigned char byte = (unsigned char)text[run];
        size_t letter = byte && strchr(keep, byte) ? 1 : pdnn_visible_letter(text + run, length - run);
        if (letter) {
            run += letter;
            continue;
        }
        pdnn_str_append(out, text, run);
        const char *known = byte ? strchr(controls, byte) : NULL;
        if (known)
            pdnn_str_printf(out, "\\%c", names[known - controls]);
        else
            pdnn_str_printf(out, "\\x%02x", byte);
        text += run + 1;
        length -= run + 1;
        run = 0;
    }
    pdnn_str_append(out, text, run);
}

const char *pdnn_visible(char buffer[PDNN_VISIBLE_TEXT], const char *text) {
    size_t length = strlen(text), at = 0;
    while (at < length) {
        size_t letter = pdnn_visible_letter(text + at, length - at);
        if (!letter)
            break;
        at += letter;
    }
    if (at == length)
        return text;
    struct pdnn_str shown = {0};
    pdnn_visible_append(&shown, text, length, "");
    snprintf(buffer, PDNN_VISIBLE_TEXT, "%s", shown.failed ? "" : pdnn_str_text(&shown));
    pdnn_str_finish(&shown);
    return buffer;
}
