/* Checks that what a step leaves behind is finite: result and loss, and after training the weights too, since
 * a NaN behind a ReLU does not reach the loss. */
#ifndef RUNTIME_WORKER_FINITE_H
#define RUNTIME_WORKER_FINITE_H

#include "runtime/plan/plan.h"

/* If a value is not finite, the visit's outcome becomes PDNN_OUTCOME_NUMERIC_ERROR, and its reason names the
 * tensor and the element. */
enum pdnn_status pdnn_finite_check(const struct pdnn_plan *plan, struct pdnn_visit *visit,
                                   struct pdnn_err *err);

#endif
