/* Text broken into lines. */
#ifndef CLI_FILL_H
#define CLI_FILL_H

#include "base/str.h"

#include <stddef.h>

/* Appends words filled to width, every line after indent spaces; the first one is where the caller left off.
 */
void pdnn_fill_text(struct pdnn_str *out, const char *text, size_t indent, size_t width);

#endif
