/* A visit's ops as one line of text, for one field of the journal: self-contained, so that a journal stays
 * readable when the ops of a later program have changed. */
#ifndef RESULTS_TABLES_PACKED_OPS_H
#define RESULTS_TABLES_PACKED_OPS_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/facts/visit.h"

/* Appends "key|implementation|count|bytes|ns" per op, joined by ';'. In the texts, '%', '|', ';' and control
 * characters become %XX. */
void pdnn_ops_pack(const struct pdnn_visit_op *ops, size_t n_ops, struct pdnn_str *out);

/* The way back: *ops is heap, the caller frees; NULL for the empty text. PDNN_INVALID says which op is
 * broken. */
enum pdnn_status pdnn_ops_unpack(const char *text, struct pdnn_visit_op **ops, size_t *n_ops,
                                 struct pdnn_err *err);

#endif
