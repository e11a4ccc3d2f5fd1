/* Which way multiplies the matrices of a shape fastest, by measuring. On 2 cores of Zen 3 with oneDNN 2.6 the
 * library reaches 40 to 50 % of the FMA peak on BERT-Large's context and gradients, our kernel 70 to 85 %:
 * the library multiplies one head after the other, however few columns it has, and some strides not at all.
 */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H

#include "runtime/backends/onednn/matmul/ways.h"
#include "runtime/backends/onednn/state.h"

/* The library's matmul, unless something takes 10 % less; PDNN_UNSUPPORTED when there is no way. */
enum pdnn_status pdnn_onednn_matmul_choose(struct pdnn_onednn *onednn,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way *way, struct pdnn_err *err);

#endif
