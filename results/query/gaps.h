/* What is missing of a sweep that ended early, and whether what is there is still a sample of all: which keys
 * the missing instances are not spread over, and which pairs of keys go together only because of them. */
#ifndef RESULTS_QUERY_GAPS_H
#define RESULTS_QUERY_GAPS_H

#include "results/query/selection.h"

enum { PDNN_GAPS_KEYS = 32 };

struct pdnn_gaps {
    size_t open, all; /* instances without a visit; those and the chosen ones */
    /* Keys that vary; none unless more than a tenth is open. */
    int column[PDNN_GAPS_KEYS];
    size_t count;
    bool is_uneven[PDNN_GAPS_KEYS]; /* the open ones are not spread over its values */
    /* In the chosen ones, values of the two go together as they do not in all. */
    bool is_confounded[PDNN_GAPS_KEYS][PDNN_GAPS_KEYS];
};

/* By Pearson's chi-squared of the chosen ones against their shares of all, in four groups of neighbouring
 * values a key: beyond four standard deviations of what a random sample of that size has. For a pair, shares
 * are corrected for what each key alone explains. */
void pdnn_gaps_find(const struct pdnn_selection *selection, struct pdnn_gaps *gaps);

/* The same of these rows of the results, of which the first ones are chosen and the others open. */
void pdnn_gaps_of(const struct pdnn_selection *selection, const size_t *row, size_t chosen, size_t count,
                  struct pdnn_gaps *gaps);

/* Whether the row, chosen or not, is of an instance without a visit. */
bool pdnn_gaps_is_open(const struct pdnn_selection *selection, size_t at);

/* Whether some other key goes together with this one; its name, or NULL. */
const char *pdnn_gaps_confounder(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection,
                                 int column);

/* Appends, without an end, if more than a tenth is open: "412 of 540 instances are open; they are not spread
 * over mode, batch; their absence confounds nodes with batch". */
void pdnn_gaps_say(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection,
                   struct pdnn_str *out);

#endif
