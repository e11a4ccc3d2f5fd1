/* How long the examples of one step really are. An instance states the length to which all of them are
 * padded; masks and labels depend on this. */
#ifndef MODELS_EXAMPLE_LENGTHS_H
#define MODELS_EXAMPLE_LENGTHS_H

#include <stdint.h>

enum { PDNN_EXAMPLES_MASKED_MAX = 512 };

/* By example of the minibatch; what is longer than the tensor counts as its length. Example n beyond the
 * count has the lengths of example n modulo count. */
struct pdnn_example_lengths {
    uint32_t count; /* 0: not given, every length is drawn */
    int32_t source[PDNN_EXAMPLES_MASKED_MAX];
    int32_t target[PDNN_EXAMPLES_MASKED_MAX]; /* of labels; the source's where a model has one length */
};

#endif
