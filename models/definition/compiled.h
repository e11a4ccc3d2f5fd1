/* What compile makes of a definition and build walks: entries with their names resolved to slots. Internal to
 * models/definition. Frames: a call of a block, and the definition's own list of ops, has slots of its own; a
 * block's inputs come first, then its parameters, then variables and results. The frame of an op has its
 * attributes and then its operands. */
#ifndef MODELS_DEFINITION_COMPILED_H
#define MODELS_DEFINITION_COMPILED_H

#include "models/definition/term.h"
#include "models/op.h"

enum {
    PDNN_CALLS_DEEP = 16,
    PDNN_ROUNDS_MAX = 1 << 16
}; /* blocks that call each other; rounds of a repeat */

/* What a node of an op gets, and the op's frame. */
struct pdnn_op_values {
    int64_t attrs[PDNN_NODE_ATTRS];
    double coefs[PDNN_NODE_COEFS];
    struct pdnn_datum slots[PDNN_ATTRIBUTES + PDNN_OPERANDS];
};

/* An op's row (models/operand.h), compiled once. */
struct pdnn_op_code {
    const struct pdnn_op_def *op;
    int n_attributes, n_operands;
    size_t n_needed;                   /* operands that an entry must read */
    bool is_plain;                     /* these are its first ones, are data, and are all that it reads */
    bool sees_inputs;                  /* its weights\' fills depend on x.inputs */
    struct pdnn_op_values preset;      /* defaults that are constant */
    signed char open[PDNN_ATTRIBUTES]; /* attributes with other defaults */
    int n_open;
    const struct pdnn_term *fallback[PDNN_ATTRIBUTES]; /* NULL: 0 */
    struct {
        bool is_read;
        int rank;
        const struct pdnn_term *dim[PDNN_RANK_MAX], *inputs, *when, *trained;
    } operand[PDNN_OPERANDS];
    const struct pdnn_term *when; /* or NULL */
    /* The first part of `when`, where it is the same throughout an instance: an op of one result for which it
     * does not hold passes that on, whatever else there is. Or NULL. */
    const struct pdnn_term *first;
};

/* A value that an entry gives: to one slot of an op or block, or to two, as `kernel` is kernel_h and
 * kernel_w. */
struct pdnn_value_code {
    const struct pdnn_term *term;
    const char *name, *what;                /* "out", "conv2d: out" */
    int slot, second;                       /* second: -1 */
    const struct pdnn_attribute *attribute; /* of an op, else NULL */
    int weight; /* of the definition's weights, in place of operand `slot`; -1: none */
};

/* A name for a result. */
struct pdnn_name_code {
    int slot;
    const struct pdnn_term *index; /* or NULL */
    const struct pdnn_expression *from;
};

/* Text, then the value of a term; the last piece has no term. */
struct pdnn_say_piece {
    const char *text;
    const struct pdnn_term *term;
    int axis;      /* whose words and lists the value is written as; -1: none */
    bool is_layer; /* in the term's place: the name of the layer */
};

struct pdnn_say {
    const struct pdnn_say_piece *pieces;
    size_t count;
};

struct pdnn_entry_codes {
    const struct pdnn_entry_code *at;
    size_t count;
};

struct pdnn_entry_code {
    const struct pdnn_definition_entry *entry;
    const struct pdnn_op_code *op;       /* OP */
    bool names_weights;                  /* among its values */
    const struct pdnn_block_code *block; /* BLOCK */
    const struct pdnn_value_code *values;
    size_t n_values;
    const struct pdnn_term *const *from;
    const struct pdnn_name_code *as;
    size_t n_from, n_as;
    const struct pdnn_term *value, *when, *repeat, *layer;
    int variable;               /* slot, or -1 */
    int share;                  /* or -1 */
    uint32_t id;                /* of the entries in the order of their making */
    bool begins_layer, segment; /* of its own, or of its block */
    bool repeats_depth;         /* how often it is repeated follows from the depth */
    bool is_bare;               /* an op that is run once, and nothing stands beside it but from and as */
    struct pdnn_say say;
    struct pdnn_entry_codes ops, other;
};

struct pdnn_block_code {
    const struct pdnn_definition_block *block;
    const struct pdnn_term **defaults; /* by parameter; NULL: it must be given */
    int n_slots;
    int stem; /* or -1 */
    struct pdnn_entry_codes ops;
    const struct pdnn_term *const *result;
};

struct pdnn_tensor_code {
    const char *what; /* "shape of pixels" */
    const struct pdnn_term *shape[PDNN_RANK_MAX], *fill_by, *count, *when;
};

struct pdnn_require_code {
    const struct pdnn_term *that;
    struct pdnn_say say;
};

