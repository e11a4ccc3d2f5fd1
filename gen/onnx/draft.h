/* What a network is at given sizes of its axes: entries of a family (models/definition) with numbers where
 * the family will have expressions. gen/onnx/trace makes one, gen/onnx/family a family of several. Everything
 * is in the program's arena. */
#ifndef GEN_ONNX_DRAFT_H
#define GEN_ONNX_DRAFT_H

#include "base/arena.h"
#include "models/graph.h"

enum { PDNN_DRAFT_ATTRIBUTES = 14 };

/* `name: ...`: a size, a real number, a word, or an initializer for a weight. */
struct pdnn_draft_attribute {
    enum { PDNN_DRAFT_SIZE, PDNN_DRAFT_REAL, PDNN_DRAFT_WORD, PDNN_DRAFT_WEIGHT } kind;
    const char *name;
    union {
        int64_t size; /* of a weight: the initializer's number */
        double real;
        const char *word;
    };
};

/* An input of the step, or an operator. Its dimensions are those that it has here; the elements of an ONNX
 * tensor are the same in the same order. */
struct pdnn_draft_entry {
    const char *op;    /* NULL: an input */
    const char *input; /* its name */
    const char *layer; /* or NULL */
    int32_t *from;
    int n_from;
    struct pdnn_draft_attribute attribute[PDNN_DRAFT_ATTRIBUTES]; /* of an input, the fill: one or none */
    int n_attributes;
    int rank;
    int64_t dim[PDNN_RANK_MAX];
    bool is_live; /* a result depends on it */
};

struct pdnn_draft {
    struct pdnn_arena *arena;
    struct pdnn_draft_entry **entry;
    size_t room;
    int32_t n_entries;
    int32_t *result; /* entries */
    int n_results;
};

/* Adds an operator with these dimensions; `from` ends with -1. */
struct pdnn_draft_entry *pdnn_draft_add(struct pdnn_draft *program, const char *op, const int32_t *from,
                                        int rank, const int64_t *dim);

void pdnn_draft_size(struct pdnn_draft_entry *entry, const char *name, int64_t size);
void pdnn_draft_real(struct pdnn_draft_entry *entry, const char *name, double real);
void pdnn_draft_word(struct pdnn_draft_entry *entry, const char *name, const char *word);
void pdnn_draft_weight(struct pdnn_draft_entry *entry, const char *name, int root);

/* The attribute of that name, or NULL. */
const struct pdnn_draft_attribute *pdnn_draft_find(const struct pdnn_draft_entry *entry, const char *name);

int64_t pdnn_draft_elements(const struct pdnn_draft_entry *entry);

/* Says of each entry whether a result depends on it. */
void pdnn_draft_mark(struct pdnn_draft *program);

#endif
