/* Parameter rows. One row describes one hyper-parameter or run setting; the spec parser, validation, --help,
 * instance ids, CSV columns and the documentation all read the same row. */
#ifndef MODELS_PARAM_H
#define MODELS_PARAM_H

#include "base/err.h"
#include "base/str.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_param_type {
    PDNN_PARAM_INT,
    PDNN_PARAM_CHOICE,
    PDNN_PARAM_LIST,
    PDNN_PARAM_DECIMAL,
    PDNN_PARAM_NAME
};

/* A NAME is up to PDNN_NAME_LENGTH of the PDNN_NAME_LETTERS, packed into a number: each number from 0, which
 * is the empty name, to PDNN_NAME_MAX is one name. */
#define PDNN_NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789.-_"
enum { PDNN_NAME_LENGTH = 11 };
#define PDNN_NAME_MAX INT64_C(325830464620432239)
bool pdnn_name_pack(const char *text, int64_t *number); /* false: the text is no such name, or is empty */
const char *pdnn_name_unpack(int64_t number, char text[PDNN_NAME_LENGTH + 1]); /* returns text */

/* PDNN_LIST_NUMBER_MAX: the largest number of a list, so that PDNN_PARAM_TEXT has room for five. */
enum { PDNN_LIST_MAX = 5, PDNN_LIST_NUMBER_MAX = 99999 };

/* A DECIMAL is a number of millionths. Up to the largest one, equal doubles are equal numbers. */
enum { PDNN_MILLION = 1000000 };
#define PDNN_DECIMAL_MAX (INT64_C(999999999) * PDNN_MILLION)

/* The value of a parameter: a whole number, the index of a word, millionths, or a list of up to PDNN_LIST_MAX
 * numbers from 0, written 3-4-6-3. A list of one number is that number. A negative number is not a list but
 * stands for the row's word. Unused numbers are 0, so that equal values have equal bytes. */
struct pdnn_value {
    int64_t number; /* the first one, for a list */
    int64_t n_more;
    int64_t more[PDNN_LIST_MAX - 1];
};

static inline struct pdnn_value pdnn_value_of(int64_t number) {
    return (struct pdnn_value){.number = number};
}

bool pdnn_value_equal(struct pdnn_value a, struct pdnn_value b);

/* The number of numbers; 0 for a negative value. */
int pdnn_list_length(struct pdnn_value list);

/* Number i; past the end, the last one. */
int64_t pdnn_list_at(struct pdnn_value list, int i);

/* n from 1 to PDNN_LIST_MAX numbers. */
struct pdnn_value pdnn_list_make(const int64_t *numbers, int n);

/* The first n numbers; a shorter list is extended with its last number. A negative value stays. */
struct pdnn_value pdnn_list_take(struct pdnn_value list, int n);

/* Drops trailing numbers that only repeat the one before them, but keeps at least `least` numbers, if
 * there are that many. */
struct pdnn_value pdnn_list_trim(struct pdnn_value list, int least);

struct pdnn_param_def {
    const char *name;
    const char *column; /* its column in tables, where readers of tables do not take its name; or NULL */
    enum pdnn_param_type type;
    int64_t min, max;           /* INT, LIST, DECIMAL: inclusive range of each number */
    struct pdnn_value fallback; /* the default; CHOICE: an index into choices */
    const char *const *choices; /* CHOICE: NULL-terminated; the value is the index. Else NULL */
    /* INT, LIST, NAME: a word that may be written for word_value, or NULL. For an INT, it stands for a number
     * that replaces it before anything runs: `all` threads, a hidden size like the embedding's; for a NAME,
     * for 0. */
    const char *word;
    int64_t word_value;
    const char *unit; /* or NULL */
    bool is_input;    /* it says what a step gets, not what the model is: a preset stays one at any value */
    const char *help;
    const char *example; /* a value as a spec has it, or several: "[4, 16]" */
};

/* How a row begins: its name, what it takes, its default; and a word for a number. */
#define PDNN_ROW_INT(key, least, most, usual)                                                                \
    .name = key, .type = PDNN_PARAM_INT, .min = least, .max = most, .fallback.number = usual
#define PDNN_ROW_LIST(key, least, most, usual)                                                               \
    .name = key, .type = PDNN_PARAM_LIST, .min = least, .max = most, .fallback.number = usual
#define PDNN_ROW_CHOICE(key, words, usual)                                                                   \
    .name = key, .type = PDNN_PARAM_CHOICE, .choices = words, .fallback.number = usual
#define PDNN_ROW_NAME(key, usual)                                                                            \
    .name = key, .type = PDNN_PARAM_NAME, .min = 0, .max = PDNN_NAME_MAX, .word = usual
#define PDNN_ROW_WORD(text, number) .word = text, .word_value = number

/* Whether its values are words, which are equal or not and nothing else. */
static inline bool pdnn_param_is_word(const struct pdnn_param_def *def) {
    return def->type == PDNN_PARAM_CHOICE || def->type == PDNN_PARAM_NAME;
}

/* "" where it has none. */
static inline const char *pdnn_param_unit(const struct pdnn_param_def *def) {
    return def->unit ? def->unit : "";
}

/* The name of its column in tables. */
static inline const char *pdnn_param_column(const struct pdnn_param_def *def) {
    return def->column ? def->column : def->name;
}

enum { PDNN_PARAM_TEXT = 32 };

/* Text to value, range-checked. On PDNN_INVALID the message names the parameter, the text and what is
 * expected, with the nearest choice if there is one. */
enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text,
                                  struct pdnn_value *value, struct pdnn_err *err);

/* One number without the word for it: whole, or the millionths of a DECIMAL. */
enum pdnn_number_kind pdnn_param_parse_number(const struct pdnn_param_def *def, const char *text,
                                              int64_t *number);

/* "0.5" of a DECIMAL's 500000; "4". Returns buffer. */
const char *pdnn_param_format_number(const struct pdnn_param_def *def, int64_t number,
                                     char buffer[PDNN_PARAM_TEXT]);

/* 0.5 of a DECIMAL's 500000: the double nearest to the number that is written. */
static inline double pdnn_param_double(const struct pdnn_param_def *def, int64_t number) {
    return def->type == PDNN_PARAM_DECIMAL ? (double)number / PDNN_MILLION : (double)number;
}

/* The range check of one number: an axis step, a default, or one number of a list. */
enum pdnn_status pdnn_param_check_number(const struct pdnn_param_def *def, int64_t number,
                                         struct pdnn_err *err);

/* Value to text as ids print it. Returns buffer or the choice's own name. */
const char *pdnn_param_format(const struct pdnn_param_def *def, struct pdnn_value value,
                              char buffer[PDNN_PARAM_TEXT]);

/* pdnn_suggest for names of keys and their words, which also knows what other tools call them: layers for
 * num_layers. Returns buffer. */
const char *pdnn_param_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *word, const char *const *words,
                               size_t count);

/* Index of the row, or -1. */
int pdnn_param_find(const struct pdnn_param_def *defs, size_t count, const char *name);

#endif
