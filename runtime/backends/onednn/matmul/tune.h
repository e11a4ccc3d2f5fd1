/* Which way multiplies matrices fastest, by measuring each shape when it is compiled. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_TUNE_H

#include "runtime/backends/onednn/matmul/ways.h"

struct pdnn_onednn_matmul_entry;

/* What was found so far, for one thread count; {0} is empty. */
struct pdnn_onednn_matmul_choices {
    struct pdnn_onednn_matmul_entry *first;
    uint64_t compile;                          /* counted up by every compilation */
    const enum pdnn_onednn_matmul_way *forced; /* for tests: taken for every shape instead of measuring */
};

void pdnn_onednn_matmul_choices_finish(struct pdnn_onednn_matmul_choices *choices);

/* The library's matmul, unless something takes 10 % less; PDNN_UNSUPPORTED when there is no way. */
enum pdnn_status pdnn_onednn_matmul_choose(struct pdnn_onednn_matmul_choices *choices,
                                           struct pdnn_onednn_library *library,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           int64_t threads, enum pdnn_onednn_matmul_way *way,
                                           struct pdnn_err *err);

#endif
