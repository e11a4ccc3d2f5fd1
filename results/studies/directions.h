/* The directions in which the shares and counts of BERT's training move (Pati et al., arXiv 2104.08335;
 * derived arithmetic where exact), checked in measured rows: instances of the transformer that agree in
 * everything but the axis in question, and what is tied to it. One line per direction and set of such
 * instances. */
#ifndef RESULTS_STUDIES_DIRECTIONS_H
#define RESULTS_STUDIES_DIRECTIONS_H

#include "results/tables/columns.h"
#include "results/tables/ops_reader.h"
#include "results/analysis/selection.h"

enum pdnn_verdict { PDNN_VERDICT_PASS, PDNN_VERDICT_FAIL, PDNN_VERDICT_NOT_COVERED, PDNN_VERDICT_COUNT };

/* "PASS", "FAIL", "not covered". */
const char *pdnn_verdict_name(enum pdnn_verdict verdict);

/* One direction in one set of instances. Texts are static or in the arena. */
struct pdnn_direction_line {
    const char *direction; /* "optimizer share falls with the batch" */
    enum pdnn_verdict verdict;
    const char *numbers;  /* what the verdict is based on, in the order of `compared`; "" when not covered */
    const char *compared; /* "batch 4, 16, 32"; not covered: the instances that would be needed */
    const char *where;    /* keys that tell this set from others: "length=128, fuse=none" */
    const char *id;       /* of all of them, with a star for the axis; "" when not covered */
};

extern const struct pdnn_columns pdnn_directions_columns; /* rows: struct pdnn_direction_line */

/* Lines in the order of the directions, in the arena. */
enum pdnn_status pdnn_directions(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                                 struct pdnn_arena *arena, struct pdnn_direction_line **lines,
                                 size_t *n_lines, struct pdnn_err *err);

#endif
