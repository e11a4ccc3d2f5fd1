/* One op of a family, applied to what an entry reads. Internal to models/definition. */
#ifndef MODELS_DEFINITION_APPLY_H
#define MODELS_DEFINITION_APPLY_H

#include "models/definition/compiled.h"

/* Appends the op that the entry names, or `op: expression` gives, to the graph: on what x has, with weights
 * and states as its row says. Then x has its outputs, of which the first is the result. */
bool pdnn_apply_op(struct pdnn_build *build, const struct pdnn_op_code *code,
                   const struct pdnn_entry_code *call, struct pdnn_readings *x);

#endif
