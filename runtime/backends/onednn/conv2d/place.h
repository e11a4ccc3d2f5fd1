/* In which layout images and the weights of convolutions are stored. Ops between convolutions take any layout
 * that their images share, so the images get the one that the convolutions with the most work ask for. The
 * step's input data stay row-major, as they are loaded, unless such an op reads them. What that
 * is worth: doc/backends.md. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_PLACE_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_PLACE_H

#include "runtime/backends/onednn/compile.h"

/* Chooses for all images, and for the weights of convolutions; fills layout and sets the slots' sizes and
 * channel blocks. */
enum pdnn_status pdnn_onednn_conv2d_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
