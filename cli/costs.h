/* What the instances of specs cost, as rows of results.csv: known without running anything. */
#ifndef CLI_COSTS_H
#define CLI_COSTS_H

#include "gen/expansion/expand.h"
#include "results/query/selection.h"

/* Adds the instance's row: its costs and, where it would not run, why (`paradnn list --help`). A count that
 * does not fit in 64 bits is an empty cell. */
void pdnn_costs_add(struct pdnn_result *row, const struct pdnn_expanded *item);

/* The columns of results.csv that such rows fill, by their numbers in the row's table. Returns how many. */
size_t pdnn_costs_columns(const struct pdnn_result *row, size_t *columns);

/* The instances of specs or ids, as far as they would run and `only` asks for them: a selection of costs, in
 * which `threads: all` stays as the word, so that it is the same on every machine. */
enum pdnn_status pdnn_costs_select(struct pdnn_selection *selection, const char *const *specs, size_t n_specs,
                                   const char *const *only, size_t n_only, struct pdnn_err *err);

#endif
