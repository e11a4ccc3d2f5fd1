/* results.csv read into memory, whichever version wrote it: ids, names and columns are today's. A column of a
 * hyper-parameter or run setting has the key's name there, as in ids and on the command line, also where the
 * file has another (struct pdnn_param_def). */
#ifndef RESULTS_TABLES_RESULTS_READER_H
#define RESULTS_TABLES_RESULTS_READER_H

#include "base/arena.h"
#include "base/str.h"
#include "results/table/csv.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads DIRECTORY/results.csv. Texts that are not in the file live in the arena. PDNN_INVALID also if a
 * column is missing that every results.csv has: id, family, status, time_ns_median. */
enum pdnn_status pdnn_results_read(const char *directory, struct pdnn_csv *results, struct pdnn_arena *arena,
                                   struct pdnn_err *err);

/* The same from text, a copy of which is taken; path: for messages. */
enum pdnn_status pdnn_results_parse(const char *path, const struct pdnn_str *text, struct pdnn_arena *arena,
                                    struct pdnn_csv *results, struct pdnn_err *err);

/* The column named as a user may name it: by its key, by its name in the file, or by the name that schema 2
 * had for it; -1 if there is none. */
int pdnn_results_find(const struct pdnn_csv *results, const char *name);

/* PDNN_INVALID names the nearest column. */
enum pdnn_status pdnn_results_column(const struct pdnn_csv *results, const char *name, int *column,
                                     struct pdnn_err *err);

/* Today's name of a column or key that schema 2 called `name`, or NULL. Where another column has that name
 * today, the old one is meant only with a value that no other can have; value: NULL if there is none. */
const char *pdnn_results_renamed(const char *name, const char *value);

/* The name that a key's column has in files. */
const char *pdnn_key_column(const char *key);

#endif
