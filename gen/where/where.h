/* `where`: an expression over hyper-parameters, run settings and costs that decides which instances a model
 * entry keeps. Numbers are doubles: counts above 2^53 are rounded, which no filter notices. Both sides of
 * and/or are evaluated; `c ? a : b` evaluates one. Words compare only by == and !=, and an optimizer that
 * does not apply equals no word. */
#ifndef GEN_WHERE_WHERE_H
#define GEN_WHERE_WHERE_H

#include "gen/yaml/document.h"
#include "models/cost/cost.h"
#include "models/instance.h"

struct pdnn_where; /* opaque */

/* Compiles the text of a scalar, which is borrowed. PDNN_INVALID with the file:line:col of the error
 * within the expression. */
enum pdnn_status pdnn_where_create(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                   struct pdnn_where **where, struct pdnn_err *err);
void pdnn_where_destroy(struct pdnn_where *where);

/* False if pdnn_where_eval needs no totals, or not their memory_bytes, or is the same whatever the threads.
 */
bool pdnn_where_uses_costs(const struct pdnn_where *where);
bool pdnn_where_uses_threads(const struct pdnn_where *where);
bool pdnn_where_uses_memory(const struct pdnn_where *where);

/* *holds: the expression is not 0 for the instance, which is resolved. PDNN_INVALID, naming the instance, if
 * it divides by zero or is not a number there. */
enum pdnn_status pdnn_where_eval(struct pdnn_where *where, const struct pdnn_instance *instance,
                                 const struct pdnn_totals *totals, bool *holds, struct pdnn_err *err);

#endif
