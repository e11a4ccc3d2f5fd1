/* Products of heads (models/heads.h) in this backend: the library's matmul on tensors with strides, its sgemm
 * head by head, or our own kernel. Which one is measured for each shape at compile time: the library
 * multiplies one head after the other however few its columns are, and some strides not at all. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_WAYS_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_WAYS_H

#include "runtime/steps/matmul_heads.h"
#include "runtime/backends/onednn/library/library.h"

enum pdnn_heads_way { PDNN_HEADS_PRIMITIVE, PDNN_HEADS_SGEMM, PDNN_HEADS_OWN, PDNN_HEADS_WAY_COUNT };

struct pdnn_heads_made {
    enum pdnn_heads_way way;
    struct pdnn_onednn_primitive *primitive; /* of that way */
    uint64_t element_bytes;
    struct pdnn_matmul_job multiply; /* of the others; of all, the product */
};

/* PDNN_UNSUPPORTED when there is no such way, or the library has but a reference implementation where there
 * are others. */
enum pdnn_status pdnn_heads_create(struct pdnn_onednn_library *library,
                                   const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                   enum pdnn_heads_way way, int64_t threads, struct pdnn_heads_made *made,
                                   struct pdnn_err *err);
void pdnn_heads_destroy(struct pdnn_heads_made *made);

/* What it needs and does, for pdnn_matmul_append; made is not copied. */
struct pdnn_matmul_work pdnn_heads_work_of(struct pdnn_heads_made *made);

/* "x64:gemm:jit matmul". Returns buffer. */
enum { PDNN_HEADS_TEXT = 48 };
const char *pdnn_heads_name(const struct pdnn_heads_made *made, char buffer[PDNN_HEADS_TEXT]);

struct pdnn_heads_entry;

/* What was found so far, for one thread count; {0} is empty. */
struct pdnn_heads_choices {
    struct pdnn_heads_entry *first;
    uint64_t compile;                  /* counted up by every compilation */
    const enum pdnn_heads_way *forced; /* for tests: taken for every shape instead of measuring */
};

void pdnn_heads_choices_finish(struct pdnn_heads_choices *choices);

/* The library's matmul, unless something takes 10 % less; PDNN_UNSUPPORTED when there is no way. */
enum pdnn_status pdnn_heads_choose(struct pdnn_heads_choices *choices, struct pdnn_onednn_library *library,
                                   const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                   int64_t threads, enum pdnn_heads_way *way, struct pdnn_err *err);

#endif
