/* A definition as text, a line for each of its parts. The canonical text is what graphs depend on: two
 * definitions with one canonical text are the same family, whatever their files look like, and its hash names
 * it. The full text has besides what ids and parameter rows need; a worker gets it, and reads no YAML.
 * Places, helps, examples and claims are in neither.
 *
 *     family fc layers:int nodes:int batch:int activation:choice
 *     minibatch batch
 *     input features :shape batch input :fill uniform
 *     op (ops (dense out=nodes) (bias) (op activation) :repeat layers :layer hidden)
 *     axis layers 1 4096 :default 4
 *
 * Expressions are prefix text (models/expression/expression.h), attributes and blocks are sorted by name,
 * other texts stand in double quotes. Full text and definition determine each other. */
#ifndef MODELS_DEFINITION_TEXT_CANONICAL_H
#define MODELS_DEFINITION_TEXT_CANONICAL_H

#include "models/definition/definition.h"

enum {
    PDNN_DEFINITION_TEXT = 1 << 22, /* bytes of a text that is read */
    PDNN_DEFINITION_DEPTH = 32,     /* entries inside of entries, as in a YAML file */
    PDNN_DEFINITION_HASH = 9,       /* of a hash, with the NUL */
};

/* Appends the text of a definition that compiles. */
void pdnn_definition_write(const struct pdnn_definition *definition, bool full, struct pdnn_str *out);

/* Reads a full text, and nothing else. The definition is in the arena, with copies of its texts; it has no
 * file and no places. What names mean is checked when it is compiled. PDNN_INVALID for any other text. */
enum pdnn_status pdnn_definition_read(const char *text, struct pdnn_arena *arena,
                                      const struct pdnn_definition **definition, struct pdnn_err *err);

/* The first eight hex digits of the SHA-256 of the canonical text. Returns hash. */
const char *pdnn_definition_hash(const struct pdnn_definition *definition, char hash[PDNN_DEFINITION_HASH]);

#endif
