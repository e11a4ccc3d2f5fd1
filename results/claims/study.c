#include "results/claims/study.h"

#define ROW(name) &pdnn_study_##name,

const struct pdnn_study_def *const pdnn_studies[] = {PDNN_STUDIES(ROW) NULL};

const char *pdnn_verdict_name(enum pdnn_verdict verdict) {
    static const char *const names[PDNN_VERDICT_COUNT] = {"PASS", "FAIL", "not covered"};
    return names[verdict];
}
