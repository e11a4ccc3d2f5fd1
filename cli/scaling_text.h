/* Modelled training on several devices as text for people. */
#ifndef CLI_SCALING_TEXT_H
#define CLI_SCALING_TEXT_H

#include "base/str.h"
#include "results/analysis/distribution.h"

/* One row per instance, nodes and slices; the largest batch only where it was asked for. */
void pdnn_scaling_text(struct pdnn_str *out, const struct pdnn_scaling *scaling, bool with_batch);

/* Parts of the step side by side: a table per instance, a column per nodes and slices. */
void pdnn_scaling_parts_text(struct pdnn_str *out, const struct pdnn_scaling *scaling);

#endif
