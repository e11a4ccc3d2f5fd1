#include "base/texts.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t none = SIZE_MAX;

/* Eight bytes at a time: reading a table looks up every text in it. */
static uint64_t hash_of(const char *text) {
    size_t length = strlen(text);
    uint64_t hash = length, part = 0;
    for (; length > sizeof part; text += sizeof part, length -= sizeof part) {
        memcpy(&part, text, sizeof part);
        hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    part = 0;
    memcpy(&part, text, length);
    hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static size_t *slot_of(const struct pdnn_texts *texts, const char *text) {
    size_t at = hash_of(text) & (texts->n_slots - 1);
    while (texts->slots[at] != none && strcmp(texts->text[texts->slots[at]], text) != 0)
        at = (at + 1) & (texts->n_slots - 1);
    return &texts->slots[at];
}

static void grow_slots(struct pdnn_texts *texts) {
    if (2 * (texts->count + 1) <= texts->n_slots)
        return;
    size_t n_slots = texts->n_slots ? 2 * texts->n_slots : 64;
    size_t *slots = pdnn_alloc(n_slots, sizeof *slots);
    for (size_t i = 0; i < n_slots; i++)
        slots[i] = none;
    free(texts->slots);
    texts->slots = slots;
    texts->n_slots = n_slots;
    for (size_t i = 0; i < texts->count; i++)
        *slot_of(texts, texts->text[i]) = i;
}

size_t pdnn_texts_add(struct pdnn_texts *texts, const char *text) {
    size_t known = pdnn_texts_find(texts, text);
    if (known != none)
        return known;
    const char *copy = pdnn_arena_strdup(&texts->arena, text);
    texts->text = pdnn_grow(texts->text, &texts->room, texts->count, sizeof *texts->text);
    grow_slots(texts);
    texts->text[texts->count] = copy;
    *slot_of(texts, copy) = texts->count;
    return texts->count++;
}

size_t pdnn_texts_find(const struct pdnn_texts *texts, const char *text) {
    return texts->n_slots ? *slot_of(texts, text) : none;
}

void pdnn_texts_finish(struct pdnn_texts *texts) {
    pdnn_arena_finish(&texts->arena);
    free(texts->text);
    free(texts->slots);
    *texts = (struct pdnn_texts){0};
}
