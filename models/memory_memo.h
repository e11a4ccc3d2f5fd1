/* Peak memory (models/cost.h: pdnn_memory_instance) for walks in which one instance after the other differs
 * only in its minibatch: after two of them, the lifetimes of the rest are known without a graph. The numbers
 * are the same, to the last bit. */
#ifndef MODELS_MEMORY_MEMO_H
#define MODELS_MEMORY_MEMO_H

#include "base/arena.h"
#include "base/err.h"
#include "models/instance.h"

struct pdnn_memory_memo; /* opaque */
enum pdnn_status pdnn_memory_memo_create(struct pdnn_memory_memo **memo, struct pdnn_err *err);
void pdnn_memory_memo_destroy(struct pdnn_memory_memo *memo);
enum pdnn_status pdnn_memory_memo_find(struct pdnn_memory_memo *memo, const struct pdnn_instance *instance,
                                       struct pdnn_arena *arena, uint64_t *bytes, struct pdnn_err *err);

#endif
