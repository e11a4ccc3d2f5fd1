/* Candidates to measure for a dense op: every way to run each of its passes, prepared, on memory as
 * cold as in the step. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_BENCH_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_BENCH_H

#include "runtime/backends/onednn/block.h"
#include "runtime/backends/onednn/dense/implementations.h"
#include "runtime/lowering/options.h"

enum { PDNN_ONEDNN_DENSE_CANDIDATES = PDNN_ONEDNN_DENSE_PASSES * PDNN_ONEDNN_DENSE_VARIANTS };

struct pdnn_onednn_dense_candidate {
    struct pdnn_onednn_dense_bench *bench;
    enum pdnn_pass pass;
    struct pdnn_onednn_dense_variant variant;
    struct pdnn_onednn_dense_pass made;
};

struct pdnn_onednn_dense_bench {
    struct pdnn_onednn_library *library;
    const struct pdnn_step_options *options;
    struct pdnn_onednn_dense_shape shape; /* the one measured, possibly shrunk */
    struct pdnn_onednn_dense_candidate candidate[PDNN_ONEDNN_DENSE_CANDIDATES];
    int n_candidates;
    struct pdnn_onednn_block x, w, b, y, out, scratch;
    /* as much memory as the step touches between two uses of the same weight */
    struct pdnn_onednn_block moved;
    uint64_t moved_bytes, used_bytes; /* used_bytes: end of the last place handed out in it */
    uint64_t room_bytes;              /* what may still be allocated */
};

/* The candidates, without memory to run on. PDNN_UNSUPPORTED, with the library's answer, if a pass has no
 * implementation. */
enum pdnn_status pdnn_onednn_dense_bench_create(struct pdnn_onednn_library *library,
                                                const struct pdnn_step_options *options,
                                                const struct pdnn_onednn_dense_shape *shape,
                                                struct pdnn_onednn_dense_bench **bench, struct pdnn_err *err);
/* Gives the candidates memory of at most room_bytes. PDNN_TOO_BIG when they need more. */
enum pdnn_status pdnn_onednn_dense_bench_bind(struct pdnn_onednn_dense_bench *bench, uint64_t room_bytes,
                                              struct pdnn_err *err);
void pdnn_onednn_dense_bench_destroy(struct pdnn_onednn_dense_bench *bench);

/* Footprints beyond this are all alike: none of the step is left in the caches. */
uint64_t pdnn_onednn_dense_bench_most_bytes(const struct pdnn_step_options *options);

/* The candidate, or NULL if there is none. */
const struct pdnn_onednn_dense_candidate *
pdnn_onednn_dense_bench_find(const struct pdnn_onednn_dense_bench *bench, enum pdnn_pass pass,
                             enum pdnn_onednn_dense_way way, enum pdnn_onednn_weights_format format);

/* Runs the candidate that state points to once. 0, or the library's status. */
int pdnn_onednn_dense_bench_run(const void *state);

/* The next place for this many bytes, round robin. Its previous contents have left the caches, if
 * they do so in the step. */
char *pdnn_onednn_dense_bench_place(struct pdnn_onednn_dense_bench *bench, uint64_t bytes);

#endif
