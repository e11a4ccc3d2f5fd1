/* Whether the sides of a comparison ran the same build of a library under two names, by their directories'
 * environment.yaml: an A/A comparison, whose ratios are noise. */
#ifndef RESULTS_COMPARE_BUILDS_H
#define RESULTS_COMPARE_BUILDS_H

#include "results/compare/compare.h"

/* Appends a sentence; nothing unless the library is among what differs, and was one build in all pairs. */
void pdnn_builds_say(const struct pdnn_comparison *comparison, struct pdnn_str *out);

#endif
