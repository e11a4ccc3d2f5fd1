/* The one reader of expressions as people write them, in families and in `where`: or and not (|| &&),
 * comparisons, + - * / ^ (right-associative), signs, c ? a : b, 8GiB, functions, names, 'words', [lists],
 * list[index], x.channels. It makes a tree (models/expression/expression.h) and knows no names. */
#ifndef MODELS_EXPRESSION_PARSE_H
#define MODELS_EXPRESSION_PARSE_H

#include "models/expression/expression.h"

/* Words without quotes, for `where`: behind a name and == != < <= > >=, how many letters of `text` are a word
 * that the name is compared with; 0 if an expression stands there. */
struct pdnn_bare_words {
    size_t (*length)(const void *context, const char *name, const char *text);
    const void *context;
};

/* base: added to the offsets of all nodes. Reads the whole text, line breaks included. The tree is in the
 * arena, with copies of its texts. `bare` may be NULL. PDNN_INVALID with *place, the offset that the message
 * is about: the text's length if it ends where more is expected, as it does for a text that YAML cut at a
 * comma. */
enum pdnn_status pdnn_expression_parse(const char *text, int base, const struct pdnn_bare_words *bare,
                                       struct pdnn_arena *arena, const struct pdnn_expression **tree,
                                       size_t *place, struct pdnn_err *err);

#endif
