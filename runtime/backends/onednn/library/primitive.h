/* A primitive of the library: described, built, bound to addresses once, then run. It has a fixed set of
 * arguments. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_PRIMITIVE_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_PRIMITIVE_H

#include "runtime/backends/onednn/library/library.h"
#include "runtime/backends/onednn/library/request.h"

struct pdnn_onednn_primitive;

/* What the library would run: the first of its implementations that does the request by its algorithm. Name,
 * layouts and scratchpad can be asked for; to be bound and run it must be built. PDNN_UNSUPPORTED with the
 * library's answer when it has no implementation. */
enum pdnn_status pdnn_onednn_primitive_describe(struct pdnn_onednn_library *library,
                                                const struct pdnn_onednn_request *request,
                                                struct pdnn_onednn_primitive **primitive,
                                                struct pdnn_err *err);
/* Generates its code, once. */
enum pdnn_status pdnn_onednn_primitive_build(struct pdnn_onednn_primitive *primitive, struct pdnn_err *err);
/* Both. */
enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_library *library,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);
void pdnn_onednn_primitive_destroy(struct pdnn_onednn_primitive *primitive);

/* The implementation: "onednn:", and the library's name of it, as in "onednn:x64:gemm:jit". */
const char *pdnn_onednn_primitive_name(const struct pdnn_onednn_primitive *primitive);
/* Whether that is the library's plain C; of recurrent layers the name does not tell. */
bool pdnn_onednn_primitive_is_reference(const struct pdnn_onednn_primitive *primitive);
/* A layout as the primitive has it, to be destroyed by the caller; of an argument that it has. */
enum pdnn_status pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                              enum pdnn_onednn_arg arg, struct pdnn_onednn_layout **layout,
                                              struct pdnn_err *err);
/* Bytes of memory to bind as the argument; 0: there is none. */
uint64_t pdnn_onednn_primitive_bytes(const struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg);
/* Bytes of scratch memory to bind as PDNN_ONEDNN_SCRATCHPAD; 0: none. */
uint64_t pdnn_onednn_primitive_scratchpad_bytes(const struct pdnn_onednn_primitive *primitive);
/* Sets an argument's address, before the first run and for every argument. What is read must have zeroes in
 * its padding; what is written gets them. */
enum pdnn_status pdnn_onednn_primitive_bind(struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg,
                                            void *address, struct pdnn_err *err);

/* 0, or the library's status. The result is there on return: the CPU's stream runs on the calling thread and
 * its pool. */
int pdnn_onednn_primitive_run(const struct pdnn_onednn_primitive *primitive);

#endif
