/* A CSV or JSON file of somebody else's as a table of texts. JSON is an object of parallel lists, of which
 * each is a column, or a list of objects, one a row. */
#ifndef RESULTS_IMPORT_SOURCE_H
#define RESULTS_IMPORT_SOURCE_H

#include "base/err.h"
#include "results/table/table.h"

struct pdnn_import_source {
    const char *path;
    struct pdnn_table rows;                /* as many as the longest list has values */
    bool is_lists;                         /* of which each has a length of its own */
    size_t length[PDNN_TABLE_COLUMNS_MAX]; /* of the column */
};

/* PDNN_INVALID with the line if it is neither. Its rows are finished by the caller, after a failure too. */
enum pdnn_status pdnn_import_source_open(struct pdnn_import_source *source, const char *path,
                                         struct pdnn_err *err);

/* The number of the column of this name; PDNN_INVALID names the nearest where there is none. */
enum pdnn_status pdnn_import_source_find(const struct pdnn_import_source *source, const char *name,
                                         size_t *column, struct pdnn_err *err);

#endif
