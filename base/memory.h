/* Memory from the heap. Where there is none, the program ends with one line and status 1, so that no caller
 * checks: everything measured is on disk by then, and a worker's driver makes that line the outcome of the
 * instance. What may well be too large, as what has the size of a tensor, is asked for. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/err.h"

#include <stddef.h>

/* How the line begins. */
#define PDNN_MEMORY_WORDS "paradnn: out of memory for "

/* count * size zeroed bytes, to be freed by the caller; never NULL, also for none. */
void *pdnn_alloc(size_t count, size_t size);

/* The same memory for count * size bytes, perhaps elsewhere; what is new is not zeroed. */
void *pdnn_resize(void *memory, size_t count, size_t size);

/* An array of elements of that size with room for one more than count: items itself, or twice its room. */
void *pdnn_grow(void *items, size_t *room, size_t count, size_t size);

/* A copy of the text, to be freed by the caller. */
char *pdnn_strdup(const char *text);

/* That many zeroed bytes, at least one, to be freed by the caller, who goes on without them: NULL, with
 * PDNN_NO_MEMORY in err, if there are none. purpose: "for the check". */
void *pdnn_ask(size_t bytes, const char *purpose, struct pdnn_err *err);

/* Ends the program for want of that many bytes. */
_Noreturn void pdnn_memory_none(size_t bytes);

#endif
