/* In which layouts images and the weights of convolutions are stored. Ops between convolutions take any
 * layout as long as all their images have it, so all images get the one preferred by the convolutions with
 * the most work. The step's input data stay row-major, as they are loaded, unless an op other than a
 * convolution reads them. doc/measurements/backends.md has measurements. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_LAYOUTS_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_LAYOUTS_H

#include "runtime/backends/onednn/compile.h"

/* Chooses layouts for all images and for the weights of convolutions. Fills layout and sets the slots'
 * sizes and channel blocks. */
enum pdnn_status pdnn_onednn_conv2d_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
