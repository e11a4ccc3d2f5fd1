/* What `paradnn compose` says to people around its tables. */
#ifndef CLI_PRINT_COMPOSITION_H
#define CLI_PRINT_COMPOSITION_H

#include "session/compose/validate.h"
#include "session/compose/plan.h"

/* Appends the models of a validation, those with the largest errors first, and a summary by family and mode;
 * a column is added. */
void pdnn_validation_text(struct pdnn_str *out, struct pdnn_table *models);

/* Appends what a plan makes of the models; operators: its table. */
void pdnn_compose_plan_text(struct pdnn_str *out, const struct pdnn_compose_plan *plan,
                            const struct pdnn_compose_choice *choice, const struct pdnn_table *operators);

#endif
