/* What an op reads in its forward pass and what it is given, as rows: for definitions of families, which name
 * ops and their attributes and have their weights made, for `paradnn ops OP`, and for tests. Sizes and
 * defaults are texts in the language of families' expressions. They may use the op's attributes; `mode`,
 * which is infer or train; the words of attributes, which stand for their numbers; and the dimensions of each
 * operand that is data, x for example: x[0], x[1], ... by number, and by name x.rows and x.columns; x.images,
 * x.channels, x.height and x.width; x.features, all dimensions but the first multiplied; and x.inputs, which
 * is n (see enum pdnn_range) of the weight with the range HE or INIT in the op that computed x, or x[1] if
 * there is none. */
#ifndef MODELS_OPS_OPERAND_H
#define MODELS_OPS_OPERAND_H

#include "models/graph.h"

enum pdnn_operand_kind {
    PDNN_OPERAND_NONE,   /* ends the list */
    PDNN_OPERAND_DATA,   /* results and inputs of the step */
    PDNN_OPERAND_IDS,    /* whole numbers, s32 */
    PDNN_OPERAND_LABEL,  /* what a loss compares with, s32 */
    PDNN_OPERAND_WEIGHT, /* made with the op, unless the family names one that it has */
    PDNN_OPERAND_STATE,  /* made with the op, kept between steps, not trained */
    PDNN_OPERAND_COUNT
};

/* What scale a fill has. n: inputs of one unit. */
enum pdnn_range {
    PDNN_RANGE_FIXED,
    PDNN_RANGE_HE,     /* sqrt(6 / n): keeps the variance through a ReLU */
    PDNN_RANGE_LINEAR, /* 1 / sqrt(n): the variance of a linear layer's result is a third of its input's */
    PDNN_RANGE_INIT,   /* HE or LINEAR, as the family's `init` says */
    PDNN_RANGE_COUNT
};

struct pdnn_operand {
    const char *name;
    enum pdnn_operand_kind kind;
    bool optional; /* may be left out; what follows moves up */
    bool many;     /* one or more of it */
    bool or_data;  /* WEIGHT: a result or an input that an entry reads may take its place */
    /* WEIGHT and STATE: the dimensions, separated by commas, and how they are filled. */
    const char *shape;
    enum pdnn_fill_kind fill;
    enum pdnn_range range;
    double scale;        /* if the range is FIXED */
    const char *inputs;  /* n; NULL: all dimensions of the weight but the first, multiplied */
    const char *when;    /* where this is false, the op goes without; NULL: nowhere */
    const char *trained; /* WEIGHT: where this is false, it is state; NULL: nowhere */
};

enum { PDNN_SIZE = -1 };

struct pdnn_attribute {
    const char *name;
    int index; /* in node.attr, or node.coef; PDNN_SIZE: it is in neither and only sizes weights and states */
    bool coefficient; /* a real number, in node.coef */
    bool required;    /* must be given, unless it only sizes operands that are given */
    bool derived;     /* is never given: always the default */
    bool is_pattern;  /* a text, which node.attr has as a number (models/rearrange.h) */
    bool is_size;   /* of a name of that pattern, by which it is given: 1 or more; the k-th of such rows is of
                     * the k-th name, and 0 stands for what is not given */
    bool hides_one; /* 1 or more; node.attr has 0 for 1, so that shapes of nodes do not show it */
    /* The default. It uses operands, attributes of rows above it, and those that have none or 0 as default.
     * NULL: 0, or what the op's coef has. */
    const char *fallback;
    const char *const *words; /* word k is given for k; NULL-terminated, or NULL: a number is given */
    const char *shown;        /* in the shapes of nodes (models/cost/group.h); NULL: the name */
};

#endif
