/* A projection as text for people. */
#ifndef CLI_PROJECTION_TEXT_H
#define CLI_PROJECTION_TEXT_H

#include "base/str.h"
#include "results/analysis/projection.h"

/* Append one table each: instances; ops that change their bound; limits by kind. */
void pdnn_projection_models_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection);
void pdnn_projection_ops_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection);
void pdnn_projection_moves_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection);
void pdnn_projection_limits_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection);

/* What changes, the ridge points, families, the foremost moves and limits. */
void pdnn_projection_overview_text(struct pdnn_str *out, const struct pdnn_hardware *hardware,
                                   const struct pdnn_hardware_projection *projection);

#endif
