/* ops.csv read back, one instance at a time. */
#ifndef RESULTS_QUERY_OPS_READER_H
#define RESULTS_QUERY_OPS_READER_H

#include "base/texts.h"
#include "results/store/results.h"

struct pdnn_ops_reader {
    struct pdnn_table table;    /* of pdnn_ops_def */
    struct pdnn_texts ids;      /* of the instances */
    size_t *first;              /* by number of the id, its first row */
    struct pdnn_op_record *ops; /* of the instance that was found last */
};

/* Columns may stand in any order. Ids are reprinted in today's form. */
enum pdnn_status pdnn_ops_reader_open(struct pdnn_ops_reader *reader, const char *directory,
                                      struct pdnn_err *err);
void pdnn_ops_reader_close(struct pdnn_ops_reader *reader);

/* The number of rows of the instance, which are contiguous in the file, and these, borrowed until the next
 * call; their texts live as long as the reader. */
size_t pdnn_ops_reader_find(struct pdnn_ops_reader *reader, const char *id,
                            const struct pdnn_op_record **ops);

#endif