struct pdnn_compiled {
    const struct pdnn_definition *definition;
    struct pdnn_family_def family;               /* its public face */
    const struct pdnn_term_word *const *choices; /* of all choice and switch axes, one after another */
    const int *first_choice;                     /* by axis; -1: it has numbers */
    const char *const *stems;
    const char *const *shares; /* their names */
    size_t n_stems, n_caches, n_shares;
    const struct pdnn_op_code *const *ops;      /* by the op's place in pdnn_ops; NULL: not used */
    const struct pdnn_term **lets, **fallbacks; /* fallbacks: of axes; NULL where it is a number or a word */
    const struct pdnn_term *target_of, *together_when; /* or NULL */
    int *together;                                     /* axes */
    const struct pdnn_term *const *when;               /* of axes; NULL: always */
    const struct pdnn_term_word *infer, *train;
    const struct pdnn_require_code *requires;
    const struct pdnn_tensor_code *inputs, *weights;
    const struct pdnn_block_code *blocks;
    int n_slots, most_slots; /* of the definition's own frame; of the largest frame of all */
    struct pdnn_entry_codes own, loss;
    const struct pdnn_term *const *result;
};

/* Whether a family can name the op. */
static inline bool pdnn_op_is_named(const struct pdnn_op_def *op) {
    return op && op->operands[0].name;
}

/* Globals: axes, lets, the mode. */
static inline int pdnn_compiled_let(const struct pdnn_compiled *compiled, size_t let) {
    return (int)(compiled->definition->n_axes + let);
}

static inline int pdnn_compiled_mode(const struct pdnn_compiled *compiled) {
    return (int)(compiled->definition->n_axes + compiled->definition->n_lets);
}

/* What an entry reads, or gives. */
struct pdnn_readings {
    uint32_t at[PDNN_NODE_INPUTS];
    size_t count;
};

/* An op as an entry applied it last: its node, and the numbers that the entry gave. */
struct pdnn_applied {
    const struct pdnn_entry_code *call;
    uint32_t node;
    union pdnn_given {
        int64_t whole;
        double real;
    } given[];
};
enum { PDNN_APPLIED = 256 };

/* What a family's graph is built with. */
struct pdnn_build {
    const struct pdnn_compiled *compiled;
    const struct pdnn_instance *instance; /* NULL: only values of axes are asked for */
    struct pdnn_graph *graph;
    struct pdnn_arena *arena;
    struct pdnn_err *err;
    bool trains;
    /* Gives an input, which comes into being when it is read (models/definition/tensors.h). */
    bool (*input)(struct pdnn_build *build, int input, struct pdnn_datum *datum);
    struct pdnn_datum *globals, *frame, *caches;
    struct pdnn_datum *frames[PDNN_CALLS_DEEP + 1]; /* by depth; NULL: not needed so far */
    uint32_t in;                                    /* PDNN_NONE before the first result */
    uint32_t *inputs;                               /* by input; PDNN_NONE: not made yet */
    struct pdnn_indexed *repeated;                  /* by input: of those with indices */
    uint32_t *weights;                              /* by weight */
    bool has_weights;                               /* which are made together */
    struct pdnn_stem_state {
        int64_t count;    /* how often it was begun with a number of its own */
        bool is_numbered; /* prints its number although it may be the only one */
    } * stems;
    struct pdnn_layer_state {
        int stem; /* -1: outside of any layer */
        int64_t index;
        bool is_numbered; /* layers inside have its number */
    } layer;
    struct pdnn_share_state {
        uint32_t *weights;
        size_t count, room;
    } * shares;
    int share;     /* that is being built, or -1 */
    size_t shared; /* weights of it that were taken */
    bool repeats;  /* inside of a repeat */
    bool segment;
    size_t entries, applied, first_node;
    int32_t stacks;           /* repeats over the depth so far */
    int32_t place;            /* of the op that is being applied, for expressions of its row */
    size_t evaluated, listed; /* expressions; values of lists and of indexed names */
    int depth;
    struct pdnn_applied **last; /* PDNN_APPLIED, by the entry and the block's call around it */
    bool can_repeat;            /* ops that are as they were last are not applied anew */
    struct pdnn_origin {
        int32_t place;
        uint32_t ordinal; /* of the op among those applied */
    } * origins;          /* by node, from first_node on */
    size_t origins_room;
    const struct pdnn_entry_code
        *trace[PDNN_CALLS_DEEP]; /* calls of blocks that are being built; frame k + 1 is of call k */
};

/* What needs no evaluation: constants, what a slot holds, what was evaluated before. Else NULL. */
static inline const struct pdnn_datum *pdnn_term_known(const struct pdnn_build *build,
                                                       const struct pdnn_term *term) {
    if (term->kind == PDNN_TERM_LOCAL)
        return &build->frame[term->slot];
    if (term->kind == PDNN_TERM_CONSTANT)
        return &term->constant;
    if (term->kind == PDNN_TERM_GLOBAL)
        return &build->globals[term->slot];
    if (term->cache && build->caches[term->cache - 1].kind != PDNN_DATUM_NONE)
        return &build->caches[term->cache - 1];
    return NULL;
}

/* A whole number of at least `least`, which most terms are known to be; else what pdnn_term_find_whole says.
 */
static inline bool pdnn_term_whole(struct pdnn_build *build, const struct pdnn_term *term, const char *what,
                                   int64_t least, int64_t *number) {
    const struct pdnn_datum *known = pdnn_term_known(build, term);
    bool is_whole = known && known->kind == PDNN_DATUM_NUMBER && pdnn_rational_is_whole(known->number) &&
                    known->number.numerator >= least;
    if (!is_whole)
        return pdnn_term_find_whole(build, term, what, least, number);
    *number = known->number.numerator;
    return true;
}

#endif
