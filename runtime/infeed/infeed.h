/* The next minibatches, prepared ahead of the step by threads of their own into a bounded queue, or by the
 * step itself. The step takes them in order, so that it computes the same whatever the number of loaders. */
#ifndef RUNTIME_INFEED_INFEED_H
#define RUNTIME_INFEED_INFEED_H

#include "runtime/plan/plan.h"
#include "runtime/host/host.h"
#include "runtime/infeed/feed.h"

struct pdnn_infeed; /* opaque */

struct pdnn_infeed_request {
    const struct pdnn_feed *feed; /* outlives the infeed */
    int64_t loaders;              /* threads; 0: pdnn_infeed_take makes each minibatch itself */
    /* Loaders run on the cores that no thread of the step is bound to, or on all of them if there are none.
     */
    const struct pdnn_host *host;
    int64_t threads; /* of the step */
};

/* Minibatches that the queue holds: at least two, and one more than there are loaders; none without loaders.
 */
int64_t pdnn_infeed_depth(int64_t loaders);

/* Starts the loaders, which begin with minibatch 0. */
enum pdnn_status pdnn_infeed_create(const struct pdnn_infeed_request *request, struct pdnn_infeed **infeed,
                                    struct pdnn_err *err);
void pdnn_infeed_destroy(struct pdnn_infeed *infeed); /* takes NULL */

/* Waits for the next minibatch and puts it in place. Called by the thread that runs the step; the other
 * threads of the OpenMP team sleep while it waits, instead of spinning on the loaders' cores. Non-zero if a
 * minibatch could not be made: pdnn_infeed_error says why. */
int pdnn_infeed_take(struct pdnn_infeed *infeed, const struct pdnn_plan *plan);

/* PDNN_OK, or why the last call failed. */
enum pdnn_status pdnn_infeed_error(struct pdnn_infeed *infeed, struct pdnn_err *err);

/* Time spent in pdnn_infeed_take so far. */
uint64_t pdnn_infeed_waited_ns(const struct pdnn_infeed *infeed);

/* What the loaders do when nothing takes the processor from them. */
struct pdnn_infeed_alone {
    double minibatch_ns; /* per minibatch, all loaders together */
    double read_bytes;   /* per minibatch, from files */
    uint64_t minibatches;
};

/* Runs loaders as requested for about time_ns, and for a few minibatches at least, with nobody to feed. */
enum pdnn_status pdnn_infeed_measure(const struct pdnn_infeed_request *request, uint64_t time_ns,
                                     struct pdnn_infeed_alone *alone, struct pdnn_err *err);

#endif
