/* The calls of a program grouped into the rows of ops.csv: equal nodes with one implementation, or equal
 * reorders, are one row. */
#ifndef RUNTIME_WORKER_CALL_ROWS_H
#define RUNTIME_WORKER_CALL_ROWS_H

#include "runtime/backend/backend.h"

struct pdnn_call_rows {
    uint32_t *row_of;          /* by call: index into ops; owned */
    struct pdnn_visit_op *ops; /* without times; owned */
    size_t n_ops;
};

struct pdnn_call_rows pdnn_call_rows_of(const struct pdnn_program *program);
void pdnn_call_rows_finish(struct pdnn_call_rows *rows);

#endif
