#include "runtime/backends/onednn/experts/tune.h"

#include "models/attributes.h"
#include "models/cost/deal.h"
#include "models/op.h"
#include "runtime/backends/onednn/matmul/tune.h"

#include <inttypes.h>

/* Of so many experts, at least one, that there are no more multiply-adds (about 3 ms on one thread). */
enum { MAX_MULTIPLY_ADDS = 200000000 };
/* The weights that the step has used since, as far as caches hold any. */
static uint64_t cold_bytes(const struct pdnn_call_options *options, uint64_t weight_bytes) {
    const uint64_t most = 2 * options->reported_bytes;
    return weight_bytes < most ? weight_bytes : most;
}

/* What is measured: some experts, and rows of each. */
struct question {
    int64_t experts, rows;
};

/* Tensors are rows, or weights by expert. */
static void keep_some(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct question *q = user;
    (void)tensor;
    copy->dim[0] = copy->rank == 3 ? q->experts : q->experts * q->rows;
}

enum pdnn_status pdnn_onednn_experts_choose(const struct pdnn_onednn_compile *compile,
                                            const struct pdnn_node *node, enum pdnn_onednn_matmul_way *way,
                                            struct pdnn_err *err) {
    const struct pdnn_onednn *onednn = compile->onednn;
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_tensor *w = node->pass == PDNN_BACKWARD_WEIGHTS
                                      ? pdnn_node_out(graph, node, 0)
                                      : pdnn_node_in(graph, node, PDNN_EXPERTS_W);
    const struct pdnn_deal deal = pdnn_deal_of_experts(graph, node);
    struct pdnn_node even = *node; /* each row goes to one expert */
    struct question q = {deal.end, (deal.left + deal.end - 1) / deal.end};
    struct pdnn_tune_key key = {0};
    if (onednn->forced_matmul) {
        *way = *onednn->forced_matmul;
        return PDNN_OK;
    }
    while (q.experts > 1 && q.experts * q.rows * w->dim[1] * w->dim[2] > MAX_MULTIPLY_ADDS)
        q.experts = (q.experts + 1) / 2;
    even.attr[PDNN_EXPERTS_ACTIVE] = 1;
    even.attr[PDNN_EXPERTS_SKEW] = 0;
    const struct pdnn_onednn_way_question asked = {.compile = compile,
                                                   .node = &even,
                                                   .edit = keep_some,
                                                   .user = &q,
                                                   .cold_bytes =
                                                       cold_bytes(&onednn->options, pdnn_tensor_bytes(w))};
    pdnn_tune_key_add(&key,
                      "experts %s X=%" PRId64 " n=%" PRId64 " O=%" PRId64 " I=%" PRId64 " bytes=%" PRIu64
                      " threads=%" PRId64,
                      pdnn_pass_name(node->pass), q.experts, q.rows, w->dim[1], w->dim[2], asked.cold_bytes,
                      onednn->options.threads);
    return pdnn_onednn_way_choose(&asked, "experts", &key, way, err);
}
