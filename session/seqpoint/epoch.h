/* One epoch of a model with real lengths, as a session: its kinds of iterations (equal padded lengths) are
 * the tasks, which share weights and one block of memory. Which of them run is the caller's choice; what they
 * say about the epoch is in results/epochs. */
#ifndef SESSION_SEQPOINT_EPOCH_H
#define SESSION_SEQPOINT_EPOCH_H

#include "models/example_lengths.h"
#include "results/epochs/epoch.h"
#include "session/directory.h"

struct pdnn_seqpoint_epoch {
    struct pdnn_arena arena;
    struct pdnn_spec_seqpoint rules; /* the spec's section; its text is in the arena */
    struct pdnn_lengths lengths;
    struct pdnn_epoch epoch;               /* kind k is task k of the session */
    struct pdnn_example_lengths *examples; /* by kind: those of its first iteration */
    double *flop_count;                    /* by kind, of one step; NaN if it cannot be counted */
    bool *possible;                        /* by kind: it fits, as far as is known without running it */
    const char *largest; /* id of the possible kind that needs the most memory; NULL: none */
};

/* Opens the session on one model, makes the epoch that its spec's section `seqpoint` describes, and opens it
 * again on the kinds. `hooks` and the other fields that pdnn_session_open leaves to the caller are the
 * caller's. No kind is wanted yet. PDNN_INVALID: not exactly one model, one without lengths, lengths beyond
 * its positions, or what pdnn_lengths_make and pdnn_epoch_make say. Always release both. */
enum pdnn_status pdnn_seqpoint_open(struct pdnn_seqpoint_epoch *made, struct pdnn_session *session,
                                    const char *argument, const char *const *sets, size_t n_sets,
                                    struct pdnn_err *err);
void pdnn_seqpoint_close(struct pdnn_seqpoint_epoch *made);

/* By kind: those to be measured are open tasks, the others are filtered, with a reason. With `every`, visits
 * time as many steps of a kind as the epoch has iterations of it, all rounds together, and no more.
 * For pdnn_sweep_directory_run, whose request has `largest`. */
void pdnn_seqpoint_want(const struct pdnn_seqpoint_epoch *made, struct pdnn_session *session,
                        const bool *wanted, bool every);

/* By kind, from the journal: ns of one step, NaN if none was measured, and how many were. The mean of all
 * steps with `every`, the median of the visits' medians otherwise. */
void pdnn_seqpoint_times(const struct pdnn_seqpoint_epoch *made, const struct pdnn_sweep_directory *directory,
                         bool every, double *time_ns, uint64_t *measured);

#endif
