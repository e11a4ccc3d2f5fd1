#include "models/optimizer.h"

#include "models/op.h"

#define ROW(upper, name, states, scalars, ...) {#name, &pdnn_op_##name, states, scalars, {__VA_ARGS__}},
const struct pdnn_optimizer_def pdnn_optimizers[PDNN_OPTIMIZER_COUNT] = {PDNN_OPTIMIZERS(ROW)};

#define NAME(upper, name, ...) #name,
const char *const pdnn_optimizer_names[] = {PDNN_OPTIMIZERS(NAME) NULL};
