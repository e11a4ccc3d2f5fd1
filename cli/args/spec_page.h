/* The language of specs on one page, for `paradnn help spec` and doc/spec.md: every key with its values,
 * default, meaning and an example, from the tables that read specs; the text between them is spec.md. */
#ifndef CLI_ARGS_SPEC_PAGE_H
#define CLI_ARGS_SPEC_PAGE_H

#include "base/str.h"

/* Appends the page: Markdown, filled to `width` columns. */
void pdnn_spec_page_format(struct pdnn_str *out, size_t width);

extern const char pdnn_spec_text[]; /* spec.md, which the build embeds */

#endif
