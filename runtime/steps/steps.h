/* How ops run: one row per op, in runtime/steps/<op>.c, and one way to find it. A backend asks with what it
 * brings: rows of its own for the ops that its library does, which are looked up first, and the library's
 * sgemm, if it has one. All other ops run on our own kernels, as bound steps (bound_step.h). */
#ifndef RUNTIME_STEPS_STEPS_H
#define RUNTIME_STEPS_STEPS_H

#include "runtime/core/backend.h"
#include "runtime/steps/options.h"
#include "runtime/steps/sgemm.h"
#include "runtime/steps/step_def.h"

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

/* The op's row here, whatever backends have. */
const struct pdnn_step_def *pdnn_step_find(const struct pdnn_op_def *op);

/* Appends the steps of all nodes in order. PDNN_UNSUPPORTED where a node's op or pass has no row, or its row
 * takes no such posts, ranks or dtypes. */
enum pdnn_status pdnn_steps_compile(const struct pdnn_steps *steps, struct pdnn_err *err);

/* The step of one node as if the backend had no rows of its own. */
enum pdnn_status pdnn_steps_compile_generic(const struct pdnn_steps *steps, uint32_t node,
                                            struct pdnn_err *err);

/* Of a product too large for the library's sgemm. PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err);

#endif
