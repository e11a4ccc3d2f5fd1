#include "models/cost/deal.h"

#include "models/attributes.h"
#include "models/op.h"

#include <inttypes.h>

__extension__ typedef __int128 wide;

enum { PERCENT = 100 };

enum pdnn_status pdnn_deal_check(const char *op, int64_t rows, int64_t active, int64_t experts, int64_t skew,
                                 struct pdnn_err *err) {
    if (active < 1 || active > experts)
        return pdnn_fail(err, PDNN_INVALID, "%s: active is %" PRId64 ", expected 1 to %" PRId64 " experts",
                         op, active, experts);
    if (rows % active != 0)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: %" PRId64 " rows are not tokens of %" PRId64 " active experts each", op, rows,
                         active);
    if (skew < 0 || (wide)(PERCENT + (wide)skew) * active > (wide)PERCENT * experts)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: skew is %" PRId64 ", expected 0 to %" PRId64 ": the busiest of %" PRId64
                         " experts has at most a row of each token",
                         op, skew, PERCENT * experts / active - PERCENT, experts);
    return PDNN_OK;
}

/* The line from 100 + skew down to 0 has its area, the mean times the experts, on twice their number / (100 +
 * skew) of them; those before its end have a share. */
int64_t pdnn_deal_reach(int64_t experts, int64_t skew) {
    int64_t reach = (2 * PERCENT * experts - 1) / (PERCENT + skew);
    return reach < experts ? reach : experts;
}

struct pdnn_deal pdnn_deal_begin(int64_t rows, int64_t active, int64_t experts, int64_t skew) {
    int64_t reach = pdnn_deal_reach(experts, skew);
    return (struct pdnn_deal){.tokens = rows / active,
                              .experts = experts,
                              .skew = skew,
                              .end = rows < reach ? rows : reach,
                              .expert = -1,
                              .left = rows};
}

struct pdnn_deal pdnn_deal_of_experts(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *w = node->pass == PDNN_BACKWARD_WEIGHTS
                                      ? pdnn_node_out(graph, node, PDNN_EXPERTS_WEIGHTS_DW)
                                      : pdnn_node_in(graph, node, PDNN_EXPERTS_W);
    return pdnn_deal_begin(pdnn_node_in(graph, node, 0)->dim[0], node->attr[PDNN_EXPERTS_ACTIVE], w->dim[0],
                           node->attr[PDNN_EXPERTS_SKEW]);
}

struct pdnn_deal pdnn_deal_of_scatter_add(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    bool is_forward = node->pass == PDNN_FORWARD;
    int plan = is_forward ? PDNN_SCATTER_ADD_PLAN : PDNN_SCATTER_ADD_BACK_PLAN;
    int gates = is_forward ? PDNN_SCATTER_ADD_GATES : PDNN_SCATTER_ADD_BACK_GATES;
    int64_t rows = pdnn_node_in(graph, node, plan)->dim[0];
    if (node->n_inputs <= gates)
        return pdnn_deal_begin(rows, 1, 1, 0);
    return pdnn_deal_begin(rows, rows / node->attr[PDNN_SCATTER_ADD_ROWS],
                           pdnn_node_in(graph, node, gates)->dim[1], node->attr[PDNN_SCATTER_ADD_SKEW]);
}

/* The share of the expert among itself and all later ones, rounded up: with m experts that have rows, X in
 * all and the mean 100, share e is 100 + skew - 2 e (m (100 + skew) - 100 X) / (m (m - 1)). */
static int64_t wanted(const struct pdnn_deal *deal) {
    int64_t m = deal->end, e = deal->expert, top = PERCENT + deal->skew, after = m - e;
    wide fall = 2 * (m * top - PERCENT * deal->experts), first = (wide)m * (m - 1) * top - e * fall;
    wide sum = after * (2 * first - (after - 1) * fall) / 2;
    return sum > 0 && first > 0 ? (int64_t)((deal->left * first + sum - 1) / sum) : deal->left;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* At least one row for each, at most one of each token, and what is left must fit in the others. */
bool pdnn_deal_next(struct pdnn_deal *deal) {
    int64_t after = deal->end - deal->expert - 2;
    if (after < 0)
        return false;
    deal->expert++;
    deal->first += deal->count;
    int64_t fewest = deal->left - after * deal->tokens, most = deal->left - after;
    deal->count = clamp(wanted(deal), fewest > 1 ? fewest : 1, most < deal->tokens ? most : deal->tokens);
    deal->left -= deal->count;
    return true;
}
