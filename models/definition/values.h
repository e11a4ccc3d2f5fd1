/* Values of a definition's axes and lets, for one instance. Internal to models/definition. */
#ifndef MODELS_DEFINITION_VALUES_H
#define MODELS_DEFINITION_VALUES_H

#include "models/definition/message.h"

/* The value of an axis of the build's instance; whether it stands for one that is derived; the mode, into its
 * global.
 */
struct pdnn_datum pdnn_axis_value(struct pdnn_build *build, size_t axis);
bool pdnn_axis_is_derived(const struct pdnn_definition_axis *axis, struct pdnn_value value);
void pdnn_values_mode(struct pdnn_build *build);

/* Evaluates the axes, the mode and the lets of the build's instance. False after an error. */
bool pdnn_values_begin(struct pdnn_build *build);

/* The value of an axis as an id has it. Returns buffer. */
const char *pdnn_axis_say(const struct pdnn_build *build, int axis, char buffer[PDNN_DATUM_TEXT]);

/* "require: length <= positions does not hold with length=2048, positions=1024". Always false. */
bool pdnn_values_deny(struct pdnn_build *build, const struct pdnn_definition_require *require);

#endif
