/* Whether a comparison lets a change pass: no model slower by a limit or more. By pairs of visits only
 * (paired.h), since the intervals of rows lack what shifts a whole side. */
#ifndef RESULTS_COMPARE_GATE_H
#define RESULTS_COMPARE_GATE_H

#include "results/compare/compare.h"

/* {0} before the first comparison. Each model is passed, broken or untold once a comparison, unless it ended
 * ok on neither side. */
struct pdnn_compare_gate {
    size_t passed, broken, untold, neither;
    size_t paired;            /* models with pairs; 0: there is nothing to judge by */
    size_t most_pairs;        /* of the untold models, the most that one has */
    struct pdnn_str names[2]; /* of broken and of untold models, with their intervals or why there is none */
};

/* Adds the models of a comparison. [l, u] is the 99 % interval of a model's slow-down, B's time over A's less
 * 1: it passes if u is below the limit, breaks the gate if its decision is slower, l is above 0 and u is not
 * below the limit, and else could not be told, as without pairs or with one side only. */
void pdnn_gate_add(struct pdnn_compare_gate *gate, const struct pdnn_comparison *comparison, double limit);

/* Whether it could not be told of some model, or most ended ok on neither side: nothing measured is no pass.
 */
bool pdnn_gate_is_untold(const struct pdnn_compare_gate *gate);

/* Appends a line without its end: "gate 2 %: broken, 1 of 3 passed; slower: ID (+4.1 to +5.2 %); not told: ID
 * (no pairs)", with those parts that name somebody. */
void pdnn_gate_say(const struct pdnn_compare_gate *gate, double limit, struct pdnn_str *out);

void pdnn_gate_finish(struct pdnn_compare_gate *gate);

#endif
