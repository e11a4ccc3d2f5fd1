/* Fills text into lines of a given width. Lines end at spaces; a word that is wider than a line, such as an
 * id, ends where a person would break it: behind a comma or a bar, else behind a dash or the like. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* The bytes of text that go onto a line of this width (at least 1), without the space at their end; *next is
 * where the following line starts, at the terminating 0 if there is none. */
size_t pdnn_fill_line(const char *text, size_t width, size_t *next);

/* The least width at which words stay whole, or long ones are broken only where a person would: what a
 * column for this text needs. */
size_t pdnn_fill_least(const char *text);

/* Appends text, filled to width. Every line after the first is indented by `indent` spaces; the first one
 * starts where the caller left off. */
void pdnn_fill_text(struct pdnn_str *out, const char *text, size_t indent, size_t width);

#endif
