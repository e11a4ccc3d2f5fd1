#include "base/fill.h"

#include <ctype.h>
#include <string.h>

/* Words up to this length stay whole if the width allows it. */
enum { LONG_WORD = 16 };

/* Where words may end a line, the better places first; the character stays on the line. */
static const char *const places[] = {",|;", "/_-:.="};
enum { N_PLACES = sizeof places / sizeof *places };

/* A number stays with its percent sign. */
static size_t word_length(const char *text) {
    size_t length = strcspn(text, " ");
    bool is_percentage = length && isdigit((unsigned char)text[length - 1]) &&
                         strncmp(text + length, " %", 2) == 0 && strchr(" ,;:)", text[length + 2]);
    return is_percentage ? length + 2 + strcspn(text + length + 2, " ") : length;
}

/* The longest part of a word that ends at one of the places and fits; 0 if none does. */
static size_t part_length(const char *word, size_t length, size_t width, const char *place) {
    size_t most = 0;
    for (size_t i = 0; i + 1 < length && i < width; i++)
        if (strchr(place, word[i]))
            most = i + 1;
    return most;
}

size_t pdnn_fill_line(const char *text, size_t width, size_t *next) {
    size_t end = word_length(text);
    if (end > width) {
        size_t part = 0;
        for (size_t p = 0; p < N_PLACES && !part; p++)
            part = part_length(text, end, width, places[p]);
        if (!part)
            for (part = width; part > 1 && ((unsigned char)text[part] & 0xc0) == 0x80;) /* inside a letter */
                part--;
        *next = part;
        return part;
    }
    for (;;) {
        size_t start = end + strspn(text + end, " ");
        *next = start;
        if (!text[start])
            return end;
        size_t length = word_length(text + start);
        if (start + length > width)
            return end;
        end = start + length;
    }
}

/* The longest piece of a word that is broken at all the places up to this kind. */
static size_t longest_piece(const char *word, size_t length, size_t kinds) {
    size_t longest = 0, start = 0;
    for (size_t i = 0; i < length; i++) {
        bool ends = i + 1 == length;
        for (size_t p = 0; p < kinds; p++)
            ends = ends || strchr(places[p], word[i]);
        if (!ends)
            continue;
        longest = i + 1 - start > longest ? i + 1 - start : longest;
        start = i + 1;
    }
    return longest;
}

size_t pdnn_fill_least(const char *text) {
    size_t least = 1;
    while (*text) {
        size_t length = word_length(text), piece = length;
        for (size_t kinds = 1; kinds <= N_PLACES && piece > LONG_WORD; kinds++)
            piece = longest_piece(text, length, kinds);
        piece = piece > LONG_WORD ? LONG_WORD : piece;
        least = piece > least ? piece : least;
        text += length;
        text += strspn(text, " ");
    }
    return least;
}

void pdnn_fill_text(struct pdnn_str *out, const char *text, size_t indent, size_t width) {
    size_t room = width > indent ? width - indent : 1;
    text += strspn(text, " ");
    for (bool first = true; *text; first = false) {
        size_t next, length = pdnn_fill_line(text, room, &next);
        if (!first)
            pdnn_str_printf(out, "\n%*s", (int)indent, "");
        pdnn_str_append(out, text, length);
        text += next;
    }
    pdnn_str_append(out, "\n", 1);
}
