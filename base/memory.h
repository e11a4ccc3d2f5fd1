/* Memory from the heap. Where there is none, the program ends with one line and status 1: everything measured
 * is on disk by then, so no caller checks. A worker chooses at its start that allocations fail instead, and
 * makes that the status of the instance. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* From here on the functions below, texts, strings and arenas return failures in this process. */
void pdnn_memory_may_fail(void);

/* count * size zeroed bytes, to be freed by the caller; never NULL, also for none. */
void *pdnn_alloc(size_t count, size_t size);

/* The same memory for count * size bytes, perhaps elsewhere; what is new is not zeroed. */
void *pdnn_resize(void *memory, size_t count, size_t size);

/* An array of elements of that size with room for one more than count: items itself, or twice its room. */
void *pdnn_grow(void *items, size_t *room, size_t count, size_t size);

/* A copy of the text, to be freed by the caller. */
char *pdnn_strdup(const char *text);

/* What an allocator without memory for that many bytes returns: NULL, if it returns. */
void *pdnn_memory_none(size_t bytes);

#endif
