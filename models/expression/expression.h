/* An expression of a family or of `where` as a tree, and as one line of prefix text, in which a definition is
 * compared, hashed and sent: `(+ (* width 8) 1)`, `(? pre norm2 'none')`, `(.channels ([] skip i))`. Nothing
 * is evaluated here, and names mean nothing: models/expression/parse reads what people write, who evaluates
 * binds the names. Text and tree determine each other. */
#ifndef MODELS_EXPRESSION_EXPRESSION_H
#define MODELS_EXPRESSION_EXPRESSION_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "models/expression/rational.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_expression_kind {
    PDNN_EXPRESSION_NUMBER,
    PDNN_EXPRESSION_REAL, /* a literal that is not a rational of two int64, such as 1e30 */
    PDNN_EXPRESSION_WORD, /* 'same' */
    PDNN_EXPRESSION_NAME,
    PDNN_EXPRESSION_LIST,   /* one operand or more */
    PDNN_EXPRESSION_INDEX,  /* a list, its index */
    PDNN_EXPRESSION_FIELD,  /* of its operand */
    PDNN_EXPRESSION_CHOOSE, /* c ? a : b */
    PDNN_EXPRESSION_NEGATE,
    PDNN_EXPRESSION_NOT,
    PDNN_EXPRESSION_OR, /* from here to POWER, two operands */
    PDNN_EXPRESSION_AND,
    PDNN_EXPRESSION_EQUAL,
    PDNN_EXPRESSION_UNEQUAL,
    PDNN_EXPRESSION_LESS,
    PDNN_EXPRESSION_AT_MOST,
    PDNN_EXPRESSION_GREATER,
    PDNN_EXPRESSION_AT_LEAST,
    PDNN_EXPRESSION_ADD,
    PDNN_EXPRESSION_SUBTRACT,
    PDNN_EXPRESSION_MULTIPLY,
    PDNN_EXPRESSION_DIVIDE,
    PDNN_EXPRESSION_POWER,
    PDNN_EXPRESSION_FIRST_FUNCTION, /* called by their names; min and max take one argument or more */
    PDNN_EXPRESSION_MIN = PDNN_EXPRESSION_FIRST_FUNCTION,
    PDNN_EXPRESSION_MAX,
    PDNN_EXPRESSION_ABS,
    PDNN_EXPRESSION_MOD,
    PDNN_EXPRESSION_FLOOR,
    PDNN_EXPRESSION_CEIL,
    PDNN_EXPRESSION_DIVISIBLE,
    PDNN_EXPRESSION_LEN,
    PDNN_EXPRESSION_SUM,
    PDNN_EXPRESSION_SQRT,
    PDNN_EXPRESSION_EXP,
    PDNN_EXPRESSION_LN,
    PDNN_EXPRESSION_LOG2,
    PDNN_EXPRESSION_LOG10,
    PDNN_EXPRESSION_RINT,
    PDNN_EXPRESSION_KIND_COUNT
};

/* What `x.channels` may name. */
enum pdnn_field {
    PDNN_FIELD_SIZE,
    PDNN_FIELD_MATRICES,
    PDNN_FIELD_ROWS,
    PDNN_FIELD_COLUMNS,
    PDNN_FIELD_IMAGES,
    PDNN_FIELD_CHANNELS,
    PDNN_FIELD_HEIGHT,
    PDNN_FIELD_WIDTH,
    PDNN_FIELD_FEATURES, /* all dimensions but the first, multiplied */
    PDNN_FIELD_INPUTS,   /* of one unit of what computed it (models/ops/operand.h) */
    PDNN_FIELD_COUNT
};
extern const char *const pdnn_field_names[PDNN_FIELD_COUNT];

enum {
    PDNN_EXPRESSION_DEPTH = 256, /* nodes on the longest way from the root; a + b + c is three deep */
    PDNN_LITERAL_TEXT = 64,      /* of a REAL, with the NUL */
};

struct pdnn_expression {
    enum pdnn_expression_kind kind;
    enum pdnn_field field;       /* of a FIELD */
    int offset;                  /* in the source text, of the operator or the first letter; -1: unknown */
    int depth;                   /* 1 without operands */
    struct pdnn_rational number; /* of a NUMBER */
    double real;                 /* of a REAL */
    const char *text; /* of a WORD, without its quotes; of a NAME; of a REAL: digits, e, exponent */
    const struct pdnn_expression **operands;
    size_t n_operands;
};

/* What stands first in prefix text: "+", "min"; NULL where the kind has no operands, and for a FIELD. */
struct pdnn_expression_row {
    const char *head;
    size_t least, most; /* operands */
};
extern const struct pdnn_expression_row pdnn_expression_rows[PDNN_EXPRESSION_KIND_COUNT];

/* A node of these operands, of which it keeps a copy; NULL if it would be deeper than the limit. */
struct pdnn_expression *pdnn_expression_make(struct pdnn_arena *arena, enum pdnn_expression_kind kind,
                                             int offset, const struct pdnn_expression *const *operands,
                                             size_t n_operands);

/* A decimal number without a sign as a NUMBER, else a REAL; NULL if the text is not one of less than
 * PDNN_LITERAL_TEXT letters, or is beyond what a double holds. */
struct pdnn_expression *pdnn_expression_make_number(struct pdnn_arena *arena, const char *text, int offset);

/* Whether the letters can stand between quotes: no control character, not both quotes. */
bool pdnn_expression_is_word(const char *text, size_t length);

/* The length of the name that the text begins with: letters, digits and _, no digit first; 0 for none, and
 * for `and`, `or` and `not`. */
size_t pdnn_expression_name_length(const char *text);

bool pdnn_expression_is_equal(const struct pdnn_expression *a, const struct pdnn_expression *b);

/* Appends the expression as people write it: (width + 1) * 8. */
void pdnn_expression_say(const struct pdnn_expression *expression, struct pdnn_str *out);

/* Appends the prefix text, whose words are separated by single spaces. */
void pdnn_expression_write(const struct pdnn_expression *expression, struct pdnn_str *out);

/* Reads what pdnn_expression_write wrote, and nothing else, from *text, which is set behind it. The tree is
 * in the arena, with copies of its texts and without offsets. PDNN_INVALID for anything else. */
enum pdnn_status pdnn_expression_read(const char **text, struct pdnn_arena *arena,
                                      const struct pdnn_expression **expression, struct pdnn_err *err);

#endif
