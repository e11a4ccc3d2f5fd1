/* Values of axes that stand for others. Internal to models/definition. */
#ifndef MODELS_DEFINITION_RESOLVE_H
#define MODELS_DEFINITION_RESOLVE_H

#include "models/definition/compiled.h"

struct pdnn_instance;

/* Replaces the words that stand for derived values of axes by these values, and shortens lists (`together`).
 * A value that cannot be derived stays as it is; build says why. */
void pdnn_definition_resolve(const struct pdnn_compiled *compiled, struct pdnn_instance *instance);

/* lengths: the target's length for a source's. */
int64_t pdnn_definition_target(const struct pdnn_compiled *compiled, int64_t source);

#endif
