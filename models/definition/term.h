/* Expressions with their names resolved, and what they give. Internal to models/definition: compile makes
 * terms from expressions, build evaluates them, again and again. */
#ifndef MODELS_DEFINITION_TERM_H
#define MODELS_DEFINITION_TERM_H

#include "models/definition/definition.h"

struct pdnn_build;
struct pdnn_op_code;

/* A word of a definition, once: equal words have one address. */
struct pdnn_term_word {
    const char *text;
    const struct pdnn_op_def *op;    /* that has the name, or NULL */
    const struct pdnn_op_code *code; /* of the op, if `op: expression` may choose it */
    bool is_used;                    /* an expression or an axis has it */
};

enum pdnn_datum_kind {
    PDNN_DATUM_NONE,
    PDNN_DATUM_NUMBER,
    PDNN_DATUM_REAL, /* what is no rational number: for coefficients alone */
    PDNN_DATUM_WORD,
    PDNN_DATUM_LIST,
    PDNN_DATUM_TENSOR,
    PDNN_DATUM_RESULTS, /* a name whose results have indices */
    PDNN_DATUM_LAYER
};

struct pdnn_datum {
    enum pdnn_datum_kind kind;
    uint32_t tensor;
    union {
        struct pdnn_rational number;
        double real;
        const struct pdnn_term_word *word;
        const struct pdnn_data_list *list;
        struct pdnn_indexed *results;
        struct {
            int32_t stem; /* index of the definition's stems */
            int64_t index;
        } layer;
    };
};

/* A list. The last number of a list axis stands for all that follow. */
struct pdnn_data_list {
    size_t count;
    bool repeats_last;
    struct pdnn_datum at[];
};

/* skip[0], skip[1], ...: PDNN_NONE where there is none. */
struct pdnn_indexed {
    size_t count, room;
    uint32_t *at;
};

enum pdnn_term_kind {
    PDNN_TERM_CONSTANT,
    PDNN_TERM_GLOBAL, /* an axis, a value of `let`, the mode: `slot` */
    PDNN_TERM_LOCAL,  /* of the frame: a parameter, a variable, a result */
    PDNN_TERM_IN,     /* the result before */
    PDNN_TERM_INPUT,  /* of the family: made when it is first read */
    PDNN_TERM_STEM,   /* stem[index]: `slot` */
    PDNN_TERM_OTHER,  /* what the expression's kind says */
};

struct pdnn_term {
    enum pdnn_term_kind kind;
    int slot;
    int cache; /* 1 + index of what is evaluated once an instance; 0: evaluated anew */
    /* OTHER: x[dim], or a field of x if that is -1, where x is local: `slot`. */
    bool is_size;
    int dim;
    struct pdnn_datum constant;
    const struct pdnn_expression *from; /* kind, place, texts */
    const struct pdnn_term *const *operands;
};

/* *datum: what the term gives now. False after an error, which is in the graph. */
bool pdnn_term_evaluate(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_datum *datum);

/* Counts values that are kept for the graph; false if there are too many of them. */
bool pdnn_term_room(struct pdnn_build *build, int32_t place, size_t count);

/* The same where a number is expected, a whole number of at least `least`, a real number, or yes or no.
 * `what` is for messages: "conv2d: out". */
bool pdnn_term_number(struct pdnn_build *build, const struct pdnn_term *term, struct pdnn_rational *number);
bool pdnn_term_find_whole(struct pdnn_build *build, const struct pdnn_term *term, const char *what,
                          int64_t least, int64_t *number);
bool pdnn_term_real(struct pdnn_build *build, const struct pdnn_term *term, double *number);
bool pdnn_term_holds(struct pdnn_build *build, const struct pdnn_term *term, bool *holds);

/* x.inputs of models/ops/operand.h: the inputs of one unit of what computed the tensor; 0 if it has no such
 * weight. */
int64_t pdnn_inputs_of(const struct pdnn_build *build, uint32_t tensor);

#endif
