/* The error of composed times as text: one row per model, and a summary by family and mode. */
#ifndef CLI_COMPOSE_TEXT_H
#define CLI_COMPOSE_TEXT_H

#include "session/compose.h"

/* Appends a table of the models; for people, ordered by error and followed by the summary. */
void pdnn_validation_format(const struct pdnn_validation *validation, bool csv, struct pdnn_str *out);

#endif
