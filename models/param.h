/* Parameter rows. One row describes one hyper-parameter or run setting; the spec parser, validation, --help,
 * instance ids, CSV columns and the documentation all read the same row. */
#ifndef MODELS_PARAM_H
#define MODELS_PARAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum pdnn_param_type { PDNN_PARAM_INT, PDNN_PARAM_CHOICE };

struct pdnn_param_def {
    const char *name;
    enum pdnn_param_type type;
    int64_t min, max,
        fallback; /* INT: inclusive range and default; CHOICE: fallback is an index into choices */
    const char *const *choices; /* CHOICE: NULL-terminated; the value is the index. Else NULL */
    const char *word;           /* INT: a word that may be written for word_value ("all" for 0), or NULL */
    int64_t word_value;
    const char *unit; /* "" where it has none */
    const char *help;
};

enum { PDNN_PARAM_TEXT = 32 };

/* Text to value, range-checked. The message names the parameter, the text and what would be right, with the
 * nearest choice where there is one. PDNN_INVALID on error. */
enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text, int64_t *value,
                                  struct pdnn_err *err);

/* The same check for a number that is there already (an axis step, a preset). */
enum pdnn_status pdnn_param_check(const struct pdnn_param_def *def, int64_t value, struct pdnn_err *err);

/* Value to text as ids print it. Returns buffer or the choice's own name. */
const char *pdnn_param_format(const struct pdnn_param_def *def, int64_t value, char buffer[PDNN_PARAM_TEXT]);

/* Index of the row named name, or -1. */
int pdnn_param_find(const struct pdnn_param_def *defs, size_t count, const char *name);

#endif
