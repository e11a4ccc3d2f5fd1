/* What `paradnn seqpoint` prints: the epoch, the SeqPoints, what every method projects, and the speed-ups
 * between two directories. */
#ifndef CLI_SEQPOINT_TEXT_H
#define CLI_SEQPOINT_TEXT_H

#include "base/str.h"
#include "results/analysis/projections.h"
#include "results/tables/seqpoint_table.h"
#include "session/seqpoint.h"

/* What is known at the end. */
struct pdnn_seqpoint_result {
    const struct pdnn_seqpoint_epoch *made;
    const struct pdnn_session *session;
    struct pdnn_seqpoints seqpoints;
    const char *points_from; /* the directory whose SeqPoints these are; NULL: chosen here */
    const double *time_ns;   /* by kind; NULL: nothing ran */
    const uint64_t *measured;
    struct pdnn_projections projections;
    size_t draws;
    bool every;
    uint64_t ran_ns;               /* wall time of what ran now, roofs apart; 0: nothing did */
    struct pdnn_visit_spent spent; /* of that */
};

void pdnn_seqpoint_text(struct pdnn_str *out, const struct pdnn_seqpoint_result *result, size_t width);

/* One row per method, for programs. */
void pdnn_seqpoint_csv(struct pdnn_str *out, const struct pdnn_seqpoint_result *result);

/* Reads the two directories' seqpoint.csv, of the same epoch, and appends how much faster the second is: in
 * truth where every kind was measured in both, and as each method projects it from the first one's choice. */
enum pdnn_status pdnn_seqpoint_pair(const char *const directory[2], bool csv, struct pdnn_str *out,
                                    struct pdnn_err *err);

#endif
