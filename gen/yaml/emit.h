/* Writes trees as YAML that reads back as the same trees: overrides applied, aliases
 * expanded, comments gone. */
#ifndef GEN_YAML_EMIT_H
#define GEN_YAML_EMIT_H

#include "base/str.h"
#include "gen/yaml/document.h"

/* Appends the documents, each after its "---". On PDNN_NO_MEMORY, discard what was appended. */
enum pdnn_status pdnn_yaml_emit(const struct pdnn_yaml *const *roots, size_t n_roots, struct pdnn_str *out,
                                struct pdnn_err *err);

#endif
