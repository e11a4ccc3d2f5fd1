/* An op's row with its expressions compiled, and the pattern that an entry gives it. Internal to
 * models/definition. */
#ifndef MODELS_DEFINITION_OP_CODE_H
#define MODELS_DEFINITION_OP_CODE_H

#include "models/definition/compiled.h"
#include "models/definition/scope.h"
#include "models/rearrange.h"

/* mode: the slot of the mode among the globals. */
const struct pdnn_op_code *pdnn_op_code_make(struct pdnn_compiler *compiler, int mode,
                                             const struct pdnn_op_def *op);

/* Gives the entry a row with what it says in it, and what it leaves at its default: what is then constant is
 * not evaluated for every node, and what is the same throughout an instance once. values: the entry's, of
 * which it keeps those that a node evaluates. */
void pdnn_op_code_fold(struct pdnn_compiler *compiler, struct pdnn_entry_code *call,
                       struct pdnn_value_code *values);

/* Sets an attribute, in the frame and for the node. */
void pdnn_op_values_set(struct pdnn_op_values *values, const struct pdnn_op_code *code, int attribute,
                        struct pdnn_datum datum);

/* The pattern of an op such as rearrange, and the names in it, by which the entry gives sizes. */
struct pdnn_pattern_code {
    const struct pdnn_op_def *op;
    int slot;                     /* of the attribute; -1: the op takes none */
    const struct pdnn_term *term; /* its number; NULL: the entry gives none */
    int n_names;
    const char *names[PDNN_AXES];
};

/* The pattern of an entry; errors are the compiler's. */
struct pdnn_pattern_code pdnn_pattern_code_make(struct pdnn_compiler *compiler,
                                                const struct pdnn_definition_entry *entry,
                                                const struct pdnn_op_def *op);

/* The slot of the size of a name, or -1. */
int pdnn_pattern_code_find(const struct pdnn_pattern_code *pattern, const char *name);

#endif
