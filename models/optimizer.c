#include "models/optimizer.h"

#include "models/op.h"

/* Decay, momentum and epsilon of rmsprop are ParaDnn's; its learning rate, like the others', is the usual
 * 0.001. */
const struct pdnn_optimizer_def pdnn_optimizers[] = {
    {"sgd", &pdnn_op_sgd, 0, 0, {0.001}, "w -= lr*g"},
    {"momentum", &pdnn_op_momentum, 1, 0, {0.001, 0.9}, "v = 0.9*v + g; w -= lr*v"},
    {"rmsprop",
     &pdnn_op_rmsprop,
     2,
     0,
     {0.001, 0.9, 0.9, 1.0},
     "decay 0.9, momentum 0.9, epsilon 1.0, as ParaDnn"},
    {"adam",
     &pdnn_op_adam,
     2,
     2,
     {0.001, 0.9, 0.999, 1e-8},
     "beta1 0.9, beta2 0.999, epsilon 1e-8, bias correction"},
    {0},
};

const char *const pdnn_optimizer_names[] = {"sgd", "momentum", "rmsprop", "adam", NULL};
