/* Fills text into lines of a given width. */
#ifndef CLI_FILL_H
#define CLI_FILL_H

#include "base/str.h"

#include <stddef.h>

/* Appends the words of text, filled to width. Every line after the first is indented by `indent` spaces; the
 * first one starts where the caller left off. */
void pdnn_fill_text(struct pdnn_str *out, const char *text, size_t indent, size_t width);

#endif
