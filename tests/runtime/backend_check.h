/* Compares a backend with `reference`: both run a graph through plans, and every value is compared. For
 * tests of backends. */
#ifndef TESTS_RUNTIME_BACKEND_CHECK_H
#define TESTS_RUNTIME_BACKEND_CHECK_H

#include "models/graph.h"
#include "runtime/plan/plan.h"

enum { CHECK_THREADS = 2, CHECK_SEED = 7, CHECK_STEPS = 3 };

/* Errors of several layers and steps accumulate; a ReLU near 0 may go either way. */
extern const double check_whole_step_slack;

struct opened {
    const struct pdnn_backend_def *def;
    void *state;
};
struct opened open_backend(const struct pdnn_backend_def *def);
void close_backend(struct opened *backend);

/* Fails the test with the error's text. */
void must(enum pdnn_status status, const struct pdnn_err *err);

/* The whole graph of an instance id. */
void build_instance(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph);

/* The value of a tensor after some steps, as f32; the caller frees. */
float *value_of(const struct pdnn_plan *plan, uint32_t tensor);

/* Fails unless the tensor has the same values in both plans; does nothing if the backend's plan
 * does not keep it. `tolerance` is relative to the oracle's largest value; for 16 bits, one
 * unit in the last place is added. */
void compare_values(const struct pdnn_plan *plan, const struct pdnn_plan *oracle, uint32_t tensor,
                    double tolerance, const char *what);

/* The graph on `reference`, as far as the comparisons have come: once for all backends, layouts and levels.
 */
struct oracle {
    struct pdnn_plan plan;
    int steps;
};
void open_oracle(const struct pdnn_graph *graph, struct oracle *oracle);
void close_oracle(struct oracle *oracle);

/* Runs so many steps on the backend, not fewer than the oracle has run, and compares each value with its op's
 * tolerance times slack. Slow paths are allowed. False if the backend answers unsupported. */
bool check_everything(const struct opened *backend, struct oracle *oracle, int steps, double slack,
                      const char *what);
/* The same where tensors share memory, so that only what survives the step is compared: weights, state,
 * result and loss. */
bool check_kept(const struct opened *backend, struct oracle *oracle, int steps, double slack,
                const char *what);

/* Both, with an oracle of their own. */
bool check_graph(const struct opened *backend, const struct pdnn_graph *graph, int steps, double slack,
                 const char *what);

/* Runs some whole steps of an instance; the backends must support it. */
void check_instance(const struct opened *backends, size_t n_backends, const char *id);

/* Checks that the backend answers PDNN_UNSUPPORTED with a reason that contains the text. */
void expect_graph_unsupported(const struct opened *backend, const struct pdnn_graph *graph,
                              const char *reason);
void expect_unsupported(const struct opened *backend, const char *id, const char *reason);

#endif
