/* The steering of `paradnn seqpoint`: it chooses which iterations of an epoch run, measures them in a
 * directory, projects the epoch, and draws more of them until the interval is narrow enough. */
#ifndef SESSION_SEQPOINT_H
#define SESSION_SEQPOINT_H

#include "models/example_lengths.h"
#include "results/epochs/seqpoint.h"
#include "session/directory.h"

struct pdnn_seqpoint_run {
    /* What is wished for. */
    bool runs;               /* else it only chooses */
    bool ground_truth;       /* run every distinct length */
    bool every;              /* time as many steps of each as the epoch has iterations of it */
    const char *points_from; /* take the SeqPoints of this directory; NULL: choose them */
    /* What follows from it. */
    struct pdnn_session *session;    /* borrowed */
    struct pdnn_spec_seqpoint rules; /* the spec's section; its text is in the arena */
    struct pdnn_lengths lengths;
    struct pdnn_epoch epoch;               /* kind k is task k of the session */
    struct pdnn_example_lengths *examples; /* by kind: those of its first iteration */
    double *flop_count;                    /* by kind, of one step; NaN if it cannot be counted */
    bool *possible;                        /* by kind: it fits, as far as is known without running it */
    struct pdnn_seqpoints seqpoints;
    struct pdnn_method_estimates projections;
    struct pdnn_epoch_sample sample;
    size_t draws;    /* of the sample */
    double *time_ns; /* by kind, as the next two; NaN: none was measured */
    uint64_t *measured;
    bool *wanted;
    bool has_every;  /* as many steps were timed as the epoch has */
    uint64_t ran_ns; /* wall time of what ran now, roofs apart; 0: nothing did */
    struct pdnn_arena arena;
};

/* Opens the session as the caller prepared it, chooses, and projects what follows from the lengths alone.
 * *run has only its wishes; its arena is for the caller to end, also after a failure. PDNN_INVALID: wishes
 * that exclude each other, not exactly one model, one without lengths, lengths beyond its positions, or what
 * pdnn_lengths_make and pdnn_epoch_make say. */
enum pdnn_status pdnn_seqpoint_run_open(struct pdnn_seqpoint_run *run, struct pdnn_session *session,
                                        const char *argument, const char *const *sets, size_t n_sets,
                                        struct pdnn_err *err);

/* Measures in an open directory, and writes its seqpoint.csv. After an interrupt, the projections are of what
 * ran before. */
enum pdnn_status pdnn_seqpoint_run_measure(struct pdnn_seqpoint_run *run,
                                           struct pdnn_sweep_directory *directory, struct pdnn_err *err);

/* seqpoint.csv as it is now; to be finished by the caller. */
void pdnn_seqpoint_run_table(const struct pdnn_seqpoint_run *run, struct pdnn_table *table);

#endif
