/* How a visit says what it saw of the infeed: two rows beside those of its ops, which journals of every
 * version can hold. One is part of the step, the time that it waited; the other is not, the loaders alone. */
#ifndef RUNTIME_PROTOCOL_INFEED_H
#define RUNTIME_PROTOCOL_INFEED_H

#include <stdbool.h>
#include <stddef.h>

/* The op names in the keys of these rows. Of the first, the time is that waited in a step of median length;
 * of the second: the time per minibatch, `bytes` read from files per minibatch, and the page cache as the
 * key's shape. */
#define PDNN_INFEED_OP  "infeed"
#define PDNN_LOADERS_OP "loaders"

/* "infeed/forward/32x3x224x224" and "loaders/forward/warm". */
bool pdnn_infeed_is_wait(const char *key);
bool pdnn_infeed_is_alone(const char *key);

/* The shape of such a key. */
const char *pdnn_infeed_shape(const char *key);

/* The page cache of visits that saw different ones. */
extern const char pdnn_pages_mixed[];

#endif
