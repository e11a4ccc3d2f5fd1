/* How ops run: one row per op, and one way to find it. A backend asks with what it brings: rows of its own
 * for the ops that its library does, which are looked up first, and the library's sgemm, if it has one. All
 * other ops run on our own kernels, and so do products where there is an sgemm; the row of an op is in
 * runtime/steps/<op>.c. */
#ifndef RUNTIME_STEPS_STEPS_H
#define RUNTIME_STEPS_STEPS_H

#include "runtime/core/backend.h"
#include "runtime/steps/sgemm.h"
#include "runtime/steps/options.h"

struct pdnn_steps;

/* How one pass of an op runs. */
struct pdnn_step_pass {
    /* Appends the node's step, and reorders it needs; NULL: nothing does this pass. */
    enum pdnn_status (*compile)(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err);
    bool needs_sgemm; /* `compile` multiplies by the library's sgemm, in f32; without one nothing does this
                         pass */
};

struct pdnn_step_def {
    const struct pdnn_op_def *op;
    struct pdnn_step_pass pass[PDNN_PASS_COUNT];
};

/* One compilation, and what the backend brings to it. */
struct pdnn_steps {
    const struct pdnn_backend_def *backend;
    void *state;                  /* the backend's, as it was opened */
    struct pdnn_program *program; /* initialised; its graph is what is compiled */
    const struct pdnn_step_options *options;
    const struct pdnn_step_def *const *rows;  /* the backend's own, NULL-terminated; NULL: none */
    const struct pdnn_sgemm_library *library; /* NULL: none */
    void *compilation;                        /* for the backend's own rows, or NULL */
};

/* Appends the steps of all nodes in order. PDNN_UNSUPPORTED where a node's op or pass has no row, or its row
 * takes no such posts or dtypes. */
enum pdnn_status pdnn_steps_compile(const struct pdnn_steps *steps, struct pdnn_err *err);

/* The step of one node as if the backend had no rows of its own. */
enum pdnn_status pdnn_steps_compile_generic(const struct pdnn_steps *steps, uint32_t node,
                                            struct pdnn_err *err);

/* Of a product too large for the library's sgemm. PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err);

#endif
