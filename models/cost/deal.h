/* How the rows of a mixture of experts are dealt. Each of T tokens goes to `active` different experts, which
 * makes R = T * active rows, grouped by expert. Row r is token r mod T (fill `position`), and expert 0 has
 * the first rows, expert 1 the next; so no expert has a token twice. `skew` is by how many percent the
 * busiest expert has more rows than the mean; the others have fewer and fewer, on a line. From 100 on, the
 * line ends before the last experts, which have no rows. Integer arithmetic: every machine deals the same. */
#ifndef MODELS_COST_DEAL_H
#define MODELS_COST_DEAL_H

#include "models/graph.h"

struct pdnn_deal {
    int64_t tokens, experts, skew;
    int64_t end;                  /* experts from here on have no rows */
    int64_t expert, first, count; /* the current expert, its first row, and how many it has */
    int64_t left;                 /* rows of later experts */
};

/* PDNN_INVALID: rows are not whole tokens, active is above experts, or the busiest expert would get a token
 * twice. `op` is named in the message. */
enum pdnn_status pdnn_deal_check(const char *op, int64_t rows, int64_t active, int64_t experts, int64_t skew,
                                 struct pdnn_err *err);

/* Experts that have rows as soon as there are enough of them. Fewer rows go to one expert each. */
int64_t pdnn_deal_reach(int64_t experts, int64_t skew);

/* Before the first expert; the arguments have been checked. */
struct pdnn_deal pdnn_deal_begin(int64_t rows, int64_t active, int64_t experts, int64_t skew);

/* That of a node of op `experts`, in any pass. */
struct pdnn_deal pdnn_deal_of_experts(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* That of a node of op `scatter_add`, in either pass; without gates, one expert has all rows. */
struct pdnn_deal pdnn_deal_of_scatter_add(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Goes to the next expert; false after the last one that has rows. */
bool pdnn_deal_next(struct pdnn_deal *deal);

#endif
