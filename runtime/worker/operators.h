/* The distinct operators of a model, and the measurement of one of them after the calls that precede
 * it inside the model (runtime/plan/call_window.h). The model is compiled without memory, and
 * stays compiled until another one or another kind of request is asked for. */
#ifndef RUNTIME_WORKER_OPERATORS_H
#define RUNTIME_WORKER_OPERATORS_H

#include "runtime/protocol/operator.h"
#include "runtime/worker/process.h"

/* Lists what the instance consists of. visit gets the outcome with its reason, the memory that the model
 * would need, and the rows of ops.csv without times; the caller finishes it. The operators belong to the
 * process until its next request; none if the outcome is not ok. */
void pdnn_operators_list(struct pdnn_process *process, const struct pdnn_request *request,
                         struct pdnn_visit *visit, const struct pdnn_operator **operators, size_t *count);

/* Measures one operator, and of those that are wanted beside it the ones that take little more. visit gets
 * the outcome, and times each one's time, heap, freed by the caller; none if the outcome is not ok. */
void pdnn_operator_measure(struct pdnn_process *process, const struct pdnn_operator_request *request,
                           struct pdnn_visit *visit, struct pdnn_operator_time **times, size_t *n_times);

void pdnn_operators_close(struct pdnn_process *process);

#endif
