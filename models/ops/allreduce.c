/* allreduce: g = (g of rank 0 + ... + g of rank p-1) / p. Input g, a gradient of weights; output g.
 * With phase=start, hands g over to be averaged while other ops run; with phase=wait, waits for that and
 * takes it back. FLOP: none of this process's ops; the additions are the communication's. Bytes: those of the
 * whole bucket, read and then written, counted where its last gradient is. The reference kernel is that of a
 * single rank. */
#include "models/attributes.h"
#include "models/op.h"

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    int64_t phase = node->attr[PDNN_ALLREDUCE_PHASE];
    uint64_t all = (uint64_t)node->coef[PDNN_ALLREDUCE_LAST];
    (void)graph;
    bytes[0] = phase == PDNN_ALLREDUCE_WAIT ? 0 : all;
    bytes[1] = phase == PDNN_ALLREDUCE_START ? 0 : all;
}

static void update(struct pdnn_reference *r) {
    (void)r;
}

const struct pdnn_op_def pdnn_op_allreduce = {
    .name = "allreduce",
    .category = "communication",
    .formula = "g = mean of g over the ranks",
    .attributes = {{"ranks", PDNN_ALLREDUCE_RANKS},
                   {"phase", PDNN_ALLREDUCE_PHASE},
                   {"mode", PDNN_ALLREDUCE_MODE, .coefficient = true},
                   {"bucket", PDNN_ALLREDUCE_AT, .coefficient = true},
                   {"last", PDNN_ALLREDUCE_LAST, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = pdnn_no_flop, .bytes = bytes, .reference = update}},
    .tolerance = 1e-6,
};
