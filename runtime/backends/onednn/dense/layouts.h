/* In which layouts the weights of dense ops are stored, and how each of their passes runs. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_LAYOUTS_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_LAYOUTS_H

#include "runtime/backends/onednn/compile.h"

/* Chooses for all weights of dense ops. Fills layout and choice and sets the slots' sizes. */
enum pdnn_status pdnn_onednn_dense_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
