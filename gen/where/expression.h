/* An arithmetic expression over variables, compiled once and evaluated often: or, and (&&, ||), comparisons,
 * + - * / ^ (right-associative), signs, c ? a : b, and the functions below. 0 is false. Both sides of && and
 * || are evaluated, but only one branch of c ? a : b. It does not know the spec's `where`: names are
 * variables that the caller binds. */
#ifndef GEN_WHERE_EXPRESSION_H
#define GEN_WHERE_EXPRESSION_H

#include "base/err.h"

#include <stddef.h>

/* "v3" is values[3] if kind is 'v'. */
struct pdnn_variables {
    char kind;
    const double *values; /* borrowed */
    size_t count;
};

struct pdnn_expression; /* opaque */

/* Constant parts are folded here and raise whatever floating-point exceptions they cause. `variables` ends
 * with a row whose kind is 0. PDNN_INVALID if the text is not an expression, with *place set to the offset
 * where parsing stopped; PDNN_NO_MEMORY. */
enum pdnn_status pdnn_expression_create(const char *text, const struct pdnn_variables *variables,
                                        struct pdnn_expression **expression, size_t *place,
                                        struct pdnn_err *err);
void pdnn_expression_destroy(struct pdnn_expression *expression);

/* The expression's value for the current values of its variables. */
double pdnn_expression_eval(const struct pdnn_expression *expression);

/* Functions that an expression may call. */
enum { PDNN_EXPRESSION_FUNCTIONS = 10 };
extern const char *const pdnn_expression_functions[PDNN_EXPRESSION_FUNCTIONS];

#endif
