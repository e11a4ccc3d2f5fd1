/* What the driver asks of a worker for one instance: a visit, or a comparison with `reference`. */
#ifndef RUNTIME_FACTS_REQUEST_H
#define RUNTIME_FACTS_REQUEST_H

#include "models/instance.h"

#include <stdbool.h>
#include <stdint.h>

/* When a visit ends. */
struct pdnn_measure_rules {
    uint64_t min_samples;  /* per visit, after warm-up; at least 3 */
    uint64_t max_visit_ns; /* warm-up included; only min_samples may take longer */
    double precision;      /* relative: no more samples once the quartiles are that near to the median */
    bool cold;             /* evict before every sample; a sample is one step then */
};

struct pdnn_request {
    char id[PDNN_ID_TEXT]; /* of an instance with the worker's isa */
    /* Not empty: the instance is one of a set that share their weights, and this is the one that needs most
     * memory. The worker keeps the set until a visit comes that is not of it, or another request. */
    char largest[PDNN_ID_TEXT];
    uint64_t seed;               /* of the data */
    uint64_t memory_limit_bytes; /* of tensors; 0: none */
    /* What the last cache level was found to hold for the instance's threads together; 0: nobody has looked.
     */
    uint64_t cache_bytes;
    struct pdnn_measure_rules rules; /* of a visit */
    bool probe;                      /* a visit has a probe on either side */
    bool allow_slow;                 /* what has no fast path runs all the same */
};

#endif
