/* results.csv read into memory; ids are reprinted in today's form. A column of a
 * hyper-parameter or run setting has the key's name there, as in ids and on the command line, also where the
 * file has another (struct pdnn_param_def). */
#ifndef RESULTS_QUERY_RESULTS_READER_H
#define RESULTS_QUERY_RESULTS_READER_H

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

/* The column named as a user may name it: by its key, or by its name in the file; -1 if there is none. */
int pdnn_results_find(const struct pdnn_csv *results, const char *name);

/* PDNN_INVALID names the nearest column. */
enum pdnn_status pdnn_results_column(const struct pdnn_csv *results, const char *name, int *column,
                                     struct pdnn_err *err);

/* The name that a key's column has in files. */
const char *pdnn_key_column(const char *key);

#endif
