/* Analytic costs: exact integers, known without running anything. FLOP: 2 per multiply-add, 1 per other
 * arithmetic operation (max, comparison and transcendental functions count as one). Windows over an image are
 * counted twice: with all their taps, as in published totals, and with only the taps on the image, which is
 * what has to be computed. Bytes are compulsory traffic: what some result depends on, read once
 * (pixels under a window, taps on the image, rows looked up), and each output written once. */
#ifndef MODELS_COST_COST_H
#define MODELS_COST_COST_H

#include "models/graph.h"
#include "models/instance.h"

struct pdnn_cost {
    uint64_t flop_count;           /* all taps */
    uint64_t in_bounds_flop_count; /* without taps on padding */
    uint64_t byte_count;           /* the sum of the next four */
    uint64_t weight_bytes;         /* weights read and written */
    uint64_t activation_bytes;     /* inputs, labels and activations */
    uint64_t gradient_bytes;       /* of activations and of weights */
    /* Kept between steps: optimizer state, running statistics, caches of keys and values. */
    uint64_t state_bytes;
};

struct pdnn_totals {
    uint64_t params;       /* elements of all weights */
    struct pdnn_cost cost; /* of a whole step */
    /* The largest sum of the tensors that are alive at once (models/cost/memory.h); 0: not requested. */
    uint64_t memory_bytes;
};

/* One node. PDNN_OVERFLOW if a count does not fit. */
enum pdnn_status pdnn_cost_node(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                struct pdnn_cost *cost, struct pdnn_err *err);

/* What the node reads and writes (pdnn_node_accesses), and how many bytes of each. */
int pdnn_cost_accesses(const struct pdnn_graph *graph, const struct pdnn_node *node,
                       struct pdnn_access access[PDNN_NODE_ACCESSES], uint64_t bytes[PDNN_NODE_ACCESSES]);

/* *sum += cost, checked. */
enum pdnn_status pdnn_cost_add(struct pdnn_cost *sum, const struct pdnn_cost *cost, struct pdnn_err *err);

/* A whole graph; memory_bytes is 0. */
enum pdnn_status pdnn_cost_graph(const struct pdnn_graph *graph, struct pdnn_totals *totals,
                                 struct pdnn_err *err);

/* The same from an instance. Builds its graph in the arena (which is reset), or two shallow ones if that is
 * enough to tell the counts of its depth, and, with_memory, the peak (models/cost/partners.h). The peak is
 * that of the instance as it runs, with `layers_run` layers. Otherwise memory_bytes is 0. */
enum pdnn_status pdnn_cost_instance(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                    bool with_memory, struct pdnn_totals *totals, struct pdnn_err *err);

/* Costs remembered from one instance to the next. Instances that differ only in depth, minibatch and what no
 * graph depends on share an entry: counts and sizes are affine in both, or the entry says from where to where
 * they are. The numbers are those of pdnn_cost_instance, to the last bit, and so are its errors. The size is
 * bounded: what has to go is computed again. */
struct pdnn_cost_memo; /* opaque */
struct pdnn_cost_memo *pdnn_cost_memo_create(void);
void pdnn_cost_memo_destroy(struct pdnn_cost_memo *memo);

/* pdnn_cost_instance. The arena is reset, and stays empty if no graph had to be built. */
enum pdnn_status pdnn_cost_memo_find(struct pdnn_cost_memo *memo, const struct pdnn_instance *instance,
                                     bool with_memory, struct pdnn_arena *arena, struct pdnn_totals *totals,
                                     struct pdnn_err *err);

#endif
