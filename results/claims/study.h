/* A study: claims about measured rows, checked. It is results/claims/<name>.c with its pdnn_study_<name>,
 * and one word in the root meson.build; `paradnn breakdown --check-<name>` runs it. */
#ifndef RESULTS_CLAIMS_STUDY_H
#define RESULTS_CLAIMS_STUDY_H

#include "lists.h"
#include "results/query/selection.h"
#include "results/table/table.h"
#include "results/query/ops_reader.h"

enum pdnn_verdict { PDNN_VERDICT_PASS, PDNN_VERDICT_FAIL, PDNN_VERDICT_NOT_COVERED, PDNN_VERDICT_COUNT };

/* "PASS", "FAIL", "not covered". */
const char *pdnn_verdict_name(enum pdnn_verdict verdict);

/* The columns of every study's table: one claim in one set of instances a row. */
enum pdnn_study_column {
    PDNN_STUDY_CLAIM,    /* "optimizer share falls with the batch" */
    PDNN_STUDY_VERDICT,  /* a pdnn_verdict_name */
    PDNN_STUDY_NUMBERS,  /* the basis of the verdict, in the order of `compared`; empty if not covered */
    PDNN_STUDY_COMPARED, /* "batch 4, 16, 32"; if not covered: the instances needed */
    PDNN_STUDY_WHERE,    /* keys that distinguish this set: "length=128, fuse=none" */
    PDNN_STUDY_ID,       /* the common id, with a star for the axis; empty if not covered */
    PDNN_STUDY_COLUMNS
};

struct pdnn_study_def {
    const char *name;
    const char *help;                   /* the help of its option: what it tests */
    const struct pdnn_table_def *table; /* PDNN_STUDY_COLUMNS of them */
    /* Checks all claims and adds their rows, in the order of the claims. The arena is for what it needs. */
    enum pdnn_status (*check)(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                              struct pdnn_arena *arena, struct pdnn_table *table, struct pdnn_err *err);
};

/* Each study defines these three. A constant table can only name objects, so help
 * and columns are objects too. */
#define PDNN_STUDY(name)                                                                                     \
    extern const struct pdnn_study_def pdnn_study_##name;                                                    \
    extern const struct pdnn_table_def pdnn_study_##name##_table;                                            \
    extern const char pdnn_study_##name##_help[];
PDNN_STUDIES(PDNN_STUDY)
#undef PDNN_STUDY

/* All studies, in the order of the build's list; NULL-terminated. */
extern const struct pdnn_study_def *const pdnn_studies[];

#endif
