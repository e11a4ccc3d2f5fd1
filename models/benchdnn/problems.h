/* An instance's step as problems of benchdnn, oneDNN's benchmark: a line an operator, as its documentation of
 * drivers, knobs and descriptors has them (oneDNN 3, tests/benchdnn/doc). */
#ifndef MODELS_BENCHDNN_PROBLEMS_H
#define MODELS_BENCHDNN_PROBLEMS_H

#include "base/str.h"
#include "models/instance.h"

/* Appends the lines of the instance's graph, as its settings make it, in the order in which operators first
 * run: mode, direction, element types, layouts, post-ops and cache state. Equal lines are one, below a
 * comment with their op, pass, number and first layer; ops without a driver are comments at the end. A line
 * has all its options, and needs none of those before it. */
enum pdnn_status pdnn_benchdnn_append(const struct pdnn_instance *instance, struct pdnn_str *text,
                                      struct pdnn_err *err);

#endif
