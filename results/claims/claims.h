/* The registry of claims: what was published of measured runs, and what tables say of it, that it holds, that
 * it does not, or that they cannot tell. */
#ifndef RESULTS_CLAIMS_CLAIMS_H
#define RESULTS_CLAIMS_CLAIMS_H

#include "results/claims/claim.h"

/* Where claims come from. */
enum pdnn_claim_origin {
    /* Wang, Wei, Brooks, "A Systematic Methodology for Analysis of Deep Learning Hardware and Software
     * Platforms", MLSys 2020: those with a number are rows of its table 1, the others are in its text. */
    PDNN_CLAIM_OF_PLATFORMS,
    /* In which directions shares and counts move in BERT training (Pati et al., arXiv 2104.08335; derived
     * arithmetic where exact). */
    PDNN_CLAIM_OF_BERT
};

/* Checks all claims that come from there and adds their rows, in their order; none for those about BERT where
 * no model has attention. Adds to `told` how many rows have each verdict. */
void pdnn_claims_check(const struct pdnn_claim_data *data, enum pdnn_claim_origin origin,
                       struct pdnn_table *table, size_t told[PDNN_VERDICT_COUNT]);

#endif
