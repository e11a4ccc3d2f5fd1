/* A oneDNN primitive with a fixed set of arguments: described, built, bound to addresses once, then run. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_PRIMITIVE_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_PRIMITIVE_H

#include "runtime/backends/onednn/library/library.h"
#include "runtime/backends/onednn/library/layout.h"
#include "runtime/backends/onednn/library/request.h"

struct pdnn_onednn_primitive;

/* Describes the first of the library's implementations that does the request by its algorithm. The pool holds
 * the request's layouts and gets the primitive's, so it must outlive the primitive. Name, layouts and
 * scratchpad can be queried; to be bound and run, it must be built. PDNN_UNSUPPORTED, with the library's
 * answer, if there is no implementation. */
enum pdnn_status pdnn_onednn_primitive_describe(struct pdnn_onednn_pool *pool,
                                                const struct pdnn_onednn_request *request,
                                                struct pdnn_onednn_primitive **primitive,
                                                struct pdnn_err *err);
/* Generates the primitive's code. Call once. */
enum pdnn_status pdnn_onednn_primitive_build(struct pdnn_onednn_primitive *primitive, struct pdnn_err *err);
/* Describes and builds. */
enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_pool *pool,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);
void pdnn_onednn_primitive_destroy(struct pdnn_onednn_primitive *primitive);

/* The implementation: "onednn:" and the library's name for it, as in "onednn:x64:gemm:jit". */
const char *pdnn_onednn_primitive_name(const struct pdnn_onednn_primitive *primitive);
/* Whether the implementation is the library's plain C. For recurrent layers the name does not tell. */
bool pdnn_onednn_primitive_is_reference(const struct pdnn_onednn_primitive *primitive);
/* The primitive's layout for an argument that it has. */
const struct pdnn_onednn_layout *pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                                              enum pdnn_onednn_arg arg);
/* Bytes of memory to bind to the argument; 0: it is not there. */
uint64_t pdnn_onednn_primitive_bytes(const struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg);
/* Sets an argument's address. Call it for every argument before the first run. Padding must be zero in what
 * is read and is zeroed in what is written. */
void pdnn_onednn_primitive_bind(struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg,
                                void *address);

/* 0, or the library's status, also of binding. The result is complete on return: the CPU stream runs on the
 * calling thread and its pool. */
int pdnn_onednn_primitive_run(const struct pdnn_onednn_primitive *primitive);

#endif
