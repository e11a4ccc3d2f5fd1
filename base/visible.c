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

const char *pdnn_invisible(const char *text, unsigned *code, size_t *length) {
    static const struct {
        unsigned first, last;
        const char *name;
    } ranges[] = {
        {0x00a0, 0x00a0, "a no-break space"},    {0x00ad, 0x00ad, "a soft hyphen"},
        {0x1680, 0x1680, "a space of Unicode"},  {0x180e, 0x180e, "a vowel separator"},
        {0x2000, 0x200a, "a space of Unicode"},  {0x200b, 0x200b, "a zero width space"},
        {0x200c, 0x200d, "a zero width joiner"}, {0x200e, 0x200f, "a direction mark"},
        {0x2028, 0x2029, "a line separator"},    {0x202a, 0x202e, "a direction mark"},
        {0x202f, 0x202f, "a no-break space"},    {0x205f, 0x205f, "a space of Unicode"},
        {0x2060, 0x2064, "a word joiner"},       {0x2066, 0x2069, "a direction mark"},
        {0x3000, 0x3000, "a space of Unicode"},  {0xfeff, 0xfeff, "a byte order mark"},
    };
    const unsigned char *byte = (const unsigned char *)text;
    unsigned value = 0;
    *length = 0;
    if ((byte[0] & 0xe0) == 0xc0 && (byte[1] & 0xc0) == 0x80) {
        value = (byte[0] & 0x1fU) << 6 | (byte[1] & 0x3fU);
        *length = 2;
    } else if ((byte[0] & 0xf0) == 0xe0 && (byte[1] & 0xc0) == 0x80 && (byte[2] & 0xc0) == 0x80) {
        value = (byte[0] & 0xfU) << 12 | (byte[1] & 0x3fU) << 6 | (byte[2] & 0x3fU);
        *length = 3;
    }
    *code = value;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (value >= ranges[i].first && value <= ranges[i].last)
            return ranges[i].name;
    return NULL;
}

/* The length of what is shown as it is, at least one letter; 0: none. */
static size_t shown_letter(const char *text, size_t length) {
    char copy[4] = "";
    unsigned code;
    size_t letter = pdnn_visible_letter(text, length), invisible;
    memcpy(copy, text, letter < sizeof copy ? letter : 0);
    return letter && pdnn_invisible(copy, &code, &invisible) ? 0 : letter;
}

void pdnn_visible_append(struct pdnn_str *out, const char *text, size_t length, const char *keep) {
    static const char controls[] = "\n\t\r", names[] = "ntr";
    size_t run = 0; /* bytes that need no change */
    while (run < length) {
        unsigned char byte = (unsigned char)text[run];
        size_t letter = byte && strchr(keep, byte) ? 1 : shown_letter(text + run, length - run);
        if (letter) {
            run += letter;
            continue;
        }
        pdnn_str_append(out, text, run);
        const char *known = byte ? strchr(controls, byte) : NULL;
        unsigned code = 0;
        size_t taken = 1, letter_bytes = pdnn_visible_letter(text + run, length - run);
        if (letter_bytes)
            pdnn_invisible(text + run, &code, &taken);
        if (letter_bytes)
            pdnn_str_printf(out, "\\u%04x", code);
        else if (known)
            pdnn_str_printf(out, "\\%c", names[known - controls]);
        else
            pdnn_str_printf(out, "\\x%02x", byte);
        text += run + taken;
        length -= run + taken;
        run = 0;
    }
    pdnn_str_append(out, text, run);
}

const char *pdnn_visible(char buffer[PDNN_VISIBLE_TEXT], const char *text) {
    size_t length = strlen(text), at = 0;
    while (at < length) {
        size_t letter = shown_letter(text + at, length - at);
        if (!letter)
            break;
        at += letter;
    }
    if (at == length)
        return text;
    struct pdnn_str shown = {0};
    pdnn_visible_append(&shown, text, length, "");
    snprintf(buffer, PDNN_VISIBLE_TEXT, "%s", pdnn_str_text(&shown));
    pdnn_str_finish(&shown);
    return buffer;
}
