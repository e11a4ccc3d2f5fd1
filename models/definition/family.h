/* The family that the rest of the program sees: parameter rows, presets, parts of layers. Internal to
 * models/definition. */
#ifndef MODELS_DEFINITION_FAMILY_H
#define MODELS_DEFINITION_FAMILY_H

#include "models/definition/compiled.h"

/* Fills compiled->family and the masks. PDNN_INVALID where a row of the definition cannot be one. */
enum pdnn_status pdnn_definition_make_family(struct pdnn_compiled *compiled, struct pdnn_arena *arena,
                                             struct pdnn_err *err);

#endif
