/* What the ratio of two step times is made of, by hardware counters on both sides: instructions, cycles per
 * instruction, and how many cycles all threads together had in a second. */
#ifndef RESULTS_COMPARE_FACTORS_H
#define RESULTS_COMPARE_FACTORS_H

#include "results/compare/compare.h"

/* Sets the columns of the pairs that were counted on both sides, whose product is the pair's ratio. */
void pdnn_factors_set(struct pdnn_comparison *comparison);

/* Appends a sentence with the geometric means over these pairs; nothing if there are none. */
void pdnn_factors_say(const struct pdnn_comparison *comparison, struct pdnn_str *out);

#endif
