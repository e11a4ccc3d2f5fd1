/* What the tests of families and their ops have in common: from an id to its graph and costs, and the checks
 * that every one of them must pass. All fail the test on error, with the id or the node. */
#ifndef TESTS_MODELS_MODEL_CHECK_H
#define TESTS_MODELS_MODEL_CHECK_H

#include "models/cost.h"
#include "models/graph.h"
#include "models/instance.h"

/* The instance, on two threads where it says all. */
struct pdnn_instance instance_of(const char *id);

/* Initialises the arena and builds the graph in it. */
void build_graph(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph);

struct pdnn_totals totals_of(const char *id);

/* The instance builds no graph, for a reason that says `reason`. */
void check_invalid(const char *id, const char *reason);

/* What the costs of every node say is what its reference kernel does, statement by statement. */
void check_flop_counts(const struct pdnn_graph *graph, const char *what);

/* Costs by the depth rule are those of the whole graph. */
void check_depth_costs(const char *id);

/* The values after a step from seeded data, for reference_values_free. */
double **run_step(const struct pdnn_graph *graph, uint64_t seed);

/* Equal values: result, loss, weights and state, but for constants that a normalization was folded into. In
 * training exactly; in inference folding rounds otherwise, in double, than what it replaces. */
void check_same_step(const struct pdnn_graph *fused, double **unfused_values, double **values,
                     const char *what);

/* A step with fuse=post-ops gives what one without gives. */
void check_fusion(const char *id);

/* The loss after so many steps in double is below `factor` times the first. */
void check_loss_falls(const char *id, int steps, double factor);

/* FLOP of all nodes of the op. */
uint64_t flop_of_op(const struct pdnn_graph *graph, const struct pdnn_op_def *op);

/* Forward nodes of the op whose attribute has the value. */
int64_t count_nodes(const struct pdnn_graph *graph, const struct pdnn_op_def *op, int attr, int64_t value);

/* A graph of some ops on weights, so that their gradients are checked: begin, append, check. */
struct chain {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

void begin_chain(struct chain *chain);

/* A weight with values in [-1, 1). */
uint32_t chain_weight(struct chain *chain, int rank, const int64_t *dim);

/* Appends a dense layer to 3 classes and the loss. */
void chain_loss(struct chain *chain, uint32_t y);

/* Does so, then checks gradients and FLOP counts; ends the chain. */
void check_chain(struct chain *chain, uint32_t y, const char *what);

/* The same for a graph that has its loss. */
void check_loss_chain(struct chain *chain, const char *what);

#endif
