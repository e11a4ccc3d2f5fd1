#include "results/studies/study.h"

#define ROW(name) &pdnn_study_##name,

const struct pdnn_study_def *const pdnn_studies[] = {PDNN_STUDIES(ROW) NULL};

const char *pdnn_verdict_name(enum pdnn_verdict verdict) {
    static const char *const names[PDNN_VERDICT_COUNT] = {"PASS", "FAIL", "not covered"};
    return names[verdict];
}

void pdnn_study_get_verdict(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_study_line *line = row;
    (void)column;
    pdnn_str_printf(cell, "%s", pdnn_verdict_name(line->verdict));
}
