/* A CSV or JSON file of somebody else's as tables of texts. JSON is an object of parallel lists, or a list of
 * objects, one a row. */
#ifndef RESULTS_IMPORT_SOURCE_H
#define RESULTS_IMPORT_SOURCE_H

#include "base/err.h"
#include "results/table/table.h"

struct json_t;

struct pdnn_import_source {
    const char *path;
    struct json_t *json;    /* NULL: it is CSV */
    struct pdnn_table rows; /* of CSV */
};

/* PDNN_INVALID with the line if it is neither. */
enum pdnn_status pdnn_import_source_open(struct pdnn_import_source *source, const char *path,
                                         struct pdnn_err *err);
void pdnn_import_source_close(struct pdnn_import_source *source);

/* The columns of these names as texts, numbered alike. In an object of lists, they are as long as the first.
 * PDNN_INVALID names the nearest column of the file where there is none, or the list that has another length.
 */
enum pdnn_status pdnn_import_source_columns(const struct pdnn_import_source *source, const char *const *names,
                                            size_t n, struct pdnn_table *table, struct pdnn_err *err);

#endif
