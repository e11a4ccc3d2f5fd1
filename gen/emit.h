/* Writes trees as YAML that reads back to the same trees: overrides in their places, aliases written out,
 * comments gone. */
#ifndef GEN_EMIT_H
#define GEN_EMIT_H

#include "base/str.h"
#include "gen/document.h"

/* Appends the documents, each behind its "---". PDNN_NO_MEMORY; what was appended then is of no use. */
enum pdnn_status pdnn_yaml_emit(const struct pdnn_yaml *const *roots, size_t n_roots, struct pdnn_str *out,
                                struct pdnn_err *err);

#endif
