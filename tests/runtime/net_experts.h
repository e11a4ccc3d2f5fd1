/* Networks of mixtures of experts, as in tests/runtime/net.h. */
#ifndef TESTS_RUNTIME_NET_EXPERTS_H
#define TESTS_RUNTIME_NET_EXPERTS_H

#include "tests/runtime/net.h"

static inline uint32_t deal_to(struct net *net, const struct shape *s, int64_t experts, int64_t skew) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_EXPERTS_ACTIVE] = 2, [PDNN_EXPERTS_SKEW] = skew};
    const struct pdnn_fill small = {.kind = PDNN_FILL_UNIFORM, .scale = 0.3};
    uint32_t w = pdnn_graph_weight(&net->graph, 3, (int64_t[]){experts, s->C + 2, s->C}, small);
    return apply(net, &pdnn_op_experts, new_matrix(net, s->R, s->C), w, attrs);
}

/* The same number of rows for each expert, two numbers, a number for each, and experts without rows. */
static inline uint32_t build_even_experts(struct net *net, const struct shape *s) {
    return deal_to(net, s, 2, 0);
}

static inline uint32_t build_experts(struct net *net, const struct shape *s) {
    return deal_to(net, s, 5, 0);
}

static inline uint32_t build_skewed_experts(struct net *net, const struct shape *s) {
    return deal_to(net, s, 6, 100);
}

static inline uint32_t build_idle_experts(struct net *net, const struct shape *s) {
    return apply(net, &pdnn_op_add, deal_to(net, s, 9, 350), deal_to(net, s, s->R + 3, 0), NULL);
}

/* Two rows of each token, added up with gates and without. */
static inline uint32_t build_scatter_add(struct net *net, const struct shape *s) {
    const int64_t rows = 2 * s->R,
                  attrs[PDNN_NODE_ATTRS] = {[PDNN_SCATTER_ADD_ROWS] = s->R, [PDNN_SCATTER_ADD_SKEW] = 50};
    uint32_t plan =
        new_data(net, PDNN_ROLE_INPUT, 1, &rows, (struct pdnn_fill){PDNN_FILL_POSITION, (double)s->R});
    uint32_t any =
        new_data(net, PDNN_ROLE_INPUT, 1, &rows, (struct pdnn_fill){PDNN_FILL_CLASS, (double)s->R});
    uint32_t gated = pdnn_graph_forward(
        &net->graph, &pdnn_op_scatter_add,
        (uint32_t[]){new_matrix(net, rows, s->C), plan, new_matrix(net, s->R, 4), PDNN_NONE}, attrs);
    uint32_t twice = pdnn_graph_forward(
        &net->graph, &pdnn_op_scatter_add,
        (uint32_t[]){new_matrix(net, rows, s->C), any, new_matrix(net, s->R, 4), PDNN_NONE}, attrs);
    uint32_t plain = apply(net, &pdnn_op_scatter_add, new_matrix(net, rows, s->C), any, attrs);
    return apply(net, &pdnn_op_add, apply(net, &pdnn_op_add, gated, twice, NULL), plain, NULL);
}

#endif
