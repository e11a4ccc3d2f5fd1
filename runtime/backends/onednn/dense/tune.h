/* In which layout a dense op's weights are stored and how each of its passes runs, by measuring. What counts
 * is the sum over the passes that the step has, reorders included: a layout that is best for one pass may be
 * worst for another. Shapes beyond a size are measured on smaller ones of the same kind, since there only the
 * memory layout still tells the candidates apart. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H

#include "runtime/backends/onednn/dense/costs.h"
#include "runtime/backends/onednn/state.h"

/* All that tells shapes apart. */
struct pdnn_tune_key pdnn_onednn_dense_key(const struct pdnn_onednn_dense_shape *shape, int64_t threads);

/* Changes only from one compilation to another. PDNN_UNSUPPORTED with the library's answer when a pass has no
 * implementation. */
enum pdnn_status pdnn_onednn_dense_choose(struct pdnn_onednn *onednn,
                                          const struct pdnn_onednn_dense_shape *shape,
                                          struct pdnn_onednn_dense_choice *choice, struct pdnn_err *err);

#endif
