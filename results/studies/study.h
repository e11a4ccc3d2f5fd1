/* A study: claims about measured rows, checked. It is results/studies/<name>.c with its pdnn_study_<name>,
 * and one word in the root meson.build; `paradnn breakdown --check-<name>` runs it. */
#ifndef RESULTS_STUDIES_STUDY_H
#define RESULTS_STUDIES_STUDY_H

#include "lists.h"
#include "results/analysis/selection.h"
#include "results/tables/columns.h"
#include "results/tables/ops_reader.h"

enum pdnn_verdict { PDNN_VERDICT_PASS, PDNN_VERDICT_FAIL, PDNN_VERDICT_NOT_COVERED, PDNN_VERDICT_COUNT };

/* "PASS", "FAIL", "not covered". */
const char *pdnn_verdict_name(enum pdnn_verdict verdict);

/* One claim in one set of instances. Texts are static or in the arena. */
struct pdnn_study_line {
    const char *claim; /* "optimizer share falls with the batch" */
    enum pdnn_verdict verdict;
    const char *numbers;  /* the basis of the verdict, in the order of `compared`; "" if not covered */
    const char *compared; /* "batch 4, 16, 32"; if not covered: the instances needed */
    const char *where;    /* keys that distinguish this set: "length=128, fuse=none" */
    const char *id;       /* the common id, with a star for the axis; "" if not covered */
};

struct pdnn_study_def {
    const char *name;
    const char *help;                   /* the help of its option: what it tests */
    const struct pdnn_columns *columns; /* rows: struct pdnn_study_line */
    /* Checks all claims; lines in the order of the claims, in the arena. */
    enum pdnn_status (*check)(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                              struct pdnn_arena *arena, struct pdnn_study_line **lines, size_t *n_lines,
                              struct pdnn_err *err);
};

/* Each study defines these three. A constant table can only name objects, so help
 * and columns are objects too. */
#define PDNN_STUDY(name)                                                                                     \
    extern const struct pdnn_study_def pdnn_study_##name;                                                    \
    extern const struct pdnn_columns pdnn_study_##name##_columns;                                            \
    extern const char pdnn_study_##name##_help[];
PDNN_STUDIES(PDNN_STUDY)
#undef PDNN_STUDY

/* All studies, in the order of the build's list; NULL-terminated. */
extern const struct pdnn_study_def *const pdnn_studies[];

/* The text of the column `verdict`, for a study's columns. */
void pdnn_study_get_verdict(const struct pdnn_column *column, const void *row, struct pdnn_str *cell);

#endif
