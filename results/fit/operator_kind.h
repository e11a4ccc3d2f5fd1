/* What two measured operators must share before one says anything about the other, and the numbers in which
 * they then differ. */
#ifndef RESULTS_FIT_OPERATOR_KIND_H
#define RESULTS_FIT_OPERATOR_KIND_H

#include "runtime/protocol/operator.h"

#include <stdbool.h>
#include <stddef.h>

enum { PDNN_KIND_NUMBERS = 64, PDNN_KIND_CACHES = 4 };

/* Capacities of the caches that so many threads have together, the nearest first. */
struct pdnn_kind_caches {
    uint64_t bytes[PDNN_KIND_CACHES];
    size_t count;
    int64_t threads;                     /* the last of a list is for all others as well */
    const struct pdnn_kind_caches *next; /* borrowed; for other numbers of threads, or NULL */
};

struct pdnn_operator_kind {
    /* The operator's key without its sizes: backend, threads, isa, op, pass, dtype and other attributes,
     * posts, implementation, and for each operand its block of channels, the cache that may still hold it,
     * and whether its last use wrote it. The window of a convolution stays, and its stride. */
    char text[PDNN_OPERATOR_KEY_TEXT];
    char op[64];                    /* "dense/backward-data" */
    double size[PDNN_KIND_NUMBERS]; /* log2 of the sizes, in the order of the key */
    size_t n_sizes;
};

/* False for a key that is not one, or that has too many sizes. */
bool pdnn_operator_kind_parse(const char *key, const struct pdnn_kind_caches *caches,
                              struct pdnn_operator_kind *kind);

#endif
