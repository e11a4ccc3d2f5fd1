/* A file to import as columns of texts, whatever its format. */
#ifndef RESULTS_IMPORT_SOURCE_H
#define RESULTS_IMPORT_SOURCE_H

#include "base/err.h"
#include "results/table/table.h"

struct pdnn_import_source {
    struct pdnn_table rows; /* texts, with as many rows as the longest list has values; "": none */
    bool is_lists;          /* of which each has a length of its own */
    size_t length[PDNN_TABLE_COLUMNS_MAX]; /* of the column */
};

/* Reads CSV; JSON, an object of parallel lists, of which each is a column, or a list of objects, one a row;
 * or lines of JSON, an object each. PDNN_INVALID with the file's place. The caller finishes the rows. */
enum pdnn_status pdnn_import_source_read(const char *path, struct pdnn_import_source *source,
                                         struct pdnn_err *err);

#endif
