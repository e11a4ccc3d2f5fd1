/* What all lists of a definition see: axes, lets, the mode; and what is made of these alone: requirements,
 * inputs, weights. Internal to models/definition. */
#ifndef MODELS_DEFINITION_GLOBALS_H
#define MODELS_DEFINITION_GLOBALS_H

#include "models/definition/scope.h"

/* globals is empty before. */
void pdnn_globals_compile(struct pdnn_compiler *compiler, struct pdnn_compiled *compiled,
                          struct pdnn_scope *globals);

#endif
