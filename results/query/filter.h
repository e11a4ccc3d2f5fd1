/* The rows of results.csv that `--only` asks for, in every command that reads results. A condition is written
 * as in an id or in a spec's `where`: "batch=64", "mode=train", "params>=1e6". Several in one text are joined
 * by commas and all of them hold; a word without an operator is another value of the key before it:
 * "mode=train,batch=32,64". The text may begin like an id: "fc/nodes=8,batch=64" is
 * "family=fc,nodes=8,batch=64". `id`, `model` and `settings` take the rest of the text, since their values
 * have commas. */
#ifndef RESULTS_QUERY_FILTER_H
#define RESULTS_QUERY_FILTER_H

#include "base/arena.h"
#include "results/table/csv.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_condition; /* private */

struct pdnn_filter {
    struct pdnn_condition *condition; /* all of them must hold */
    size_t count;
};

/* A key is a column of the table. The filter lives in the arena. PDNN_INVALID names the nearest column, or
 * says what is wrong. */
enum pdnn_status pdnn_filter_parse(const struct pdnn_csv *results, const char *const *only, size_t n_only,
                                   struct pdnn_arena *arena, struct pdnn_filter *filter,
                                   struct pdnn_err *err);

/* Drops the other rows of the table, in memory. */
enum pdnn_status pdnn_filter_keep(struct pdnn_csv *results, const char *const *only, size_t n_only,
                                  struct pdnn_err *err);

bool pdnn_filter_matches(const struct pdnn_filter *filter, const struct pdnn_csv *results, size_t row);

#endif
