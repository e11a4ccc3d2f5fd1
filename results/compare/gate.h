/* Whether a comparison lets a change pass: no model slower by a limit or more. By pairs of visits only
 * (paired.h), since other intervals have no share in what shifts a whole run. */
#ifndef RESULTS_COMPARE_GATE_H
#define RESULTS_COMPARE_GATE_H

#include "results/compare/compare.h"

struct pdnn_compare_gate {
    size_t passed, broken, untold; /* models */
    size_t lacking;                /* of the untold: ended ok on one side only */
    size_t paired, most_pairs;     /* models with pairs; of the untold, the most that one has */
    struct pdnn_str names[2];      /* broken and untold models with their intervals; to be finished */
};

/* Adds the models of a comparison, of whose slow-down [l, u] is the 99 % interval: it passes if u is below
 * the limit, breaks the gate if it is decided that B is slower and u is not below, and else could not be
 * told. */
void pdnn_gate_add(struct pdnn_compare_gate *gate, const struct pdnn_comparison *comparison, double limit);

/* "the gate of 2 % ...": what it comes to, in a line. */
void pdnn_gate_say(const struct pdnn_compare_gate *gate, double limit, struct pdnn_str *out);

void pdnn_gate_finish(struct pdnn_compare_gate *gate);

#endif
