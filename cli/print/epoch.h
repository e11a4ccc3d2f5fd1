/* What `paradnn seqpoint` says to people: the epoch, the SeqPoints, and what every method projects. */
#ifndef CLI_PRINT_EPOCH_H
#define CLI_PRINT_EPOCH_H

#include "base/str.h"
#include "results/epochs/method_estimates.h"
#include "session/seqpoint.h"

/* What is known at the end. */
struct pdnn_seqpoint_result {
    const struct pdnn_seqpoint_epoch *made;
    struct pdnn_seqpoints seqpoints;
    const char *points_from; /* the directory whose SeqPoints these are; NULL: chosen here */
    const double *time_ns;   /* by kind; NULL: nothing ran */
    struct pdnn_projections projections;
    size_t draws;
    bool every;
    uint64_t ran_ns;               /* wall time of what ran now, roofs apart; 0: nothing did */
    struct pdnn_visit_spent spent; /* of that */
};

/* kinds: seqpoint.csv as it is now; a column is added. */
void pdnn_epoch_text(struct pdnn_str *out, const struct pdnn_seqpoint_result *result,
                     struct pdnn_table *kinds);

#endif
