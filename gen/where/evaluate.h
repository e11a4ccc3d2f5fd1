/* A tree of numbers, compiled once into code for a stack machine and evaluated often, in doubles. 0 is false.
 * Both sides of `and` and `or` are evaluated, but only one branch of c ? a : b. It does not know what names
 * mean: the caller says what stands for them. */
#ifndef GEN_WHERE_EVALUATE_H
#define GEN_WHERE_EVALUATE_H

#include "models/expression/expression.h"

struct pdnn_where_code; /* opaque */

/* What stands for a node and what is below it: a variable, compared with the number by `compare` (EQUAL or
 * UNEQUAL) if that is not 0; without a variable, the number. */
struct pdnn_where_leaf {
    bool is_taken;          /* false: the node is an operation */
    const double *variable; /* borrowed */
    double number;
    enum pdnn_expression_kind compare;
};

/* Says what a node is that is neither a number nor a function of numbers only, or fails. It is asked for
 * every node before the nodes below it, and in the order of the text. */
struct pdnn_where_binder {
    enum pdnn_status (*bind)(void *context, const struct pdnn_expression *node, struct pdnn_where_leaf *leaf,
                             struct pdnn_err *err);
    void *context;
};

/* Whether numbers have the operation. */
bool pdnn_where_has(enum pdnn_expression_kind kind);

/* Constant parts are folded here and raise whatever floating-point exceptions they cause. Fails only where
 * the binder does. */
enum pdnn_status pdnn_where_compile(const struct pdnn_expression *tree,
                                    const struct pdnn_where_binder *binder, struct pdnn_where_code **code,
                                    struct pdnn_err *err);
void pdnn_where_code_destroy(struct pdnn_where_code *code);

/* The value for the current values of the variables. */
double pdnn_where_code_eval(const struct pdnn_where_code *code);

#endif
