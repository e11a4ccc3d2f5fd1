/* What a shell offers when the user presses TAB: `paradnn --complete WORD...` is asked by the functions in
 * packaging/completion, which only hand the words over, so that all shells offer what the tables have. */
#ifndef CLI_ARGS_COMPLETE_H
#define CLI_ARGS_COMPLETE_H

#include "base/str.h"

#include <stddef.h>

/* Appends the answer for the words after `paradnn`, the last of which is completed: a line with what files
 * the shell adds (none, files, directories or specs), then the candidates. */
void pdnn_complete(struct pdnn_str *out, const char *const *words, size_t count);

#endif
