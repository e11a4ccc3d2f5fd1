/* Moves a tensor from one layout to another. An f32 matrix goes from row-major to column-major and back
 * through our own transpose, since oneDNN is slow there; everything else goes through oneDNN. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_REORDER_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_REORDER_H

#include "runtime/lowering/options.h"
#include "runtime/backends/onednn/library/primitive.h"

struct pdnn_onednn_reorder {
    struct pdnn_onednn_primitive *primitive; /* NULL: use our transpose */
    /* for the transpose: dimensions of the source as it lies in memory */
    int64_t rows, columns, threads;
    bool bypass;
    const float *from;
    float *to;
};

/* Between layouts of the same tensor. dim: dimensions of an f32 matrix (O, I); NULL: any other tensor. */
enum pdnn_status pdnn_onednn_reorder_create(struct pdnn_onednn_library *library,
                                            const struct pdnn_step_options *options,
                                            const struct pdnn_onednn_layout *from,
                                            const struct pdnn_onednn_layout *to, const int64_t *dim,
                                            struct pdnn_onednn_reorder *reorder, struct pdnn_err *err);
void pdnn_onednn_reorder_destroy(struct pdnn_onednn_reorder *reorder);

/* The implementation's name; may be written to buffer. */
enum { PDNN_ONEDNN_REORDER_TEXT = 32 };
const char *pdnn_onednn_reorder_name(const struct pdnn_onednn_reorder *reorder,
                                     char buffer[PDNN_ONEDNN_REORDER_TEXT]);

/* Bytes of scratch memory to bind; 0: none. */
uint64_t pdnn_onednn_reorder_scratch_bytes(const struct pdnn_onednn_reorder *reorder);
void pdnn_onednn_reorder_bind(struct pdnn_onednn_reorder *reorder, void *from, void *to, void *scratch);
/* 0, or the library's status. */
int pdnn_onednn_reorder_run(const struct pdnn_onednn_reorder *reorder);

#endif
