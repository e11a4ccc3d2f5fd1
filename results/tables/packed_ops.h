/* A visit's ops as journals of schema 1 had them: packed into one field of the visit's row. They are only
 * read, never written. */
#ifndef RESULTS_TABLES_PACKED_OPS_H
#define RESULTS_TABLES_PACKED_OPS_H

#include "base/err.h"
#include "runtime/facts/visit.h"

/* "key|implementation|count|bytes|ns" per op, joined by ';'; in the texts, '%', '|', ';' and
 * control characters are %XX. *ops is heap, and the caller frees it; NULL for the empty text.
 * PDNN_INVALID says which op is broken. */
enum pdnn_status pdnn_ops_unpack(const char *text, struct pdnn_visit_op **ops, size_t *n_ops,
                                 struct pdnn_err *err);

#endif
