/* From a family's YAML file to its definition (models/definition). The language is in doc/families.md. */
#ifndef GEN_FAMILY_FAMILY_H
#define GEN_FAMILY_FAMILY_H

#include "gen/yaml/document.h"
#include "models/definition/definition.h"

/* Reads the map of one family. The definition is in the arena, as the document must be, whose texts it
 * borrows. source: the map as YAML, kept with it, or NULL. What keys and values are is checked here, what
 * names mean when it is compiled. PDNN_INVALID with file:line:col. */
enum pdnn_status pdnn_family_read(const struct pdnn_yaml *root, const char *source, struct pdnn_arena *arena,
                                  const struct pdnn_definition **definition, struct pdnn_err *err);

/* The same from a text of `length` bytes; `file` is what messages call it. */
enum pdnn_status pdnn_family_parse(const char *file, const char *text, size_t length,
                                   struct pdnn_arena *arena, const struct pdnn_definition **definition,
                                   struct pdnn_err *err);

#endif
