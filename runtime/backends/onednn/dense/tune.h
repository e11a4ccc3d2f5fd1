/* Decides by measuring in which layout a dense op's weights are stored and how each of its passes runs. What
 * counts is the sum over the step's passes, reorders included: the best layout for one pass may be the worst
 * for another. Large shapes are measured on smaller ones of the same kind, since above a certain size only
 * the memory layout distinguishes the candidates. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/dense/costs.h"

/* Everything that distinguishes two shapes. */
struct pdnn_tune_key pdnn_onednn_dense_key(const struct pdnn_onednn_dense_shape *shape, int64_t threads);

/* How the op on the weights runs. The choice for a shape changes only between compilations. PDNN_UNSUPPORTED,
 * with the library's answer, if a pass has no implementation. */
enum pdnn_status pdnn_onednn_dense_choose(const struct pdnn_onednn_compile *compile, uint32_t weights,
                                          const struct pdnn_onednn_dense_shape *shape,
                                          struct pdnn_onednn_dense_choice *choice, struct pdnn_err *err);

#endif
