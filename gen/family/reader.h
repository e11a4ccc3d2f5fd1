/* Pieces of a family's file: texts, expressions, maps with known keys. Internal to gen/family. After an
 * error, which stays in the reader, everything gives something harmless. */
#ifndef GEN_FAMILY_READER_H
#define GEN_FAMILY_READER_H

#include "gen/yaml/document.h"
#include "models/definition/definition.h"

struct pdnn_reader {
    struct pdnn_arena *arena;
    struct pdnn_err *err;
};

bool pdnn_reader_failed(const struct pdnn_reader *reader);

/* Where a node stands; of a scalar, its text. */
int32_t pdnn_reader_place(const struct pdnn_yaml *node);

/* Fails unless the node is of the kind. `what`: "axes". */
bool pdnn_reader_is(const struct pdnn_reader *reader, const struct pdnn_yaml *node, enum pdnn_yaml_kind kind,
                    const char *what);

/* Fails unless the node is a map whose keys are all among `keys` (NULL-terminated). `what`: "of axis nodes".
 */
bool pdnn_reader_keys(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *what,
                      const char *const *keys);

/* The text of a map's key, NULL without it. */
const char *pdnn_reader_text(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *key);

/* yes or no; `usual` without the key. */
bool pdnn_reader_switch(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *key,
                        bool usual);

/* A name: letters, digits and _, no digit first. */
bool pdnn_reader_is_name(const struct pdnn_reader *reader, const struct pdnn_yaml *node, const char *what);

/* An expression, or a list of them as one. NULL after an error. */
const struct pdnn_expression *pdnn_reader_expression(const struct pdnn_reader *reader,
                                                     const struct pdnn_yaml *node);

/* That of a map's key; NULL without it. */
const struct pdnn_expression *pdnn_reader_optional(const struct pdnn_reader *reader,
                                                   const struct pdnn_yaml *map, const char *key);

/* The items of a list, or the one that stands without brackets. NULL node: none. */
const struct pdnn_expression *const *pdnn_reader_several(const struct pdnn_reader *reader,
                                                         const struct pdnn_yaml *node, size_t *count);

/* What is said of a value that YAML cut at a comma or bracket in braces; "" for others. */
const char *pdnn_reader_hint(const struct pdnn_yaml *node);

/* A word as an expression. */
const struct pdnn_expression *pdnn_reader_word(const struct pdnn_reader *reader, const char *text,
                                               int32_t place);

/* `name: value` rows of a map; a value may be absent where may_be_absent says so. */
const struct pdnn_definition_value *pdnn_reader_values(const struct pdnn_reader *reader,
                                                       const struct pdnn_yaml *map, bool may_be_absent,
                                                       size_t *count);

#endif
