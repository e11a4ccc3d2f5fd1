/* Analytic costs: exact integers, nothing run. FLOP: 2 per multiply-add, 1 per other arithmetic operation
 * (max, comparison and transcendental functions count as one). A window over an image counts with all its
 * taps, as published totals do, and again with those on the image alone, which is what has to be computed.
 * Bytes are compulsory traffic: each input read once, each output written once. */
#ifndef MODELS_COST_H
#define MODELS_COST_H

#include "models/graph.h"
#include "models/instance.h"

struct pdnn_cost {
    uint64_t flop_count;           /* all taps */
    uint64_t in_bounds_flop_count; /* without those on padding */
    uint64_t byte_count;           /* the sum of the next four */
    uint64_t weight_bytes;         /* weights read and written */
    uint64_t activation_bytes;     /* inputs, labels and activations */
    uint64_t gradient_bytes;       /* of activations and of weights */
    uint64_t
        state_bytes; /* kept between steps: optimizer state, running statistics, caches of keys and values */
};

struct pdnn_totals {
    uint64_t params;       /* elements of all weights */
    struct pdnn_cost cost; /* of one whole step */
    uint64_t
        memory_bytes; /* peak of the graph's tensors, lifetimes packed (models/memory.h); 0: not asked for */
};

/* One node. PDNN_OVERFLOW when a count does not fit. */
enum pdnn_status pdnn_cost_node(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                struct pdnn_cost *cost, struct pdnn_err *err);

/* *sum += cost, checked. */
enum pdnn_status pdnn_cost_add(struct pdnn_cost *sum, const struct pdnn_cost *cost, struct pdnn_err *err);

/* A whole graph; memory_bytes is 0. */
enum pdnn_status pdnn_cost_graph(const struct pdnn_graph *graph, struct pdnn_totals *totals,
                                 struct pdnn_err *err);

/* The same from an instance, about 10 us: builds the graph in the arena (which is reset), or two shallower
 * ones where the family's depth parameter lets them stand for it. with_memory adds pdnn_memory_instance,
 * which always builds the whole graph: the peak is not affine in depth. Else memory_bytes is 0. */
enum pdnn_status pdnn_cost_instance(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                    bool with_memory, struct pdnn_totals *totals, struct pdnn_err *err);

/* Peak of the tensors of the graph that runs, lifetimes packed; resets the arena. */
enum pdnn_status pdnn_memory_instance(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                      uint64_t *bytes, struct pdnn_err *err);

#endif
