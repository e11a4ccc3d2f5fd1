/* What measured tables say of a claim. */
#ifndef RESULTS_CLAIMS_VERDICT_H
#define RESULTS_CLAIMS_VERDICT_H

enum pdnn_verdict { PDNN_HOLDS, PDNN_DOES_NOT_HOLD, PDNN_CANNOT_BE_TOLD, PDNN_VERDICT_COUNT };

/* "holds", "does not hold", "cannot be told". */
const char *pdnn_verdict_name(enum pdnn_verdict verdict);

#endif
