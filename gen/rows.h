/* `rows` of a model's entry: values of several keys that belong together, as the rows of a table, written in
 * the spec or in a CSV file that it names. Private to gen/. */
#ifndef GEN_ROWS_H
#define GEN_ROWS_H

#include "gen/axis.h"
#include "models/family.h"

/* Puts the tables that the document's models name in place of their names, so that a record of the spec has
 * them. A relative path is one from the spec's own directory. The cells count as values of the spec. */
enum pdnn_status pdnn_rows_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                struct pdnn_arena *arena, struct pdnn_err *err);

/* Appends an axis for each column to axes, which has room for one of every key. PDNN_INVALID also for a
 * column that is no key of the family and no run setting, or that an axis has already. */
enum pdnn_status pdnn_rows_read(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                struct pdnn_arena *arena, struct pdnn_axis *axes, size_t *n_axes,
                                struct pdnn_err *err);

/* Whether a model's entry, as written, has a table with this column. */
bool pdnn_rows_have_column(const struct pdnn_yaml *entry, const char *name);

#endif
