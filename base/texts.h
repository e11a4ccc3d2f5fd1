/* Distinct texts with numbers in the order they came: each is kept once, and equal texts are one pointer. */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* {0} is empty. */
struct pdnn_texts {
    const char **text; /* by number; they live as long as the set */
    size_t count, room;
    struct pdnn_arena arena;
    size_t *slots; /* numbers by hash, open addressing, at most half full */
    size_t n_slots;
};

/* The text's number, given to it now unless it has one. */
size_t pdnn_texts_add(struct pdnn_texts *texts, const char *text);

/* Its number, or SIZE_MAX. */
size_t pdnn_texts_find(const struct pdnn_texts *texts, const char *text);

void pdnn_texts_finish(struct pdnn_texts *texts);

#endif
