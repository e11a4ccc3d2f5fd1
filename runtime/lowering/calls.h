/* How ops run: one row per op, in runtime/lowering/<op>.c, and one way to find it. A backend contributes its
 * own rows for the ops that its library runs, which take precedence, and the library's sgemm if there is one.
 * Everything else runs on our own kernels, as bound calls (bound_call.h). */
#ifndef RUNTIME_LOWERING_CALLS_H
#define RUNTIME_LOWERING_CALLS_H

#include "runtime/backend/backend.h"
#include "runtime/lowering/sgemm.h"
#include "runtime/lowering/lowering.h"

/* One compilation, with what the backend contributes. */
struct pdnn_calls {
    const struct pdnn_backend_def *backend;
    void *state;                  /* the backend's, from its open() */
    struct pdnn_program *program; /* initialised; its graph is compiled */
    const struct pdnn_call_options *options;
    const struct pdnn_lowering *const *rows;  /* the backend's own, NULL-terminated, or NULL */
    const struct pdnn_sgemm_library *library; /* or NULL */
    void *compilation;                        /* for the backend's own rows, or NULL */
};

/* The op's row in this registry, ignoring backends. */
const struct pdnn_lowering *pdnn_lowering_find(const struct pdnn_op_def *op);

/* Appends the calls of all nodes in order. PDNN_UNSUPPORTED if a node's op or pass has no row, or the row
 * does not accept its posts, ranks or dtypes. */
enum pdnn_status pdnn_calls_compile(const struct pdnn_calls *calls, struct pdnn_err *err);

/* Appends the call of one node, ignoring the backend's own rows. */
enum pdnn_status pdnn_calls_compile_generic(const struct pdnn_calls *calls, uint32_t node,
                                            struct pdnn_err *err);

/* Writes "openblas:sgemm skylakex". */
void pdnn_sgemm_name(const struct pdnn_sgemm_library *library, char name[PDNN_IMPLEMENTATION_TEXT]);

/* Reports that a product is too large for the library's sgemm. Returns PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err);

#endif
