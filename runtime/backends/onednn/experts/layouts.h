/* In which layout weights of experts are stored. The library copies plain 16-bit weights into blocks whenever
 * it multiplies with them; in inference they are stored so: as one matrix (X O, I) in the blocks of inner
 * products, of which each expert has its own, one after the other. Everything else is plain. X experts, O
 * outputs, I inputs. */
#ifndef RUNTIME_BACKENDS_ONEDNN_EXPERTS_LAYOUTS_H
#define RUNTIME_BACKENDS_ONEDNN_EXPERTS_LAYOUTS_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/lowering/matmul_heads.h"

/* Sets the layouts of all such weights, unless they have been adopted. */
enum pdnn_status pdnn_onednn_experts_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* The forward products of a run of experts whose weights are stored in blocks: inner products in turn. */
enum pdnn_status pdnn_onednn_experts_blocked(struct pdnn_onednn_compile *compile,
                                             const struct pdnn_node *node,
                                             const struct pdnn_heads_product *run,
                                             struct pdnn_matmul_work *work, struct pdnn_err *err);

#endif
