/* From a definition to what builds its graphs. Every name, key and call is checked, also where no value of
 * the axes reaches it; shapes are checked when an instance is built. */
#ifndef MODELS_DEFINITION_COMPILE_H
#define MODELS_DEFINITION_COMPILE_H

#include "models/definition/definition.h"

struct pdnn_compiled;

/* *compiled lives in the arena, and so must the definition. PDNN_INVALID with "file:line:col: " where the
 * definition knows its places. */
enum pdnn_status pdnn_definition_compile(const struct pdnn_definition *definition, struct pdnn_arena *arena,
                                         const struct pdnn_compiled **compiled, struct pdnn_err *err);

/* The family of a definition, which lives in the arena with it. Ids of one that ships have no hash. */
enum pdnn_status pdnn_definition_family(const struct pdnn_definition *definition, bool ships,
                                        struct pdnn_arena *arena, const struct pdnn_family_def **family,
                                        struct pdnn_err *err);

/* What the family is made of. */
const struct pdnn_definition *pdnn_family_definition(const struct pdnn_family_def *family);

#endif
