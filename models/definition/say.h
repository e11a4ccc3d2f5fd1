/* What a definition says where a requirement does not hold: text with {expressions}. Internal to
 * models/definition. */
#ifndef MODELS_DEFINITION_SAY_H
#define MODELS_DEFINITION_SAY_H

#include "models/definition/scope.h"

/* NULL: nothing is said. */
struct pdnn_say pdnn_say_compile(struct pdnn_compiler *compiler, const struct pdnn_scope *scope,
                                 const char *text, int32_t place);

#endif
