/* Shared by the tests of families and their ops: from an id to its graph and costs, and checks that all of
 * them must pass. All of them fail the test on error and name the id or the node. */
#ifndef TESTS_MODELS_MODEL_CHECK_H
#define TESTS_MODELS_MODEL_CHECK_H

#include "models/cost/cost.h"
#include "models/graph.h"
#include "models/instance.h"

/* The instance; two threads if its threads are `all`. */
struct pdnn_instance instance_of(const char *id);

/* Initialises the arena and builds the graph in it. */
void build_graph(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph);

struct pdnn_totals totals_of(const char *id);

/* Checks that building the instance's graph fails for a reason that contains `reason`. */
void check_invalid(const char *id, const char *reason);

/* Checks the FLOP of every node against those that its reference kernel counts. */
void check_flop_counts(const struct pdnn_graph *graph, const char *what);

/* Checks that costs computed by the depth rule equal those of the whole graph. */
void check_depth_costs(const char *id);

/* The values after one step on seeded data; free with reference_values_free. */
double **run_step(const struct pdnn_graph *graph, uint64_t seed);

/* Checks that result, loss, weights and state are equal, except constants into which a normalization was
 * folded. Exact in training; in inference, folding rounds differently, in double, from what it replaces. */
void check_same_step(const struct pdnn_graph *fused, double **unfused_values, double **values,
                     const char *what);

/* Checks that a step with fuse=post-ops gives the same values as one without. */
void check_fusion(const char *id);

/* Checks that two settings of one model give equal results, and equal losses after several updates. */
void check_same_model(const char *id, const char *one, const char *other);

/* Checks that the loss after `steps` steps in double is below `factor` times the first. */
void check_loss_falls(const char *id, int steps, double factor);

/* The FLOP of all nodes of the op. */
uint64_t flop_of_op(const struct pdnn_graph *graph, const struct pdnn_op_def *op);

/* The FLOP of the model's matrix products, dense and matmul. */
uint64_t products_flop(const char *id);

/* The number of forward nodes of the op whose attribute has the value. */
int64_t count_nodes(const struct pdnn_graph *graph, const struct pdnn_op_def *op, int attr, int64_t value);

/* The attribute of rearrange for the text of a pattern. */
int64_t pattern_of(const char *text);

/* A graph of some ops on weights, for checking their gradients: begin, append, check. */
struct chain {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

void begin_chain(struct chain *chain);

/* A weight with values in [-1, 1). */
uint32_t chain_weight(struct chain *chain, int rank, const int64_t *dim);

/* Appends a dense layer to 3 classes and the loss. */
void chain_loss(struct chain *chain, uint32_t y);

/* Appends the dense layer and the loss, checks gradients and FLOP counts, and ends the chain. */
void check_chain(struct chain *chain, uint32_t y, const char *what);

/* The same for a graph that already has its loss. */
void check_loss_chain(struct chain *chain, const char *what);

#endif
