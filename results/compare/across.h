/* Which keys are to differ between the two sides of a comparison: parsed as the user names them, or found
 * where only one can be meant. */
#ifndef RESULTS_COMPARE_ACROSS_H
#define RESULTS_COMPARE_ACROSS_H

#include "results/compare/comparison.h"

/* Fills across, n_across and label of a comparison whose tables are read; text is the request's, or NULL. */
enum pdnn_status pdnn_compare_across(struct pdnn_comparison *comparison, const char *text,
                                     struct pdnn_err *err);

/* Whether the key, a name of that length, is one that differs. */
bool pdnn_compare_is_across(const struct pdnn_comparison *comparison, const char *name, size_t length);

/* The id of a row of the table without the keys that differ; replaces the text of `id`. */
void pdnn_compare_strip(const struct pdnn_comparison *comparison, const struct pdnn_selection *table,
                        size_t row, struct pdnn_str *id);

/* Whether the row of the side's table has that side's values of the keys that differ. */
bool pdnn_compare_belongs(const struct pdnn_comparison *comparison, int side, size_t row);

#endif
