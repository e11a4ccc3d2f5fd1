/* Parameter rows. One row describes one hyper-parameter or run setting; the spec parser, validation, --help,
 * instance ids, CSV columns and the documentation all read the same row. */
#ifndef MODELS_PARAM_H
#define MODELS_PARAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum pdnn_param_type { PDNN_PARAM_INT, PDNN_PARAM_CHOICE, PDNN_PARAM_LIST };

/* A LIST is one to PDNN_LIST_MAX whole numbers from 0 to PDNN_LIST_NUMBER_MAX, written 3-4-6-3 and packed
 * into one int64_t: digits in base PDNN_LIST_BASE, the first number the lowest digit as it is, the others
 * plus 1 so that 0 ends the list. A list of one number is that number. Negative values are no lists but what
 * a row's word may stand for. */
enum { PDNN_LIST_MAX = 5, PDNN_LIST_BASE = 6000, PDNN_LIST_NUMBER_MAX = PDNN_LIST_BASE - 2 };

/* Packed lists for static initializers. */
#define PDNN_LIST_PUT(first, rest) ((int64_t)(first) + PDNN_LIST_BASE * ((int64_t)(rest) + 1))
#define PDNN_LIST2(a, b)           PDNN_LIST_PUT(a, b)
#define PDNN_LIST3(a, b, c)        PDNN_LIST_PUT(a, PDNN_LIST2(b, c))
#define PDNN_LIST4(a, b, c, d)     PDNN_LIST_PUT(a, PDNN_LIST3(b, c, d))
#define PDNN_LIST5(a, b, c, d, e)  PDNN_LIST_PUT(a, PDNN_LIST4(b, c, d, e))

/* How many numbers it has; 0 of a negative value. */
int pdnn_list_length(int64_t list);

/* Number i; beyond the end the last one, of a negative value that value. */
int64_t pdnn_list_at(int64_t list, int i);

/* n from 1 to PDNN_LIST_MAX numbers in range. */
int64_t pdnn_list_pack(const int64_t *numbers, int n);

/* The first n numbers, of a shorter list its last one again and again. A negative value stays. */
int64_t pdnn_list_take(int64_t list, int n);

/* Without numbers at the end that only repeat the one before, but `least` numbers or as many as there are. */
int64_t pdnn_list_trim(int64_t list, int least);

struct pdnn_param_def {
    const char *name;
    enum pdnn_param_type type;
    int64_t min, max,
        fallback; /* INT, LIST: inclusive range of each number, and default; CHOICE: an index into choices */
    const char *const *choices; /* CHOICE: NULL-terminated; the value is the index. Else NULL */
    /* INT, LIST: a word that may be written for word_value, or NULL. Of an INT it stands for a number that is
     * put in its place before anything runs: `all` threads, a hidden size like the embedding's. */
    const char *word;
    int64_t word_value;
    const char *unit; /* "" where it has none */
    const char *help;
};

enum { PDNN_PARAM_TEXT = 32 };

/* Text to value, range-checked. The message names the parameter, the text and what would be right, with the
 * nearest choice where there is one. PDNN_INVALID on error. */
enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text, int64_t *value,
                                  struct pdnn_err *err);

/* The same check for a value that is there already (of a preset). */
enum pdnn_status pdnn_param_check(const struct pdnn_param_def *def, int64_t value, struct pdnn_err *err);

/* And for a plain number: an axis step, or one number of a list. */
enum pdnn_status pdnn_param_check_number(const struct pdnn_param_def *def, int64_t number,
                                         struct pdnn_err *err);

/* Value to text as ids print it. Returns buffer or the choice's own name. */
const char *pdnn_param_format(const struct pdnn_param_def *def, int64_t value, char buffer[PDNN_PARAM_TEXT]);

/* Index of the row named name, or -1. */
int pdnn_param_find(const struct pdnn_param_def *defs, size_t count, const char *name);

#endif
