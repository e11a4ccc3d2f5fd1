/* Text from outside (tables, file names, arguments) made safe to show: no byte of it can move a terminal's
 * cursor, end a line or open a command in a program that the text is handed to. */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/str.h"

enum { PDNN_VISIBLE_TEXT = 4096 };

/* The length in bytes of the letter that text[0..length) begins with; 0 if it is a control character (of
 * ASCII or of Latin-1) or not UTF-8. */
size_t pdnn_visible_letter(const char *text, size_t length);

/* What the character is called that the text begins with, if nobody sees it or can tell it from a space: "a
 * no-break space". NULL for any other. *code: its number in Unicode; *length: its bytes. */
const char *pdnn_invisible(const char *text, unsigned *code, size_t *length);

/* Appends the text with everything that is not a letter as \n, \t, \r or \xNN and every invisible one as
 * \uNNNN, except the characters in `keep`, which are appended as they are: "" for a field, "\n" for whole
 * lines. */
void pdnn_visible_append(struct pdnn_str *out, const char *text, size_t length, const char *keep);

/* The text itself if all of it is letters, else buffer with its escaped form, cut if it does not fit. */
const char *pdnn_visible(char buffer[PDNN_VISIBLE_TEXT], const char *text);

#endif
