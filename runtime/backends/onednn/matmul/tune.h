/* Finds by measuring which way is fastest for a batched product. On 2 cores of Zen 3, oneDNN 2.6 reaches 40
 * to 50 % of the FMA peak on BERT-Large's context product and gradients, our kernel 70 to 85 %: the library
 * multiplies one head after the other, however few columns it has, and rejects some strides. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H

#include "runtime/backend/choose.h"
#include "runtime/backends/onednn/matmul/implementations.h"
#include "runtime/backends/onednn/compile.h"

/* The library's matmul, unless something takes 10 % less time. PDNN_UNSUPPORTED if there is no way. */
enum pdnn_status pdnn_onednn_matmul_choose(const struct pdnn_onednn_compile *compile,
                                           const struct pdnn_node *node, enum pdnn_onednn_matmul_way *way,
                                           struct pdnn_err *err);

/* A choice among the ways of a batched product, by one node of it. */
struct pdnn_onednn_way_question {
    const struct pdnn_onednn_compile *compile;
    const struct pdnn_node *node; /* the one measured */
    /* As of struct pdnn_one_node. */
    void (*edit)(const void *user, uint32_t outer, struct pdnn_tensor *copy);
    const void *user;
    uint64_t cold_bytes;
};

/* The library's way, unless something takes 10 % less time. `what` is for progress and messages. */
enum pdnn_status pdnn_onednn_way_choose(const struct pdnn_onednn_way_question *question, const char *what,
                                        const struct pdnn_tune_key *key, enum pdnn_onednn_matmul_way *way,
                                        struct pdnn_err *err);

#endif
