#include "results/claims/verdict.h"

const char *pdnn_verdict_name(enum pdnn_verdict verdict) {
    static const char *const names[PDNN_VERDICT_COUNT] = {"holds", "does not hold", "cannot be told"};
    return names[verdict];
}
