/* Seeded data. Every value is a pure function of (seed, tensor, index), so that all backends and thread
 * counts see the same numbers, and none is denormal: uniform values are multiples of scale * 2^-24. */
#include "base/rng.h"
#include "models/graph.h"
#include "runtime/core/plan.h"

#include <assert.h>

static void fill_classes(int32_t *values, int64_t elements, uint64_t stream, uint64_t classes) {
    for (int64_t i = 0; i < elements; i++)
        values[i] = (int32_t)((pdnn_rng_at(stream, (uint64_t)i) >> 32) * classes >> 32);
}

static void fill_uniform(float *values, int64_t elements, uint64_t stream, float scale) {
#pragma omp parallel for if (elements > 65536)
    for (int64_t i = 0; i < elements; i++) {
        int32_t bits = (int32_t)(pdnn_rng_at(stream, (uint64_t)i) >> 39); /* 25 bits */
        values[i] = scale * ((float)(bits - (1 << 24)) + 0.5F) * 0x1p-24F;
    }
}

static void fill_constant(float *values, int64_t elements, float value) {
    for (int64_t i = 0; i < elements; i++)
        values[i] = value;
}

void pdnn_fill_tensor(const struct pdnn_graph *graph, uint32_t tensor, uint64_t seed, void *plain) {
    const struct pdnn_tensor *t = &graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(t);
    uint64_t stream = pdnn_rng_at(seed, tensor);
    if (t->dtype == PDNN_S32) {
        fill_classes(plain, elements, stream, t->fill.kind == PDNN_FILL_CLASS ? (uint64_t)t->fill.scale : 1);
        return;
    }
    assert(t->dtype == PDNN_F32);
    if (t->fill.kind == PDNN_FILL_UNIFORM)
        fill_uniform(plain, elements, stream, (float)t->fill.scale);
    else
        fill_constant(plain, elements, t->fill.kind == PDNN_FILL_CONSTANT ? (float)t->fill.scale : 0.0F);
}
