/* Which layout a dense op's weights live in and how each of its passes runs, by measuring at compile time.
 * What counts is the sum over the passes that the step has, reorders included: a layout that is best for one
 * pass may be worst for another. Shapes beyond a size are measured on smaller ones of the same kind, since
 * there only the memory layout still tells the candidates apart. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_TUNE_H

#include "runtime/steps/options.h"
#include "runtime/backends/onednn/dense/costs.h"

struct pdnn_choice_entry;

/* What was found so far, for one thread count; {0} is empty. */
struct pdnn_onednn_dense_choices {
    struct pdnn_choice_entry *first;
    uint64_t compile; /* counted up by every compilation: a shape is measured once in each of the first few */
    const struct pdnn_onednn_dense_choice *forced; /* for tests: taken for every shape instead of measuring */
};

void pdnn_onednn_dense_choices_finish(struct pdnn_onednn_dense_choices *choices);

/* *choice lives as long as choices, and changes only from one compilation to another. PDNN_UNSUPPORTED with
 * the library's answer when a pass has no implementation. */
enum pdnn_status
pdnn_onednn_dense_choose(struct pdnn_onednn_dense_choices *choices, struct pdnn_onednn_library *library,
                         const struct pdnn_step_options *own, const struct pdnn_onednn_dense_shape *shape,
                         const struct pdnn_onednn_dense_choice **choice, struct pdnn_err *err);

#endif
