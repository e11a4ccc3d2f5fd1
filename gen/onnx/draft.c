#include "gen/onnx/draft.h"

#include <assert.h>
#include <string.h>

struct pdnn_draft_entry *pdnn_draft_add(struct pdnn_draft *program, const char *op, const int32_t *from,
                                        int rank, const int64_t *dim) {
    struct pdnn_draft_entry *entry = pdnn_arena_alloc(program->arena, 1, sizeof *entry);
    program->entry = pdnn_arena_grow(program->arena, program->entry, &program->room,
                                     (size_t)program->n_entries, sizeof(void *));
    program->entry[program->n_entries++] = entry;
    entry->op = op;
    while (from && from[entry->n_from] >= 0)
        entry->n_from++;
    entry->from = pdnn_arena_room(program->arena, (size_t)entry->n_from + 1, sizeof *from);
    if (entry->n_from)
        memcpy(entry->from, from, (size_t)entry->n_from * sizeof *from);
    entry->rank = rank;
    memcpy(entry->dim, dim, (size_t)rank * sizeof *dim);
    return entry;
}

static struct pdnn_draft_attribute *add(struct pdnn_draft_entry *entry, const char *name) {
    struct pdnn_draft_attribute *attribute = &entry->attribute[entry->n_attributes++];
    assert(entry->n_attributes <= PDNN_DRAFT_ATTRIBUTES);
    attribute->name = name;
    return attribute;
}

void pdnn_draft_size(struct pdnn_draft_entry *entry, const char *name, int64_t size) {
    add(entry, name)->size = size;
}

void pdnn_draft_real(struct pdnn_draft_entry *entry, const char *name, double real) {
    struct pdnn_draft_attribute *attribute = add(entry, name);
    attribute->kind = PDNN_DRAFT_REAL;
    attribute->real = real;
}

void pdnn_draft_word(struct pdnn_draft_entry *entry, const char *name, const char *word) {
    struct pdnn_draft_attribute *attribute = add(entry, name);
    attribute->kind = PDNN_DRAFT_WORD;
    attribute->word = word;
}

void pdnn_draft_weight(struct pdnn_draft_entry *entry, const char *name, int root) {
    struct pdnn_draft_attribute *attribute = add(entry, name);
    attribute->kind = PDNN_DRAFT_WEIGHT;
    attribute->size = root;
}

const struct pdnn_draft_attribute *pdnn_draft_find(const struct pdnn_draft_entry *entry, const char *name) {
    for (int i = 0; i < entry->n_attributes; i++)
        if (strcmp(entry->attribute[i].name, name) == 0)
            return &entry->attribute[i];
    return NULL;
}

int64_t pdnn_draft_elements(const struct pdnn_draft_entry *entry) {
    int64_t elements = 1;
    for (int d = 0; d < entry->rank; d++)
        elements *= entry->dim[d];
    return elements;
}

void pdnn_draft_mark(struct pdnn_draft *program) {
    for (int i = 0; i < program->n_results; i++)
        program->entry[program->result[i]]->is_live = true;
    for (int32_t i = program->n_entries; i-- > 0;) {
        const struct pdnn_draft_entry *entry = program->entry[i];
        for (int k = 0; entry->is_live && k < entry->n_from; k++)
            program->entry[entry->from[k]]->is_live = true;
    }
}
