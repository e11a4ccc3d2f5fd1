/* cache_append: writes x over rows position .. position+n-1 of each sequence's cache:
 *   cache[b*m + position + t][c] = x[b*n + t][column + c].
 * B sequences of n new tokens, H columns; x (B*n, ld), cache (B*m, H) of m tokens. The cache is state, and
 * the updated cache is the output: the products of later tokens read the keys or values in it. Inference
 * only, no gradient. FLOP: none. Bytes: only the columns used. */
#include "base/memory.h"
#include "models/attributes.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CACHE_APPEND_X),
                             *cache = pdnn_node_in(graph, node, PDNN_CACHE_APPEND_CACHE);
    int64_t B = node->attr[PDNN_CACHE_APPEND_SEQUENCES], column = node->attr[PDNN_CACHE_APPEND_COLUMN];
    int64_t position = node->attr[PDNN_CACHE_APPEND_POSITION];
    bool fits = node->n_inputs == PDNN_CACHE_APPEND_INPUTS && B >= 1 && x->rank == 2 && cache->rank == 2 &&
                cache->role == PDNN_ROLE_STATE && x->dtype == cache->dtype && x->dim[0] % B == 0 &&
                cache->dim[0] % B == 0;
    if (!fits || column < 0 || column + cache->dim[1] > x->dim[1] || position < 0 ||
        position + x->dim[0] / B > cache->dim[0] / B)
        return pdnn_fail(err, PDNN_INVALID,
                         "cache_append: expected rows (B*n, ld) and a cache (B*m, H) that has room for them");
    outputs[PDNN_CACHE_APPEND_NEW_CACHE].rank = 2;
    memcpy(outputs[PDNN_CACHE_APPEND_NEW_CACHE].dim, cache->dim, sizeof cache->dim);
    return PDNN_OK;
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CACHE_APPEND_X),
                             *cache = pdnn_node_in(graph, node, PDNN_CACHE_APPEND_CACHE);
    bytes[PDNN_CACHE_APPEND_X] = (uint64_t)(x->dim[0] * cache->dim[1]) * pdnn_dtype_bytes(x->dtype);
    bytes[PDNN_CACHE_APPEND_CACHE] = 0;
    bytes[PDNN_CACHE_APPEND_INPUTS] = bytes[PDNN_CACHE_APPEND_X];
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_CACHE_APPEND_X);
    const struct pdnn_tensor *cache = pdnn_node_in(r->graph, r->node, PDNN_CACHE_APPEND_CACHE);
    const int64_t *attr = r->node->attr;
    int64_t B = attr[PDNN_CACHE_APPEND_SEQUENCES], n = x->dim[0] / B, m = cache->dim[0] / B,
            H = cache->dim[1];
    for (int64_t row = 0; row < B * n; row++) {
        int64_t to = row / n * m + attr[PDNN_CACHE_APPEND_POSITION] + row % n;
        const double *from =
            pdnn_ref_in(r, PDNN_CACHE_APPEND_X) + row * x->dim[1] + attr[PDNN_CACHE_APPEND_COLUMN];
        for (int64_t c = 0; c < H; c++)
            pdnn_ref_out(r, PDNN_CACHE_APPEND_NEW_CACHE)[to * H + c] = from[c];
    }
}

/* As PyTorch writes it: a copy of the cache with other rows where the tokens are. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *shape = pdnn_export_shape_in(onnx, PDNN_CACHE_APPEND_X),
                             *cache = pdnn_export_shape_in(onnx, PDNN_CACHE_APPEND_CACHE);
    const int64_t *attr = onnx->at->attr, B = attr[PDNN_CACHE_APPEND_SEQUENCES], H = cache->dim[1],
                  rows = shape->dim[0], n = rows / B, dim[] = {rows, 1};
    int64_t *row = pdnn_alloc((size_t)rows, sizeof *row);
    uint32_t x = pdnn_export_in(onnx, PDNN_CACHE_APPEND_X);
    if (H < shape->dim[1])
        x = pdnn_export_slice(onnx, x, 1, attr[PDNN_CACHE_APPEND_COLUMN], H);
    for (int64_t i = 0; i < rows; i++)
        row[i] = i / n * (cache->dim[0] / B) + attr[PDNN_CACHE_APPEND_POSITION] + i % n;
    return pdnn_export_op(onnx, "ScatterND", 3,
                          (uint32_t[]){pdnn_export_in(onnx, PDNN_CACHE_APPEND_CACHE),
                                       pdnn_export_take(onnx, 0, 2, dim, row), x});
}

const struct pdnn_op_def pdnn_op_cache_append = {
    .name = "cache_append",
    .category = "cache",
    .formula = "cache[position ..] = x",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"cache", PDNN_OPERAND_STATE, .shape = "sequences * context, width",
                  .fill = PDNN_FILL_UNIFORM, .scale = 1}},
    .attributes = {{"sequences", PDNN_CACHE_APPEND_SEQUENCES, .required = true},
                   {"column", PDNN_CACHE_APPEND_COLUMN},
                   {"position", PDNN_CACHE_APPEND_POSITION, .derived = true, .fallback = "context - 1"},
                   {"context", PDNN_SIZE, .required = true},
                   {"width", PDNN_SIZE, .required = true}},
    .outputs = {"new_cache"},
    .updates = {[PDNN_CACHE_APPEND_NEW_CACHE] = 1 + PDNN_CACHE_APPEND_CACHE},
    .infer = infer,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_no_flop, .reference = forward, .bytes = bytes}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
