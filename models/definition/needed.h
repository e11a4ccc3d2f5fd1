/* What a graph needs of all that a definition says. Internal to models/definition. */
#ifndef MODELS_DEFINITION_NEEDED_H
#define MODELS_DEFINITION_NEEDED_H

#include "models/definition/compiled.h"

/* Inference computes the result, training the loss. What serves neither is a mistake; what serves only the
 * other goes, with the tensors that only it had. first_tensor: the first that this build made. */
void pdnn_needed_only(struct pdnn_build *build, const uint32_t *results, size_t n_results,
                      uint32_t first_tensor);

#endif
