/* What a composition would do, as text: --dry-run. */
#ifndef CLI_COMPOSE_PLAN_TEXT_H
#define CLI_COMPOSE_PLAN_TEXT_H

#include "session/compose_plan.h"

/* Appends one row per op and pass, and for people first what becomes of the models. budget_seconds: INFINITY:
 * none. */
void pdnn_compose_plan_format(const struct pdnn_compose_plan *plan, const struct pdnn_compose_choice *choice,
                              bool csv, struct pdnn_str *out);

#endif
