/* What the driver asks a worker to do with one instance: a visit, or a comparison with `reference`. */
#ifndef RUNTIME_PROTOCOL_REQUEST_H
#define RUNTIME_PROTOCOL_REQUEST_H

#include "base/paths/kept.h"
#include "models/example_lengths.h"
#include "models/instance.h"

#include <stdbool.h>
#include <stdint.h>

/* When a visit ends. */
struct pdnn_measure_rules {
    uint64_t min_samples;  /* per visit, after warm-up; 1 to PDNN_VISIT_SAMPLES_MAX */
    uint64_t max_visit_ns; /* includes warm-up; exceeded only to reach min_samples */
    uint64_t least_ns;     /* includes warm-up; close samples do not end a visit before */
    /* The driver ends the visit after this, preparation included; 0: never. Not even min_samples may come so
     * far: a visit to a slow step takes as many samples as fit, and at least one. */
    uint64_t time_limit_ns;
    double precision; /* relative: stop once the quartiles are this close to the median */
    bool cold;        /* evict the caches before every sample; a sample is then one step */
};

/* Room for the paths of all data sets. */
enum { PDNN_REQUEST_SETS = 4096 };

struct pdnn_request {
    char id[PDNN_ID_TEXT]; /* of an instance with the worker's isa */
    /* If not empty, the instance is one of a set that share their weights, and this is the id of the member
     * that needs the most memory. The worker keeps the set until it gets a visit outside the set, or
     * another kind of request. */
    char largest[PDNN_ID_TEXT];
    /* Of the step's examples, whose minibatch is that of the id; only for a member of a set. */
    struct pdnn_example_lengths lengths;
    int64_t ranks;               /* of the instance; 0 or 1: the worker is alone */
    uint64_t seed;               /* for the data */
    uint64_t memory_limit_bytes; /* for tensors; 0: none */
    /* Measured capacity of the last-level cache for all the instance's threads together; 0: not measured. */
    uint64_t cache_bytes;
    /* Directory in which choices measured by one process are kept for the next; "": nowhere. */
    char choices[PDNN_KEPT_PATH];
    bool choices_are_shared; /* by all isa under which the library has the same effective instruction set */
    bool choices_are_final;  /* measured once each, also beside other programs (runtime/backend/tune.h) */
    char sets[PDNN_REQUEST_SETS]; /* absolute paths of data sets, one a line; of instances with data=file */
    struct pdnn_measure_rules rules; /* visits only */
    bool probe;                      /* run a probe before and after the visit */
    bool unstamped;                  /* ops are not timed, in steps of their own, and have no rows */
    bool counters;                   /* count cycles and instructions */
    bool allow_slow;                 /* run ops that have no fast path */
};

#endif
