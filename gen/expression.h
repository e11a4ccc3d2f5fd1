/* An arithmetic expression over variables, compiled once and evaluated often: or, and (&&, ||), comparisons,
 * + - * / ^ (from the right), signs, c ? a : b, and the functions below. What is 0 is false. Both sides of &&
 * and || are computed, of c ? a : b one. Knows nothing of where: names are variables that the caller binds.
 */
#ifndef GEN_EXPRESSION_H
#define GEN_EXPRESSION_H

#include "base/err.h"

#include <stddef.h>

/* "v3" is values[3] where kind is 'v'. */
struct pdnn_variables {
    char kind;
    const double *values; /* borrowed */
    size_t count;
};

struct pdnn_expression; /* opaque */

/* PDNN_INVALID where the text is no expression; then *place is the offset of what does not read on. Parts
 * that are constant are computed here, and raise the floating-point exceptions that they raise.
 * PDNN_NO_MEMORY. variables ends with a row whose kind is 0. */
enum pdnn_status pdnn_expression_create(const char *text, const struct pdnn_variables *variables,
                                        struct pdnn_expression **expression, size_t *place,
                                        struct pdnn_err *err);
void pdnn_expression_destroy(struct pdnn_expression *expression);

/* Its value for what the variables are now. */
double pdnn_expression_eval(const struct pdnn_expression *expression);

/* What an expression may call, by name. */
enum { PDNN_EXPRESSION_FUNCTIONS = 10 };
extern const char *const pdnn_expression_functions[PDNN_EXPRESSION_FUNCTIONS];

#endif
