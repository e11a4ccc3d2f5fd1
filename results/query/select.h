/* The rows of results.csv that `--only` asks for, in every command that reads results. A condition is written
 * as in an id or in a spec's `where`: "batch=64", "mode=train", "params>=1e6". Several in one text are joined
 * by commas and all of them hold; a word without an operator is another value of the key before it:
 * "mode=train,batch=32,64". The text may begin like an id: "fc/nodes=8,batch=64" is
 * "family=fc,nodes=8,batch=64", and "resnet50,batch=1" is "preset=resnet50,batch=1". `id`, `model` and
 * `settings` take the rest of the text, since their values have commas. */
#ifndef RESULTS_QUERY_SELECT_H
#define RESULTS_QUERY_SELECT_H

#include "results/query/results.h"

/* The rows for which all conditions hold, in their order; to be finished by the caller. A key is a column of
 * the table. PDNN_INVALID names the nearest column, or says what is wrong. */
enum pdnn_status pdnn_results_select(const struct pdnn_results *results, const char *const *only,
                                     size_t n_only, struct pdnn_row_list *rows, struct pdnn_err *err);

#endif
