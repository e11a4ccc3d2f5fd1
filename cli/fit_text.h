/* A fit as text for people. */
#ifndef CLI_FIT_TEXT_H
#define CLI_FIT_TEXT_H

#include "base/str.h"
#include "results/analysis/fit.h"

/* Appends what the fit explains, its weights with the heaviest first, terms without a weight and why, and the
 * outliers. */
void pdnn_fit_text(struct pdnn_str *out, const struct pdnn_fit *fit);

#endif
