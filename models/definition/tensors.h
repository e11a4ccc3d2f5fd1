/* Inputs and weights of a definition, which come into being when they are read. Internal to
 * models/definition. */
#ifndef MODELS_DEFINITION_TENSORS_H
#define MODELS_DEFINITION_TENSORS_H

#include "models/definition/compiled.h"

/* The input, which this makes if nothing read it before; of one with indices: PDNN_DATUM_RESULTS. */
bool pdnn_build_input(struct pdnn_build *build, int input, struct pdnn_datum *datum);

/* One of the definition's weights, all of which are made when the first of them is used. */
bool pdnn_build_weight(struct pdnn_build *build, int32_t place, int weight, uint32_t *made);

#endif
