/* One epoch of a data set as a list of iterations: which examples form a batch, in which order the batches
 * come, and to which lengths each is padded. Iterations of equal padded lengths are one kind, which is what a
 * model runs. Full batches only: examples that are left over are chosen at random. */
#ifndef RESULTS_EPOCHS_EPOCH_H
#define RESULTS_EPOCHS_EPOCH_H

#include "results/epochs/lengths.h"

enum pdnn_sampler {
    PDNN_SAMPLER_SORTED, /* by source, then target: DeepSpeech2's first epoch */
    /* Shuffled, cut into shards, each sorted by source + target and cut into batches; then the batches of
     * all shards are shuffled: the sampler of MLPerf's GNMT. */
    PDNN_SAMPLER_BUCKET,
    PDNN_SAMPLER_SHUFFLED,
    /* A language model's: the examples, as one text, cut into `batch` equal streams, of which each iteration
     * takes `window` steps. All iterations have one length, and nothing is padded. */
    PDNN_SAMPLER_STREAM,
    PDNN_SAMPLER_COUNT
};

struct pdnn_epoch_request {
    const struct pdnn_lengths *lengths;
    enum pdnn_sampler sampler;
    uint64_t batch;       /* examples per iteration */
    int64_t multiple;     /* padded lengths are rounded up to multiples of this, at least 1 */
    int64_t window;       /* stream: steps per iteration */
    size_t shard_batches; /* bucket: batches per shard, at least 1 */
    uint64_t seed;
};

/* Iterations of equal padded lengths. */
struct pdnn_epoch_kind {
    int64_t length[2]; /* source and target; target is 0 where examples have one length */
    uint64_t count;    /* iterations, at least 1 */
};

struct pdnn_epoch {
    enum pdnn_sampler sampler;
    size_t columns; /* 1, or 2: source and target */
    uint64_t batch;
    size_t n_iterations, n_kinds;
    struct pdnn_epoch_kind *kind; /* ascending by source, then target */
    size_t *kind_of;              /* by iteration, in the epoch's order */
    int64_t *example; /* every example's lengths: n_iterations * batch * columns; NULL: as padded */
    size_t left_over; /* examples that do not fill a batch; stream: steps */
    double waste;     /* 1 - sum of lengths / sum of padded ones */
};

/* In the arena. PDNN_INVALID if there are fewer examples than a batch needs. */
enum pdnn_status pdnn_epoch_make(const struct pdnn_epoch_request *request, struct pdnn_arena *arena,
                                 struct pdnn_epoch *epoch, struct pdnn_err *err);

/* The lengths of example `at` of an iteration: one or two, `columns`. */
const int64_t *pdnn_epoch_example(const struct pdnn_epoch *epoch, size_t iteration, size_t at);

#endif
