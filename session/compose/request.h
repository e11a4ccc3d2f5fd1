/* What a composition is asked, and what came of it. */
#ifndef SESSION_COMPOSE_REQUEST_H
#define SESSION_COMPOSE_REQUEST_H

#include "results/fit/interpolate.h"
#include "results/store/library.h"
#include "session/directory.h"

/* Models that it takes to have intervals of 90 %. */
enum { PDNN_CALIBRATED_LEAST = 9 };

struct pdnn_compose_request {
    struct pdnn_library *library; /* borrowed */
    size_t validate;              /* composed models that also run */
    size_t calibrate;             /* others that run, to find the intervals of the rest */
    bool retry;                   /* measure operators again that failed */
    double extrapolate;           /* factor beyond measured neighbours: results/fit/interpolate.h */
    uint64_t seed;                /* of that sample, and of the order of measurements */
};

struct pdnn_compose_result {
    struct pdnn_sweep_result direct; /* visits of models that ran */
    size_t models, composed, small;  /* listed; of these, composed, run because they fit the cache */
    size_t operators, stateless;     /* distinct; without their cache states */
    size_t measured;                 /* measurements made now */
    size_t predicted;                /* operators not measured but interpolated */
    size_t calibrated;               /* models whose errors are the intervals of the others */
    bool *calibrates;                /* by task: it ran for that; heap, the caller's */
    uint64_t list_ns, measure_ns;
    struct pdnn_neighbours *neighbours; /* what was predicted from; the caller's to destroy; may be NULL */
    bool out_of_time;                   /* for some measurement */
};

#endif
