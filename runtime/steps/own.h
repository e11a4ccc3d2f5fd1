/* Steps that run our own kernels (runtime/kernels), for every backend whose library lacks the op or does it
 * badly. The kernels are f32 (labels s32); steps on tensors of 16 bit widen what they read and narrow what
 * they write, piece by piece in the caches where the op allows it. Elementwise ops take any layout that their
 * tensors share. */
#ifndef RUNTIME_STEPS_OWN_H
#define RUNTIME_STEPS_OWN_H

#include "runtime/core/backend.h"

struct pdnn_own_options {
    int64_t threads;
    uint64_t cache_bytes; /* of one last-level cache */
};

/* Results from 1/part of the last-level cache on are written past it: the rest is for what the step reads. A
 * transpose leaves the caches early, since its writes are scattered. */
enum { PDNN_BYPASS_ELEMENTWISE = 1, PDNN_BYPASS_IMAGES = 2, PDNN_BYPASS_TRANSPOSE = 4 };

/* Reads the size of the last-level cache. */
struct pdnn_own_options pdnn_own_options(int64_t threads);

/* Appends the step of a node; its slots have their final sizes and layouts already, the same layout for all
 * of its images (PDNN_INTERNAL where those of one shape differ). *found is false, and nothing was appended,
 * when there is no kernel for the node's op, pass, posts or dtype. */
enum pdnn_status pdnn_own_compile(const struct pdnn_own_options *options, struct pdnn_program *program,
                                  uint32_t node, bool *found, struct pdnn_err *err);

#endif
